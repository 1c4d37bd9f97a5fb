"""Refuses unsafe requests that no page of ours sent, and forms without our token."""

import asyncio

from aiohttp import web
from aiohttp.typedefs import Handler

from archiver.model.message import marked
from archiver.web import csrf
from archiver.web.keys import LIMITS

FORM_BYTES = 4 << 20
"""Most bytes a form or a JSON body may have: 10,000 URLs of 300 characters, percent-encoded."""

STREAMED_ROUTES = frozenset({"upload", "hand_in"})
"""Pages that take a file: their token is the first part of the body, read by ``uploads``."""

FILED = frozenset({"change_feeds"})
"""Routes whose form may hold a small file; larger ones stream."""
_FORM_WITH_FILE = "multipart/form-data"
_FORM = "application/x-www-form-urlencoded"
_FOREIGN = marked("This request was sent by another site, so it was not carried out.")
_STALE = marked(
    "This form is no longer valid: perhaps you signed in or out since it was opened. "
    "Go back, reload the page, and send it again."
)


@web.middleware
async def guard_forms(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Check origin and token before a handler sees the request.

    A JSON body needs no token: another site can't send ``application/json`` without asking first
    (a CORS preflight, which we never grant), and the check of the origin is made all the same.
    """
    unsafe = request.method not in csrf.SAFE_METHODS
    if unsafe and request.match_info.http_exception is None:
        if not csrf.comes_from_us(request):
            raise web.HTTPForbidden(text=_FOREIGN)
        route = request.match_info.route.name or ""
        if not request.path.startswith("/api/") and route not in STREAMED_ROUTES:
            await _check_form(request)
    return await handler(request)


async def _check_form(request: web.Request) -> None:
    is_file = request.content_type == _FORM_WITH_FILE and request.match_info.route.name in FILED
    is_form = request.content_type == _FORM or is_file
    if not is_form or (request.charset or "utf-8").lower() != "utf-8":
        raise web.HTTPUnsupportedMediaType(text=f"Send this as {_FORM} in UTF-8.")
    try:
        async with asyncio.timeout(request.app[LIMITS].body_seconds):
            form = await request.post()
    except ValueError:
        raise web.HTTPBadRequest(text=marked("The form is not UTF-8.")) from None
    token = form.get(csrf.FIELD)
    if not isinstance(token, str) or not csrf.is_valid(request, token):
        raise web.HTTPForbidden(text=_STALE)
