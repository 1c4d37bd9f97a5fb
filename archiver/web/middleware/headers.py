"""Headers on everything the service itself serves; replay brings its own of the same names."""

from aiohttp import web

from archiver.web.origin import replay_origin

CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:{there}; "
    "media-src 'self'{there}; font-src 'self'; manifest-src 'self'; connect-src 'self'; "
    "frame-src 'self'{there}; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
"""``there`` is the second origin of archived pages, where there is one."""

_OURS = (
    ("X-Content-Type-Options", "nosniff"),
    # Not no-referrer: with that, browsers send "Origin: null" with our own forms (Fetch §3.2).
    ("Referrer-Policy", "same-origin"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("X-Robots-Tag", "noindex, nofollow, noarchive"),
    ("Cache-Control", "private, no-cache"),
    ("Server", "archiver"),
)
STATED = (("Content-Security-Policy", CONTENT_SECURITY_POLICY.format(there="")), *_OURS)
"""The same for an answer that no application gives."""


async def add_headers(request: web.Request, response: web.StreamResponse) -> None:
    """Complete an answer's headers as it is about to be sent."""
    there = replay_origin(request)
    policy = CONTENT_SECURITY_POLICY.format(there=f" {there}/web/" if there else "")
    response.headers.setdefault("Content-Security-Policy", policy)
    for name, value in _OURS:
        if name == "Server":
            response.headers[name] = value  # aiohttp has put its own version there by now
        else:
            response.headers.setdefault(name, value)
