"""Middleware around every handler."""
