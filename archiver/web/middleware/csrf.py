"""Refuses unsafe requests of other sites, and bodies of forms that are too slow or malformed."""

import asyncio

from aiohttp import web
from aiohttp.typedefs import Handler

from archiver.model.message import marked
from archiver.web import origin
from archiver.web.keys import LIMITS

FORM_BYTES = 4 << 20
"""Maximum size of a form or JSON body: 10,000 URLs of 300 characters, percent-encoded."""

_FORM = "application/x-www-form-urlencoded"
_FORM_WITH_FILE = "multipart/form-data"
_UPLOADS = frozenset({"upload", "hand_in"})
"""Routes whose handler streams the body to disk."""

_SMALL_FILES = frozenset({"change_feeds"})
"""Routes whose form may hold a file small enough to be read into memory."""

_CROSS_SITE = marked(
    "Another site sent this request, so nothing was changed. If you sent it yourself, open the "
    "page in this archive and try again from there. Behind a reverse proxy, check that it passes "
    "the Host header on unchanged."
)


@web.middleware
async def guard_forms(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Check the origin of an unsafe request and read its form before the handler runs."""
    if request.method not in origin.SAFE_METHODS and request.match_info.http_exception is None:
        if not origin.is_same_origin(request):
            raise web.HTTPForbidden(text=_CROSS_SITE)
        if not request.path.startswith("/api/") and request.match_info.route.name not in _UPLOADS:
            await _read_form(request)
    return await handler(request)


async def _read_form(request: web.Request) -> None:
    """Read a form within the time and size limits; the handler's `request.post()` returns it.

    Raises:
        web.HTTPUnsupportedMediaType: it is not a form as our pages send it.
        web.HTTPBadRequest: it is not UTF-8.
        web.HTTPRequestEntityTooLarge: it is larger than `FORM_BYTES`.
        TimeoutError: it took too long to arrive.
    """
    if not request.can_read_body:
        return
    has_file = request.match_info.route.name in _SMALL_FILES
    is_form = request.content_type in ({_FORM, _FORM_WITH_FILE} if has_file else {_FORM})
    if not is_form or (request.charset or "utf-8").lower() != "utf-8":
        raise web.HTTPUnsupportedMediaType(text=f"Send this as {_FORM} in UTF-8.")
    try:
        async with asyncio.timeout(request.app[LIMITS].body_seconds):
            await request.post()
    except ValueError:
        raise web.HTTPBadRequest(text=marked("The form is not UTF-8.")) from None
