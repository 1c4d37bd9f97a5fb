"""``/api/v1/…/highlights``: mark words, change that, list what was marked."""

from aiohttp import web

from archiver.web.api.answers import answer, entry_answer
from archiver.web.api.questions import HighlightChange, HighlightRequest, number, read_json
from archiver.web.keys import RUNTIME


async def add(request: web.Request) -> web.StreamResponse:
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


async def change(request: web.Request) -> web.StreamResponse:
    """Give a highlight another colour or note."""
    wanted, place = await read_json(request, HighlightChange), request.match_info
    changed = await request.app[RUNTIME].highlights.change(
        place["hash_url"], place["id"], colour=wanted.colour, note=wanted.note
    )
    return answer(changed)


async def remove(request: web.Request) -> web.StreamResponse:
    """Take a highlight away, and show the entry as it is then."""
    runtime, place = request.app[RUNTIME], request.match_info
    await runtime.highlights.remove(place["hash_url"], place["id"])
    return entry_answer(await runtime.entries.get(place["hash_url"]))


async def listing(request: web.Request) -> web.StreamResponse:
    """List what was marked."""
    asked = request.query
    found = await request.app[RUNTIME].highlights.listing(
        asked.get("q", ""), asked.get("after", ""), number(request, "limit", 50)
    )
    return answer(found)
