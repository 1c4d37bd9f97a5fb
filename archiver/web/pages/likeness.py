"""How a snapshot looked in a browser, and what lists show it by."""

from aiohttp import web

from archiver.model.likeness import LikenessKind
from archiver.web.keys import RUNTIME

_YEAR = 365 * 86400
_FOREVER = f"private, max-age={_YEAR}, immutable"
_CONFINED = "default-src 'none'; style-src 'unsafe-inline'; sandbox"
"""A drawing can hold whatever a page can; opened by itself it is to be a picture all the same."""


async def likeness(request: web.Request) -> web.StreamResponse:
    """Send a picture of a snapshot, or its print."""
    place = request.match_info
    kind = LikenessKind(place["kind"])
    entries = request.app[RUNTIME].entries
    media_type, content = await entries.likeness(place["hash_url"], place["timestamp"], kind)
    name = f"{place['hash_url']}-{place['timestamp']}.{media_type.rpartition('/')[2]}"
    headers = {
        "Content-Type": media_type,
        "Cache-Control": _FOREVER,
        "Content-Disposition": f'inline; filename="{name}"',
    }
    return web.Response(body=content, headers=headers)


async def emblem(request: web.Request) -> web.StreamResponse:
    """Send the icon or the picture that lists show pages by, by what it holds."""
    entries = request.app[RUNTIME].entries
    media_type, content = await entries.emblem(request.match_info["digest"])
    headers = {
        "Content-Type": media_type,
        "Cache-Control": _FOREVER,
        "Content-Security-Policy": _CONFINED,
    }
    return web.Response(body=content, headers=headers)
