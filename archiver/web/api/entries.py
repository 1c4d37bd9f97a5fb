"""``/api/v1/entries``: add, list and search, show."""

from aiohttp import web

from archiver.model.listing import ListingQuery
from archiver.web.api.answers import answer
from archiver.web.api.questions import SaveRequest, number, read_json
from archiver.web.keys import RUNTIME


async def save(request: web.Request) -> web.StreamResponse:
    """Take URLs into the queue."""
    seed = await read_json(request, SaveRequest)
    result = await request.app[RUNTIME].entries.save(seed.urls, tags=seed.tags, source="api")
    return answer(result, status=202)


async def listing(request: web.Request) -> web.StreamResponse:
    """List entries, newest first, or search them."""
    words = {name: request.query.get(name, "") for name in ("q", "tag", "host", "status", "after")}
    query = ListingQuery(**words, limit=number(request, "limit", 50))
    return answer(await request.app[RUNTIME].search.listing(query))


async def show(request: web.Request) -> web.StreamResponse:
    """Show an entry and its snapshots."""
    return answer(await request.app[RUNTIME].entries.get(request.match_info["hash_url"]))


async def snapshot(request: web.Request) -> web.StreamResponse:
    """Show one snapshot: the one nearest to the timestamp."""
    place = request.match_info
    detail = await request.app[RUNTIME].entries.snapshot(place["hash_url"], place["timestamp"])
    return answer(detail)
