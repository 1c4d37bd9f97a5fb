"""``/api/v1/entries``: add, list and search, show."""

from dataclasses import replace

from aiohttp import web

from archiver.web.api.answers import answer, entry_answer
from archiver.web.api.questions import (
    EditRequest,
    SaveRequest,
    listing_query,
    number,
    read_json,
)
from archiver.web.emblems import addressed
from archiver.web.keys import RUNTIME


async def save(request: web.Request) -> web.StreamResponse:
    """Take URLs into the queue."""
    seed = await read_json(request, SaveRequest)
    entries = request.app[RUNTIME].entries
    result = await entries.save(seed.urls, tags=seed.tags, source="api", render=seed.render)
    return answer(result, status=202)


async def listing(request: web.Request) -> web.StreamResponse:
    """List entries, or search them."""
    query = replace(listing_query(request), limit=number(request, "limit", 50))
    found = await request.app[RUNTIME].search.listing(query)
    items = tuple(replace(each, emblems=addressed(each.emblems)) for each in found.items)
    return answer(replace(found, items=items))


async def summary(request: web.Request) -> web.StreamResponse:
    """Count the entries of a list, and say what they are of."""
    return answer(await request.app[RUNTIME].search.summary(listing_query(request)))


async def show(request: web.Request) -> web.StreamResponse:
    """Show an entry and its snapshots."""
    return entry_answer(await request.app[RUNTIME].entries.get(request.match_info["hash_url"]))


async def edit(request: web.Request) -> web.StreamResponse:
    """Change what is said of an entry, and show it as it is then."""
    wanted = await read_json(request, EditRequest)
    runtime, key = request.app[RUNTIME], request.match_info["hash_url"]
    await runtime.editing.change([key], wanted.change())
    return entry_answer(await runtime.entries.get(key))


async def snapshot(request: web.Request) -> web.StreamResponse:
    """Show one snapshot: the one nearest to the timestamp."""
    place = request.match_info
    detail = await request.app[RUNTIME].entries.snapshot(place["hash_url"], place["timestamp"])
    return answer(detail)


async def delete(request: web.Request) -> web.StreamResponse:
    """Throw an entry away."""
    return answer(await request.app[RUNTIME].deleting.entries([request.match_info["hash_url"]]))


async def delete_snapshot(request: web.Request) -> web.StreamResponse:
    """Throw one snapshot away: the one of exactly this timestamp."""
    place = request.match_info
    deleting = request.app[RUNTIME].deleting
    return answer(await deleting.snapshot(place["hash_url"], place["timestamp"]))


async def undelete(request: web.Request) -> web.StreamResponse:
    """Put back what a deletion took, as far as that can be."""
    number = int(request.match_info["id"])
    return answer(await request.app[RUNTIME].deleting.undo(number))


async def compare(request: web.Request) -> web.StreamResponse:
    """Show what differs between two snapshots of an entry."""
    asked, key = request.query, request.match_info["hash_url"]
    comparing = request.app[RUNTIME].comparing
    return answer(await comparing.compare(key, asked.get("from", ""), asked.get("to", "")))
