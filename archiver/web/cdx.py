"""CDX server and availability API."""

from aiohttp import web

from archiver.errors import InputError, NotInArchive
from archiver.http.timestamps import SHORTEST
from archiver.replay.addresses import Modifier, ReplayAddress, parse_archived_url
from archiver.replay.cdx_query import parse_cdx_query
from archiver.replay.cdx_rows import media_type
from archiver.web.app_keys import RUNTIME
from archiver.web.memento import memento_uri
from archiver.web.responses import stream


async def wayback(request: web.Request) -> web.StreamResponse:
    """Answer a CDX query in the dialect of the Wayback CDX server."""
    try:
        return await _answer(request, pywb=False)
    except InputError as error:
        return web.Response(status=400, text=f"{error}\n")


async def pywb(request: web.Request) -> web.StreamResponse:
    """Answer a CDX query in the dialect of pywb."""
    try:
        return await _answer(request, pywb=True)
    except InputError as error:
        return web.json_response({"message": str(error)}, status=400)
    except NotInArchive:
        message = f"No Captures found for: {request.query.get('url', '')}"
        return web.json_response({"message": message}, status=404)


async def available(request: web.Request) -> web.StreamResponse:
    """Return the capture of a URL nearest to a timestamp, or the latest."""
    given, moment = request.query.get("url", ""), request.query.get("timestamp", "")
    if moment and not (moment.isascii() and moment.isdecimal() and len(moment) <= 14):
        raise InputError("timestamp is 4 to 14 digits of YYYYMMDDhhmmss.")
    moment = moment if len(moment) >= SHORTEST else ""
    document: dict[str, object] = {"url": given, "archived_snapshots": {}}
    if moment:
        document["timestamp"] = moment
    try:
        address = ReplayAddress(moment, Modifier.NONE, parse_archived_url(given))
        found = await request.app[RUNTIME].replay.resolve(address)
    except NotInArchive:
        return web.json_response(document)
    closest = {
        "status": str(found.status),
        "available": True,
        "url": memento_uri(request, found),
        "timestamp": found.timestamp,
    }
    return web.json_response(document | {"archived_snapshots": {"closest": closest}})


async def _answer(request: web.Request, *, pywb: bool) -> web.StreamResponse:
    given = {name: request.query.getall(name) for name in request.query}
    query = parse_cdx_query(given, pywb=pywb)
    counted = "application/json" if pywb else "text/plain"
    kind = counted if query.paging.is_counted else media_type(query.output)
    pieces = request.app[RUNTIME].cdx.answer(query)
    return await stream(request, pieces, kind, may_be_packed=query.is_packed)
