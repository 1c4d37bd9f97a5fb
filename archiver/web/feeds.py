"""``/feed.atom`` and ``/feed.json``: any list or search, to be followed."""

from aiohttp import web

from archiver.services.feeds import FeedForm
from archiver.web.api.questions import listing_query
from archiver.web.keys import RUNTIME
from archiver.web.origin import public_origin

_TYPES = {FeedForm.ATOM: "application/atom+xml", FeedForm.JSON: "application/feed+json"}


async def feed(request: web.Request) -> web.StreamResponse:
    """Give the newest entries of a list."""
    form = FeedForm(request.match_info["form"])
    asked = request.rel_url.raw_query_string
    body = await request.app[RUNTIME].feeds.write(
        listing_query(request),
        form,
        origin=public_origin(request),
        path=f"{request.path}?{asked}" if asked else request.path,
        home=f"/snapshots?{asked}" if asked else "/snapshots",
    )
    return web.Response(body=body, content_type=_TYPES[form], charset="utf-8")
