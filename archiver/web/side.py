"""The side bar: lists and saved searches, beside every page but errors and what is framed."""

from aiohttp import web

from archiver.web.keys import RUNTIME
from archiver.web.render import View, render
from archiver.web.views import SideBar

SHOWN = 200
"""Lists in the side bar; ``/lists`` has all of them."""


async def side_bar(request: web.Request, q: str = "") -> SideBar:
    """What stands beside a page, with the list marked that it shows."""
    found = await request.app[RUNTIME].lists.all()
    asked = q.strip().casefold()
    whole = next((each for each in found if each.asks_all.casefold() == asked), None)
    current = whole or next((each for each in found if each.asks.casefold() == asked), None)
    return SideBar(found[:SHOWN], current, len(found), is_whole=whole is not None)


async def render_beside(
    request: web.Request, template: str, view: View, *, status: int = 200
) -> web.Response:
    """A page with the side bar beside it."""
    return render(request, template, view, side=await side_bar(request), status=status)
