"""``/{hash_url}/{timestamp}/``: one snapshot as it looked, below our banner."""

from aiohttp import web

from archiver.rewrite.address import Modifier, replay_path
from archiver.web import auth
from archiver.web.keys import RUNTIME
from archiver.web.origin import replay_origin
from archiver.web.render import render
from archiver.web.views import SnapshotView


async def snapshot(request: web.Request) -> web.StreamResponse:
    """Show the banner and the frame; a moment without a snapshot leads to the nearest."""
    key, asked = request.match_info["hash_url"], request.match_info["timestamp"]
    detail = await request.app[RUNTIME].entries.snapshot(key, asked)
    found = detail.snapshot
    if found.timestamp != asked:
        raise web.HTTPFound(f"/{key}/{found.timestamp}/")
    prefix = replay_origin(request) + auth.frame_prefix(request)
    frame = replay_path(found.timestamp, Modifier.FRAME, found.url, prefix=prefix)
    title = detail.entry.title or found.url
    view = SnapshotView(detail.entry, found, detail, frame, title)
    return render(request, "pages/snapshot.html", view)
