"""What crosses the wire: HTTP/1.1 heads, transfer and content codings, media types. Pure."""
