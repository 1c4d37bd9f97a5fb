"""The side bar: lists and saved searches, beside every page but errors and what is framed."""

from collections.abc import Sequence

from aiohttp import web

from archiver.model.entry_list import EntryList
from archiver.web.keys import RUNTIME
from archiver.web.render import View, render
from archiver.web.views import SideBar

SHOWN = 200
"""Lists in the side bar; ``/lists`` has all of them."""


async def side_bar(request: web.Request, q: str = "") -> SideBar:
    """What stands beside a page, with the list marked that it shows."""
    found = await request.app[RUNTIME].lists.all()
    current, is_whole = _asked_for(found, q.strip().casefold())
    return SideBar(found[:SHOWN], current, len(found), is_whole=is_whole)


def _asked_for(found: Sequence[EntryList], asked: str) -> tuple[EntryList | None, bool]:
    """The list that a query shows, and whether it shows what lies in the lists in it, too."""
    if not asked.startswith("list:"):
        found = [each for each in found if each.query]
    else:
        whole = next((each for each in found if each.asks_all.casefold() == asked), None)
        if whole:
            return whole, True
    return next((each for each in found if each.asks.casefold() == asked), None), False


async def render_beside(
    request: web.Request, template: str, view: View, *, status: int = 200
) -> web.Response:
    """A page with the side bar beside it."""
    return render(request, template, view, side=await side_bar(request), status=status)
