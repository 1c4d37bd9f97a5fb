"""``/save``: a page that is offered from elsewhere, by the bookmarklet or by another program."""

import re

from aiohttp import web

from archiver.errors import InvalidUrl, NotFound
from archiver.web.keys import RUNTIME
from archiver.web.side import render_beside
from archiver.web.views import SaveView

_ADDRESS = re.compile(r"https?://\S+")
"""In what an app shares: many put the address into the text."""


async def offer(request: web.Request) -> web.StreamResponse:
    """Show what would be saved, and what is kept of it already; nothing is saved by a GET."""
    asked = request.query
    url, title, tags = (asked.get(name, "").strip() for name in ("url", "title", "tags"))
    if not url and (shared := _ADDRESS.search(asked.get("text", ""))):
        url = shared[0]
    entries = request.app[RUNTIME].entries
    try:
        known = (await entries.get(url)).entry if url else None
    except (InvalidUrl, NotFound):
        known = None
    kept = () if known else (await entries.before_saving([url], ())).known
    twins = (kept[0].entry, *kept[0].others) if kept else ()
    view = SaveView(url, title, tags, known, twins)
    return await render_beside(request, "pages/save.html", view)
