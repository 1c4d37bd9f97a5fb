"""Page content: links, metadata, articles and sanitising."""
