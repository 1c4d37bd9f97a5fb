"""``/static/…``: the service's own files."""

from aiohttp import web

from archiver.web.keys import STATIC


async def static(request: web.Request) -> web.StreamResponse:
    """Serve a file; 304 if the browser has it (RFC 9110 §13.1.2)."""
    place = request.match_info
    response = request.app[STATIC].response(place["version"], place["name"])
    if response is None:
        raise web.HTTPNotFound
    held = {tag.value for tag in request.if_none_match or ()}
    if response.etag is not None and response.etag.value in held:
        response.set_status(304)
        response.body = None
    return response
