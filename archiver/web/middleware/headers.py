"""Response headers and compression."""

from aiohttp import hdrs, web
from aiohttp.typedefs import Handler

from archiver.http.headers import Coding
from archiver.web.app_keys import REFLECTS
from archiver.web.origin import replay_origin
from archiver.web.responses import SMALLEST, WHOLE, coding_for_ours, is_packable, packed, vary

CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:{there}; "
    "media-src 'self'{there}; font-src 'self'; manifest-src 'self'; connect-src 'self'; "
    "frame-src 'self'{there}; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
"""``there`` is the separate origin of archived pages, if any."""

_OURS = (
    ("X-Content-Type-Options", "nosniff"),
    # Not no-referrer: then browsers send "Origin: null" with forms of this site (Fetch §3.2).
    ("Referrer-Policy", "same-origin"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("X-Robots-Tag", "noindex, nofollow, noarchive"),
    ("Cache-Control", "private, no-cache"),
    ("Server", "archiver"),
)
STATED = (("Content-Security-Policy", CONTENT_SECURITY_POLICY.format(there="")), *_OURS)
"""Headers of responses that are made outside the application."""


async def add_headers(request: web.Request, response: web.StreamResponse) -> None:
    """Add headers to a response before it is sent."""
    there = replay_origin(request)
    policy = CONTENT_SECURITY_POLICY.format(there=f" {there}/web/" if there else "")
    response.headers.setdefault("Content-Security-Policy", policy)
    for name, value in _OURS:
        if name == "Server":
            response.headers[name] = value  # aiohttp has set its own version there before
        else:
            response.headers.setdefault(name, value)


_PARTIAL = 206


@web.middleware
async def compress(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Compress the body of a response."""
    response = await handler(request)
    may_be = REFLECTS not in request and not response.prepared
    if may_be and isinstance(response, web.Response):
        await _compress(request, response)
    return response


async def _compress(request: web.Request, response: web.Response) -> None:
    body = response.body
    if not isinstance(body, bytes) or len(body) < SMALLEST or not _may_be_changed(response):
        return
    vary(response)
    coding = coding_for_ours(request, WHOLE)
    if coding is not Coding.IDENTITY:
        response.body = await packed(body, coding)
        response.headers[hdrs.CONTENT_ENCODING] = coding


def _may_be_changed(response: web.Response) -> bool:
    """Return whether the body may be compressed: an entity tag belongs to its exact bytes."""
    headers = response.headers
    is_as_made = hdrs.ETAG not in headers and hdrs.CONTENT_ENCODING not in headers
    is_whole = response.status != _PARTIAL
    return is_as_made and is_whole and is_packable(headers.get(hdrs.CONTENT_TYPE, ""))
