"""Sends answers as they are made."""

from collections.abc import AsyncGenerator
from contextlib import aclosing

from aiohttp import hdrs, web

from archiver.web.packing import (
    SMALLEST,
    STREAMED,
    coding_for_ours,
    packed_piece,
    vary,
)
from archiver.wire.accept_encoding import Coding
from archiver.wire.compress import new_packer


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
