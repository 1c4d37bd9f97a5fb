"""Compressed, streaming and refusing responses.

Whoever sees how long an answer is may learn what stands in it beside words of their own choosing
(BREACH). So an answer that holds anything of the request is compressed only where no other site
can have sent that request; docs/decisions/0040 says why that, and why replay needs it not.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

from aiohttp import hdrs, web

from archiver.http.content_coding import Packer, new_packer, pack
from archiver.http.headers import Coding, choose_coding
from archiver.http.media_types import parse_media_type
from archiver.model.message import Message


def refusing(answer: web.HTTPException, message: Message) -> web.HTTPException:
    """The same answer, saying that; programs read it in English."""
    answer.text = str(message)
    answer.__dict__["message"] = message
    return answer


def message_of(answer: web.HTTPException) -> Message:
    """What an answer says."""
    message = answer.__dict__.get("message")
    text = answer.text or ""
    return message if isinstance(message, Message) else Message(text)


SMALLEST = 1 << 10
"""Bytes below which a body is not worth it: it fills one packet either way."""
INLINE = 32 << 10
"""Most bytes that are packed on the event loop: half a millisecond."""

WHOLE = (Coding.BROTLI, Coding.GZIP)
"""For bodies that are at hand: a tenth smaller with the first."""
STREAMED = (Coding.GZIP, Coding.BROTLI)
"""For what may be long: a fifth of the time, and of the memory, with the first."""

_OURS = frozenset({None, "none", "same-origin"})
"""``Sec-Fetch-Site`` of requests that no other site has sent; programs send none."""
_PACKED_TEXT = frozenset({"text/event-stream"})
_TEXT = frozenset({"application/link-format", "image/svg+xml"})


def is_packable(content_type: str) -> bool:
    """Tell whether content of a type is text that becomes smaller, and may wait to be whole."""
    media_type = parse_media_type(content_type)
    if media_type is None or media_type.essence in _PACKED_TEXT:
        return False
    structured = media_type.is_xml or media_type.is_json or media_type.is_javascript
    return structured or media_type.essence.startswith("text/") or media_type.essence in _TEXT


def asked_coding(request: web.Request, offered: tuple[Coding, ...]) -> Coding:
    """The coding that a client wants most."""
    fields = request.headers.getall(hdrs.ACCEPT_ENCODING, [])
    return choose_coding(",".join(fields), offered)


def coding_for_ours(request: web.Request, offered: tuple[Coding, ...]) -> Coding:
    """The same for an answer that may hold something of the request beside what is private."""
    if request.headers.get("Sec-Fetch-Site") not in _OURS:
        return Coding.IDENTITY
    return asked_coding(request, offered)


def vary(response: web.StreamResponse, field: str = hdrs.ACCEPT_ENCODING) -> None:
    """Say that an answer depends on a field of the request (RFC 9110 §12.5.5)."""
    given = response.headers.get(hdrs.VARY, "")
    names = [name.strip() for name in given.split(",") if name.strip()]
    if field.lower() not in (name.lower() for name in names):
        response.headers[hdrs.VARY] = ", ".join([*names, field])


async def packed(body: bytes, coding: Coding) -> bytes:
    """A whole body in a coding, packed in a thread if it is large."""
    if len(body) <= INLINE:
        return pack(body, coding)
    return await asyncio.to_thread(pack, body, coding)


async def packed_piece(packer: Packer | None, piece: bytes) -> bytes:
    """A piece of a stream, likewise."""
    if packer is None:
        return piece
    if len(piece) <= INLINE:
        return packer.pack(piece)
    return await asyncio.to_thread(packer.pack, piece)


async def stream(
    request: web.Request,
    pieces: AsyncGenerator[bytes, None],
    content_type: str,
    *,
    may_be_packed: bool = True,
) -> web.StreamResponse:
    """Send text as it comes, compressed for whoever takes that."""
    headers = {hdrs.CONTENT_TYPE: f"{content_type}; charset=utf-8"}
    response = web.StreamResponse(headers=headers | {hdrs.CACHE_CONTROL: "private, no-cache"})
    coding = coding_for_ours(request, STREAMED) if may_be_packed else Coding.IDENTITY
    if may_be_packed:
        vary(response)
    return await send(request, response, pieces, coding)


async def send(
    request: web.Request,
    response: web.StreamResponse,
    pieces: AsyncGenerator[bytes, None],
    coding: Coding = Coding.IDENTITY,
) -> web.StreamResponse:
    """Send pieces as they come; the first is made before the head, so that errors are told.

    Each can be read as soon as it came, also in a coding: what is slow to come does not wait for
    what comes behind it. Where the first piece is small, most likely all is, and goes out as it is.

    Args:
        request: that is answered.
        response: not prepared yet; it has no ``Content-Length`` where there is a coding.
        pieces: of the body; they are closed.
        coding: that the client takes.
    """
    async with aclosing(pieces):
        first = await anext(pieces, b"")
        packer = new_packer(coding) if len(first) >= SMALLEST else None
        if packer is not None:
            response.headers[hdrs.CONTENT_ENCODING] = coding
        await response.prepare(request)
        if request.method != hdrs.METH_HEAD:
            if first:
                await response.write(await packed_piece(packer, first))
            async for piece in pieces:
                await response.write(await packed_piece(packer, piece))
            if packer is not None:
                await response.write(packer.finish())
    await response.write_eof()
    return response
