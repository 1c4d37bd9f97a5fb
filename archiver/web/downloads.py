"""``/export/…``: snapshots as one WARC or WACZ file, articles as a book or one page."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from datetime import UTC, datetime

from aiohttp import hdrs, web

from archiver.model.capture import HashUrl
from archiver.model.listing import ListingQuery
from archiver.services.manifest import Selected
from archiver.web.api.questions import listing_query
from archiver.web.keys import RUNTIME

_TYPES = {
    "warc.gz": "application/warc",
    "wacz": "application/wacz+zip",
    "epub": "application/epub+zip",
    "html": "text/html; charset=utf-8",
}


async def export(request: web.Request) -> web.StreamResponse:
    """Send one entry, or what a list finds (``q``, ``tag``, ``host``, ``status``), or all.

    The article of one entry is that of the newest snapshot, or of the one nearest to ``at``.
    """
    form, key = request.match_info["form"], request.match_info.get("hash_url")
    asked = listing_query(request)
    query = ListingQuery(asked.q, asked.tag, asked.host, asked.status)
    wanted = Selected(query, HashUrl(key) if key else None)
    name = f"{key or f'archive-{datetime.now(UTC):%Y%m%d}'}.{form}"
    pieces = await _pieces(request, form, wanted, name)
    return await _send(request, pieces, name, _TYPES[form])


async def _pieces(
    request: web.Request, form: str, wanted: Selected, name: str
) -> AsyncGenerator[bytes, None]:
    packages, books = request.app[RUNTIME].packages, request.app[RUNTIME].books
    if form in ("epub", "html"):
        articles = await books.begin(wanted)
        title, at = request.query.get("q") or "From the archive", request.query.get("at") or None
        write = books.epub if form == "epub" else books.html
        return write(articles, title=title, at=at if wanted.hash_url else None)
    manifest = await packages.begin(wanted)
    if form == "wacz":
        return packages.wacz(manifest, title=name)
    return packages.warc(manifest, name=name)


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
