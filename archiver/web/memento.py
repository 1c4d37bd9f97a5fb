"""TimeGate and TimeMaps (RFC 7089), and the CDX server API: what other tools ask an archive."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from datetime import UTC, datetime

from aiohttp import hdrs, web

from archiver.cdx.query import parse_cdx_query
from archiver.cdx.rows import media_type
from archiver.errors import NotInArchive
from archiver.memento.links import memento, original, timegate, timemap, write_links
from archiver.memento.timemap import (
    LINK_FORMAT,
    Addresses,
    Memento,
    json_timemap,
    link_timemap,
)
from archiver.memento.timestamps import parse_accept_datetime, to_datetime, to_timestamp
from archiver.model.capture import Capture
from archiver.rewrite.address import Modifier, ReplayAddress, parse_archived_url, replay_path
from archiver.web import auth
from archiver.web.keys import ORIGIN, RUNTIME
from archiver.web.pages.errors import not_in_archive

TIMEGATE = "/timegate/"
LINK_TIMEMAP = "/timemap/link/"
JSON_TIMEMAP = "/timemap/json/"
_PIECE = 32 << 10


async def time_gate(request: web.Request) -> web.StreamResponse:
    """Lead to the memento nearest to ``Accept-Datetime`` (RFC 7089 §4.1.1), or to the latest."""
    url = parse_archived_url(request.raw_path.removeprefix(TIMEGATE))
    asked = request.headers.get("Accept-Datetime")
    moment = parse_accept_datetime(asked) if asked else datetime.now(UTC)
    service = request.app[RUNTIME].replay
    try:
        found = await service.resolve(ReplayAddress(to_timestamp(moment), Modifier.NONE, url))
    except NotInArchive:
        response = not_in_archive(request, url)
        response.headers[hdrs.VARY] = "Accept-Datetime"
        return response
    around = await request.app[RUNTIME].cdx.around(found)
    links = [original(url), timegate(_uri(request, TIMEGATE + url))]
    links.append(timemap(_uri(request, LINK_TIMEMAP + url)))
    links += [
        memento(_memento_uri(request, capture), to_datetime(capture.timestamp), *names)
        for capture, names in around
    ]
    return web.Response(
        status=302,
        headers={
            hdrs.LOCATION: _memento_uri(request, found),
            hdrs.VARY: "Accept-Datetime",
            hdrs.LINK: write_links(links),
            hdrs.CACHE_CONTROL: "private, no-cache",
        },
    )


async def link_time_map(request: web.Request) -> web.StreamResponse:
    """Every memento of a URL, in link format (RFC 7089 §5)."""
    url = parse_archived_url(request.raw_path.removeprefix(LINK_TIMEMAP))
    pieces = link_timemap(_addresses(request, url), _mementos(request, url))
    return await _text(request, url, pieces, LINK_FORMAT)


async def json_time_map(request: web.Request) -> web.StreamResponse:
    """Every memento of a URL, as JSON."""
    url = parse_archived_url(request.raw_path.removeprefix(JSON_TIMEMAP))
    pieces = json_timemap(_addresses(request, url), _mementos(request, url))
    return await _text(request, url, pieces, "application/json")


async def cdx(request: web.Request) -> web.StreamResponse:
    """Answer a question about captures as CDX servers do."""
    given = {name: request.query.getall(name) for name in request.query}
    query = parse_cdx_query(given)
    return await _stream(request, request.app[RUNTIME].cdx.answer(query), media_type(query.output))


def _addresses(request: web.Request, url: str) -> Addresses:
    paths = (TIMEGATE, LINK_TIMEMAP, JSON_TIMEMAP)
    return Addresses(url, *(_uri(request, path + url) for path in paths))


async def _mementos(request: web.Request, url: str) -> AsyncGenerator[Memento, None]:
    async with aclosing(request.app[RUNTIME].cdx.mementos(url)) as found:
        async for capture in found:
            yield Memento(_memento_uri(request, capture), to_datetime(capture.timestamp))


def _memento_uri(request: web.Request, capture: Capture) -> str:
    prefix = auth.replay_prefix(request)
    path = replay_path(capture.timestamp, Modifier.NONE, capture.url, prefix=prefix)
    return _uri(request, path)


def _uri(request: web.Request, path: str) -> str:
    """Whole, since what reads a TimeMap may have taken it out of a file."""
    origin = request[ORIGIN]
    if auth.is_https(request):
        origin = f"https://{origin.removeprefix('http://')}"
    return origin + path


async def _text(
    request: web.Request, url: str, pieces: AsyncGenerator[str, None], content_type: str
) -> web.StreamResponse:
    """Stream text; 404 where the URL was never captured, which the first memento tells."""
    try:
        return await _stream(request, _gathered(pieces), content_type)
    except NotInArchive:
        return not_in_archive(request, url)


async def _gathered(pieces: AsyncGenerator[str, None]) -> AsyncGenerator[bytes, None]:
    """Small pieces put together: a packet for each memento would be slow."""
    held: list[str] = []
    size = 0
    async with aclosing(pieces):
        async for piece in pieces:
            held.append(piece)
            size += len(piece)
            if size >= _PIECE:
                yield "".join(held).encode("utf-8", "replace")
                held, size = [], 0
    yield "".join(held).encode("utf-8", "replace")


async def _stream(
    request: web.Request, pieces: AsyncGenerator[bytes, None], content_type: str
) -> web.StreamResponse:
    """Send pieces as they come; the first is made before the head, so that errors are told."""
    headers = {hdrs.CONTENT_TYPE: f"{content_type}; charset=utf-8"}
    response = web.StreamResponse(headers=headers | {hdrs.CACHE_CONTROL: "private, no-cache"})
    async with aclosing(pieces):
        first = await anext(pieces, b"")
        await response.prepare(request)
        if request.method != hdrs.METH_HEAD:
            await response.write(first)
            async for piece in pieces:
                await response.write(piece)
    await response.write_eof()
    return response
