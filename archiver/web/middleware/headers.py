"""Headers on everything the service itself serves; replay brings its own of the same names."""

from aiohttp import web

CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; "
    "connect-src 'self'; frame-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'"
)

_OURS = (
    ("Content-Security-Policy", CONTENT_SECURITY_POLICY),
    ("X-Content-Type-Options", "nosniff"),
    # Not no-referrer: with that, browsers send "Origin: null" with our own forms (Fetch §3.2).
    ("Referrer-Policy", "same-origin"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("X-Robots-Tag", "noindex, nofollow, noarchive"),
    ("Cache-Control", "private, no-cache"),
    ("Server", "archiver"),
)


async def add_headers(_request: web.Request, response: web.StreamResponse) -> None:
    """Complete an answer's headers as it is about to be sent."""
    for name, value in _OURS:
        if name == "Server":
            response.headers[name] = value  # aiohttp has put its own version there by now
        else:
            response.headers.setdefault(name, value)
