"""``/{hash_url}/{timestamp}/picture`` and its like: how a snapshot looked in a browser."""

from aiohttp import web

from archiver.model.likeness import LikenessKind
from archiver.web.keys import RUNTIME

_YEAR = 365 * 86400


async def likeness(request: web.Request) -> web.StreamResponse:
    """Send a picture of a snapshot, or its print."""
    place = request.match_info
    kind = LikenessKind(place["kind"])
    entries = request.app[RUNTIME].entries
    media_type, content = await entries.likeness(place["hash_url"], place["timestamp"], kind)
    name = f"{place['hash_url']}-{place['timestamp']}.{media_type.rpartition('/')[2]}"
    headers = {
        "Content-Type": media_type,
        "Cache-Control": f"private, max-age={_YEAR}, immutable",
        "Content-Disposition": f'inline; filename="{name}"',
    }
    return web.Response(body=content, headers=headers)
