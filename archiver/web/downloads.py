"""``/export/…``: snapshots as one WARC or WACZ file, sent as it is made."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from datetime import UTC, datetime

from aiohttp import hdrs, web

from archiver.model.capture import HashUrl
from archiver.model.listing import ListingQuery
from archiver.services.manifest import Selected
from archiver.web.api.questions import listing_query
from archiver.web.keys import RUNTIME

_TYPES = {"warc.gz": "application/warc", "wacz": "application/wacz+zip"}


async def export(request: web.Request) -> web.StreamResponse:
    """Send one entry, or what a list finds (``q``, ``tag``, ``host``, ``status``), or all."""
    form, key = request.match_info["form"], request.match_info.get("hash_url")
    asked = listing_query(request)
    query = ListingQuery(asked.q, asked.tag, asked.host, asked.status)
    wanted = Selected(query, HashUrl(key) if key else None)
    packages = request.app[RUNTIME].packages
    manifest = await packages.begin(wanted)
    name = f"{key or f'archive-{datetime.now(UTC):%Y%m%d}'}.{form}"
    if form == "wacz":
        pieces = packages.wacz(manifest, title=name)
    else:
        pieces = packages.warc(manifest, name=name)
    return await _send(request, pieces, name, _TYPES[form])


async def _send(
    request: web.Request, pieces: AsyncGenerator[bytes, None], name: str, content_type: str
) -> web.StreamResponse:
    response = web.StreamResponse(
        headers={
            hdrs.CONTENT_TYPE: content_type,
            hdrs.CONTENT_DISPOSITION: f'attachment; filename="{name}"',
            hdrs.CACHE_CONTROL: "private, no-store",
        }
    )
    async with aclosing(pieces):
        await response.prepare(request)
        if request.method != hdrs.METH_HEAD:
            async for piece in pieces:
                await response.write(piece)
    await response.write_eof()
    return response
