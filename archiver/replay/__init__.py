"""Replay of captures: URL rewriting, response headers, Memento and CDX."""
