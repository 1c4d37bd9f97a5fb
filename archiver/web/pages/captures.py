"""``/web/*/{url}``: every capture of a URL."""

from aiohttp import web

from archiver.web.keys import ARCHIVED_URL, RUNTIME
from archiver.web.months import calendar
from archiver.web.pages.errors import not_in_archive
from archiver.web.side import render_beside
from archiver.web.views import CapturesView


async def captures(request: web.Request) -> web.StreamResponse:
    """List the captures of ``request[ARCHIVED_URL]``, newest first."""
    url = request[ARCHIVED_URL]
    found = await request.app[RUNTIME].replay.captures_of(url)
    if not found:
        return not_in_archive(request, url)
    newest = tuple(reversed(found))
    view = CapturesView(url, newest, calendar(each.timestamp for each in newest))
    return await render_beside(request, "pages/captures.html", view)
