"""Compressed, streaming and error responses.

An attacker who can see a response's length and add text to it can guess its secrets (BREACH). So a
response that contains both request data and secrets is compressed only if no other site can have
sent the request.
"""

import re
from collections.abc import AsyncGenerator
from contextlib import aclosing

from aiohttp import hdrs, web

from archiver.http.media_types import parse_media_type
from archiver.model.message import Message

_MESSAGE = web.ResponseKey("message", Message)
"""Key of the message of an HTTP error."""


def refusing(error: web.HTTPException, message: Message) -> web.HTTPException:
    """Set the message of an HTTP error and return the error; API clients get it in English."""
    error.text = str(message)
    error[_MESSAGE] = message
    return error


def message_of(error: web.HTTPException) -> Message:
    """Return the message of an HTTP error."""
    text = error.text or ""
    return error.get(_MESSAGE) or Message(text)


SMALLEST = 1 << 10
"""Minimum size for compression: a smaller body fits in one packet either way."""

_OURS = frozenset({None, "none", "same-origin"})
"""``Sec-Fetch-Site`` of requests that no other site has sent; None is for clients without it."""
_NEVER_COMPRESSED = frozenset({"text/event-stream"})
_TEXT = frozenset({"application/link-format", "image/svg+xml"})


def is_packable(content_type: str) -> bool:
    """Return whether a content type is compressible text; event streams are never compressed."""
    media_type = parse_media_type(content_type)
    if media_type is None or media_type.essence in _NEVER_COMPRESSED:
        return False
    structured = media_type.is_xml or media_type.is_json or media_type.is_javascript
    return structured or media_type.essence.startswith("text/") or media_type.essence in _TEXT


_REFUSES_GZIP = re.compile(r"gzip\s*;\s*q=0(?:\.0*)?\s*(?:,|$)")
"""A coding with the weight 0 is refused (RFC 9110 §12.4.2)."""


def takes_gzip(request: web.Request) -> bool:
    """Return whether the client accepts gzip."""
    accepted = request.headers.get(hdrs.ACCEPT_ENCODING, "").lower()
    return "gzip" in accepted and not _REFUSES_GZIP.search(accepted)


def takes_own_gzip(request: web.Request) -> bool:
    """Return whether a response with both secrets and request data may be compressed."""
    return request.headers.get("Sec-Fetch-Site") in _OURS and takes_gzip(request)


def vary(response: web.StreamResponse, field: str = hdrs.ACCEPT_ENCODING) -> None:
    """Add a request header to ``Vary`` (RFC 9110 §12.5.5)."""
    fields = response.headers.get(hdrs.VARY, "")
    names = [name.strip() for name in fields.split(",") if name.strip()]
    if field.lower() not in (name.lower() for name in names):
        response.headers[hdrs.VARY] = ", ".join([*names, field])


async def stream(
    request: web.Request,
    pieces: AsyncGenerator[bytes, None],
    content_type: str,
    *,
    may_be_packed: bool = True,
) -> web.StreamResponse:
    """Stream text, compressed if the client accepts it."""
    headers = {hdrs.CONTENT_TYPE: f"{content_type}; charset=utf-8"}
    response = web.StreamResponse(headers=headers | {hdrs.CACHE_CONTROL: "private, no-cache"})
    if may_be_packed:
        vary(response)
    is_packed = may_be_packed and takes_own_gzip(request)
    return await send_pieces(request, response, pieces, is_packed=is_packed)


async def send_pieces(
    request: web.Request,
    response: web.StreamResponse,
    pieces: AsyncGenerator[bytes, None],
    *,
    is_packed: bool = False,
) -> web.StreamResponse:
    """Send pieces as they arrive.

    The first piece is read before the head is sent, so that an error in it becomes an error page.
    If the first piece is small, the whole response probably is too, so it is not compressed.

    Args:
        request: the request.
        response: not yet prepared.
        pieces: pieces of the body; the generator is closed at the end.
        is_packed: whether to compress the body.
    """
    async with aclosing(pieces):
        first = await anext(pieces, b"")
        if is_packed and len(first) >= SMALLEST:
            response.enable_compression(web.ContentCoding.gzip)
        await response.prepare(request)
        if request.method != hdrs.METH_HEAD:
            if first:
                await response.write(first)
            async for piece in pieces:
                await response.write(piece)
    await response.write_eof()
    return response
