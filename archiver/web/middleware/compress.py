"""Compresses whole answers for whoever takes that; what streams does so as it goes."""

from aiohttp import hdrs, web
from aiohttp.typedefs import Handler

from archiver.web.keys import REFLECTS
from archiver.web.packing import (
    SMALLEST,
    WHOLE,
    coding_for_ours,
    is_packable,
    packed,
    vary,
)
from archiver.wire.accept_encoding import Coding

_PARTIAL = 206


@web.middleware
async def compress(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Replace the body of an answer by a smaller one that says the same."""
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
    """An entity tag names the bytes that it came with; whoever set one has seen to the rest."""
    headers = response.headers
    is_as_made = hdrs.ETAG not in headers and hdrs.CONTENT_ENCODING not in headers
    is_whole = response.status != _PARTIAL
    return is_as_made and is_whole and is_packable(headers.get(hdrs.CONTENT_TYPE, ""))
