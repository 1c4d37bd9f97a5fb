"""Sends answers as they are made."""

from collections.abc import AsyncGenerator
from contextlib import aclosing

from aiohttp import hdrs, web


async def stream(
    request: web.Request,
    pieces: AsyncGenerator[bytes, None],
    content_type: str,
    *,
    packed: bool = False,
) -> web.StreamResponse:
    """Send pieces as they come; the first is made before the head, so that errors are told.

    With ``packed`` they are compressed for whoever accepts that.
    """
    headers = {hdrs.CONTENT_TYPE: f"{content_type}; charset=utf-8"}
    response = web.StreamResponse(headers=headers | {hdrs.CACHE_CONTROL: "private, no-cache"})
    if packed:
        response.enable_compression()
    async with aclosing(pieces):
        first = await anext(pieces, b"")
        await response.prepare(request)
        if request.method != hdrs.METH_HEAD:
            await response.write(first)
            async for piece in pieces:
                await response.write(piece)
    await response.write_eof()
    return response
