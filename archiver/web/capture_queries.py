"""Captures of a URL: CDX server, availability API, TimeGates and TimeMaps (RFC 7089)."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from datetime import UTC, datetime

from aiohttp import hdrs, web

from archiver.errors import InputError, NotInArchive
from archiver.http.timestamps import SHORTEST, parse_accept_datetime, to_datetime, to_timestamp
from archiver.model.capture import Capture
from archiver.replay.addresses import Modifier, ReplayAddress, parse_archived_url, replay_path
from archiver.replay.cdx_query import parse_cdx_query
from archiver.replay.cdx_rows import media_type
from archiver.replay.memento import (
    LINK_FORMAT,
    Addresses,
    Memento,
    json_timemap,
    link_timemap,
    memento,
    original,
    timegate,
    timemap,
    write_links,
)
from archiver.web.app_keys import RUNTIME
from archiver.web.origin import base_path, public_origin
from archiver.web.pages.errors import not_in_archive
from archiver.web.responses import stream

TIMEGATE = "/timegate/"
LINK_TIMEMAP = "/timemap/link/"
JSON_TIMEMAP = "/timemap/json/"
_PIECE = 32 << 10


async def time_gate(request: web.Request) -> web.StreamResponse:
    """Redirect to the memento nearest to ``Accept-Datetime`` (RFC 7089 §4.1.1), or the latest."""
    url = parse_archived_url(request.raw_path.removeprefix(TIMEGATE))
    header = request.headers.get("Accept-Datetime")
    moment = parse_accept_datetime(header) if header else datetime.now(UTC)
    service = request.app[RUNTIME].replay
    try:
        nearest = await service.resolve(ReplayAddress(to_timestamp(moment), Modifier.NONE, url))
    except NotInArchive:
        response = await not_in_archive(request, url)
        response.headers[hdrs.VARY] = "Accept-Datetime"
        return response
    around = await request.app[RUNTIME].mementos.around(nearest)
    links = [original(url), timegate(whole_uri(request, TIMEGATE + url))]
    links.append(timemap(whole_uri(request, LINK_TIMEMAP + url)))
    links += [
        memento(memento_uri(request, capture), to_datetime(capture.timestamp), *names)
        for capture, names in around
    ]
    return web.Response(
        status=302,
        headers={
            hdrs.LOCATION: memento_uri(request, nearest),
            hdrs.VARY: "Accept-Datetime",
            hdrs.LINK: write_links(links),
            hdrs.CACHE_CONTROL: "private, no-cache",
        },
    )


async def link_time_map(request: web.Request) -> web.StreamResponse:
    """List all mementos of a URL in link format (RFC 7089 §5)."""
    url = parse_archived_url(request.raw_path.removeprefix(LINK_TIMEMAP))
    pieces = link_timemap(_addresses(request, url), _mementos(request, url))
    return await _text(request, url, pieces, LINK_FORMAT)


async def json_time_map(request: web.Request) -> web.StreamResponse:
    """List all mementos of a URL as JSON."""
    url = parse_archived_url(request.raw_path.removeprefix(JSON_TIMEMAP))
    pieces = json_timemap(_addresses(request, url), _mementos(request, url))
    return await _text(request, url, pieces, "application/json")


def _addresses(request: web.Request, url: str) -> Addresses:
    paths = (TIMEGATE, LINK_TIMEMAP, JSON_TIMEMAP)
    return Addresses(url, *(whole_uri(request, path + url) for path in paths))


async def _mementos(request: web.Request, url: str) -> AsyncGenerator[Memento, None]:
    async with aclosing(request.app[RUNTIME].mementos.of(url)) as mementos:
        async for capture in mementos:
            yield Memento(memento_uri(request, capture), to_datetime(capture.timestamp))


def memento_uri(request: web.Request, capture: Capture) -> str:
    """Return the absolute URI of a memento."""
    return whole_uri(request, replay_path(capture.timestamp, Modifier.NONE, capture.url))


def whole_uri(request: web.Request, path: str) -> str:
    """Return the absolute URI of a path. A TimeMap that was saved to a file needs such URIs."""
    return public_origin(request) + base_path(request) + path


async def _text(
    request: web.Request, url: str, pieces: AsyncGenerator[str, None], content_type: str
) -> web.StreamResponse:
    """Stream text, or return 404 if the first read shows that there is no memento."""
    try:
        return await stream(request, _gathered(pieces), content_type)
    except NotInArchive:
        return await not_in_archive(request, url)


async def _gathered(pieces: AsyncGenerator[str, None]) -> AsyncGenerator[bytes, None]:
    """Join small pieces, because sending a network packet for each memento would be slow."""
    buffer: list[str] = []
    size = 0
    async with aclosing(pieces):
        async for piece in pieces:
            buffer.append(piece)
            size += len(piece)
            if size >= _PIECE:
                yield "".join(buffer).encode("utf-8", "replace")
                buffer, size = [], 0
    yield "".join(buffer).encode("utf-8", "replace")


async def wayback(request: web.Request) -> web.StreamResponse:
    """Answer a CDX query in the dialect of the Wayback CDX server."""
    try:
        return await _send_result(request, pywb=False)
    except InputError as error:
        return web.Response(status=400, text=f"{error}\n")


async def pywb(request: web.Request) -> web.StreamResponse:
    """Answer a CDX query in the dialect of pywb."""
    try:
        return await _send_result(request, pywb=True)
    except InputError as error:
        return web.json_response({"message": str(error)}, status=400)
    except NotInArchive:
        message = f"No Captures found for: {request.query.get('url', '')}"
        return web.json_response({"message": message}, status=404)


async def available(request: web.Request) -> web.StreamResponse:
    """Return the capture of a URL nearest to a timestamp, or the latest."""
    url, moment = request.query.get("url", ""), request.query.get("timestamp", "")
    if moment and not (moment.isascii() and moment.isdecimal() and len(moment) <= 14):
        raise InputError("timestamp must have 4 to 14 digits of YYYYMMDDhhmmss.")
    moment = moment if len(moment) >= SHORTEST else ""
    document: dict[str, object] = {"url": url, "archived_snapshots": {}}
    if moment:
        document["timestamp"] = moment
    try:
        address = ReplayAddress(moment, Modifier.NONE, parse_archived_url(url))
        capture = await request.app[RUNTIME].replay.resolve(address)
    except NotInArchive:
        return web.json_response(document)
    closest = {
        "status": str(capture.status),
        "available": True,
        "url": memento_uri(request, capture),
        "timestamp": capture.timestamp,
    }
    return web.json_response(document | {"archived_snapshots": {"closest": closest}})


async def _send_result(request: web.Request, *, pywb: bool) -> web.StreamResponse:
    parameters = {name: request.query.getall(name) for name in request.query}
    query = parse_cdx_query(parameters, pywb=pywb)
    counted = "application/json" if pywb else "text/plain"
    kind = counted if query.paging.is_counted else media_type(query.output)
    pieces = request.app[RUNTIME].cdx.result(query)
    return await stream(request, pieces, kind, may_be_packed=query.is_packed)
