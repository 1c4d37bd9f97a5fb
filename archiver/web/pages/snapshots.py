"""``/snapshots``: browse and search."""

from urllib.parse import urlencode

from aiohttp import web

from archiver.model.listing import ListingQuery
from archiver.web.keys import RUNTIME
from archiver.web.render import render
from archiver.web.views import ListingView

SHOWN_TAGS = 30
FIELDS = ("q", "tag", "host", "status", "after")


async def listing(request: web.Request) -> web.StreamResponse:
    """Show a page of entries."""
    asked = request.query
    q, tag, host, status, after = (asked.get(name, "") for name in FIELDS)
    query = ListingQuery(q=q, tag=tag, host=host, status=status, after=after)
    search = request.app[RUNTIME].search
    found = await search.listing(query)
    kept = {name: value for name, value in asked.items() if name != "after" and value}
    next_url = f"/snapshots?{urlencode({**kept, 'after': found.after})}" if found.after else ""
    export_query = f"?{urlencode(kept)}" if kept else ""
    tags = tuple(await search.tags(SHOWN_TAGS))
    view = ListingView(query, found, next_url, tags, export_query)
    return render(request, "pages/snapshots.html", view)
