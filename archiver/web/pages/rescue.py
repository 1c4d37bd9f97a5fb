"""``/{hash_url}/rescue``, ``/rescue``: public archives are asked for pages that are gone."""

from aiohttp import web

from archiver.web.keys import RUNTIME
from archiver.web.pages.editing import back, query_of


async def rescue(request: web.Request) -> web.StreamResponse:
    """Ask, and show the entry, where it is told how that goes."""
    key = request.match_info["hash_url"]
    await request.app[RUNTIME].rescuing.rescue([key])
    raise web.HTTPSeeOther(f"/{key}/")


async def rescue_selected(request: web.Request) -> web.StreamResponse:
    """Ask for the entries that are ticked, or all that the list was of, and show the crawl."""
    form, rescuing = await request.post(), request.app[RUNTIME].rescuing
    refs = [str(each) for each in form.getall("entry", [])]
    if form.get("scope") == "all":
        count = await rescuing.rescue_found(query_of(form))
    elif refs:
        count = await rescuing.rescue(refs)
    else:
        return back(form, "/snapshots", nothing=1)
    raise web.HTTPSeeOther(f"/crawl?done=asked-{count}")
