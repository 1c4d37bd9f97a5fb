"""Pages: one module for each group of routes."""
