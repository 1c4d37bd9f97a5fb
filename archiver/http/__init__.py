"""HTTP: URLs, message heads, encodings, the SSRF guard and the client."""
