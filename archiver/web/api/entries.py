"""API of entries, captures, highlights and jobs."""

from dataclasses import replace

from aiohttp import web

from archiver.model.job import Job
from archiver.web.api.requests import (
    EditRequest,
    HighlightChange,
    HighlightRequest,
    SaveRequest,
    listing_query,
    number,
    numbers,
    read_json,
)
from archiver.web.api.responses import answer, entry_answer
from archiver.web.app_keys import RUNTIME
from archiver.web.static_files import addressed
from archiver.web.uploads import handed_in_from_api


async def save(request: web.Request) -> web.StreamResponse:
    """Take URLs into the queue."""
    seed = await read_json(request, SaveRequest)
    entries = request.app[RUNTIME].entries
    result = await entries.save(seed.urls, tags=seed.tags, source="api", render=seed.render)
    return answer(result, status=202)


async def list_entries(request: web.Request) -> web.StreamResponse:
    """List entries, or search them."""
    query = replace(listing_query(request), limit=number(request, "limit", 50))
    found = await request.app[RUNTIME].search.listing(query)
    items = tuple(replace(each, emblems=addressed(each.emblems)) for each in found.items)
    return answer(replace(found, items=items))


async def summary(request: web.Request) -> web.StreamResponse:
    """Count the entries of a list, and say what they are of."""
    return answer(await request.app[RUNTIME].search.summary(listing_query(request)))


async def show_entry(request: web.Request) -> web.StreamResponse:
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


async def hand_in(request: web.Request) -> web.StreamResponse:
    """Take a page; it is a snapshot when the answer comes."""
    return answer(await handed_in_from_api(request), status=201)


async def add_highlight(request: web.Request) -> web.StreamResponse:
    """Mark words of an article."""
    wanted = await read_json(request, HighlightRequest)
    made = await request.app[RUNTIME].highlights.add(
        request.match_info["hash_url"],
        wanted.quote,
        start=wanted.start,
        colour=wanted.colour,
        note=wanted.note,
        timestamp=wanted.timestamp,
    )
    return answer(made, status=201)


async def change_highlight(request: web.Request) -> web.StreamResponse:
    """Give a highlight another colour or note."""
    wanted, place = await read_json(request, HighlightChange), request.match_info
    changed = await request.app[RUNTIME].highlights.change(
        place["hash_url"], place["id"], colour=wanted.colour, note=wanted.note
    )
    return answer(changed)


async def remove_highlight(request: web.Request) -> web.StreamResponse:
    """Take a highlight away, and show the entry as it is then."""
    runtime, place = request.app[RUNTIME], request.match_info
    await runtime.highlights.remove(place["hash_url"], place["id"])
    return entry_answer(await runtime.entries.get(place["hash_url"]))


async def list_highlights(request: web.Request) -> web.StreamResponse:
    """List what was marked."""
    asked = request.query
    found = await request.app[RUNTIME].highlights.listing(
        asked.get("q", ""), asked.get("after", ""), number(request, "limit", 50)
    )
    return answer(found)


async def show_job(request: web.Request) -> web.StreamResponse:
    """Show the jobs that ``ids`` names; unknown ones are left out."""
    found = await request.app[RUNTIME].entries.jobs(numbers(request, "ids"))
    return answer(found, shape=list[Job])


async def queue_status(request: web.Request) -> web.StreamResponse:
    """Count the jobs of the whole archive by state."""
    return answer(await request.app[RUNTIME].crawling.counts())
