"""Chromium: started in a sandbox and driven over the DevTools protocol."""
