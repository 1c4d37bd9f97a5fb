"""``/{hash_url}/rescue``: public archives are asked for a page that is gone."""

from aiohttp import web

from archiver.web.keys import RUNTIME


async def rescue(request: web.Request) -> web.StreamResponse:
    """Ask, and show the entry, where it is told how that goes."""
    key = request.match_info["hash_url"]
    await request.app[RUNTIME].rescuing.rescue([key])
    raise web.HTTPSeeOther(f"/{key}/")
