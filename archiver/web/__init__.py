"""Web interface: routes, pages, API and middleware."""
