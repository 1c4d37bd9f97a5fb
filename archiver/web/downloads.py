"""``/export/…``: entries taken away, in every form of ``export_kinds``."""

from collections.abc import AsyncGenerator
from contextlib import aclosing

from aiohttp import hdrs, web

from archiver.model.capture import HashUrl
from archiver.model.listing import ListingQuery
from archiver.services.export_kinds import BY_SUFFIX
from archiver.services.export_kinds import schema as export_schema
from archiver.services.manifest import Selected
from archiver.web.api.questions import listing_query
from archiver.web.keys import RUNTIME
from archiver.wire.attachment import attachment


async def export(request: web.Request) -> web.StreamResponse:
    """Send one entry, or what a list finds (``q``, ``tag``, ``host``, ``status``), or all.

    The article of one entry is that of the newest snapshot, or of the one nearest to ``at``.
    """
    kind, key = BY_SUFFIX[request.match_info["form"]], request.match_info.get("hash_url")
    asked = listing_query(request)
    query = ListingQuery(asked.q, asked.tag, asked.host, asked.status)
    wanted = Selected(query, HashUrl(key) if key else None)
    exporting = request.app[RUNTIME].exporting
    name = await exporting.name_of(kind, wanted)
    pieces = await exporting.begin(kind, wanted, name=name, at=request.query.get("at") or None)
    return await _send(request, pieces, name, kind.media_type)


async def schema(_: web.Request) -> web.StreamResponse:
    """Send the JSON Schema of what is exported as JSON."""
    return web.Response(text=export_schema(), content_type="application/schema+json")


async def _send(
    request: web.Request, pieces: AsyncGenerator[bytes, None], name: str, content_type: str
) -> web.StreamResponse:
    response = web.StreamResponse(
        headers={
            hdrs.CONTENT_TYPE: content_type,
            hdrs.CONTENT_DISPOSITION: attachment(name),
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
