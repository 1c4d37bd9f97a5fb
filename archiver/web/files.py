"""``/static/…``: the service's own files."""

from aiohttp import hdrs, web
from aiohttp.helpers import ETAG_ANY

from archiver.web.keys import STATIC
from archiver.web.packing import asked_coding


async def static(request: web.Request) -> web.StreamResponse:
    """Serve a file; 304 if the browser has it (RFC 9110 §13.1.2)."""
    version, name = request.match_info["version"], request.match_info["name"]
    files = request.app[STATIC]
    coding = asked_coding(request, files.codings(name))
    response = files.response(version, name, coding)
    if response is None:
        raise web.HTTPNotFound
    held = {tag.value for tag in request.if_none_match or ()}
    if response.etag is not None and held & {response.etag.value, ETAG_ANY}:
        response.set_status(304)
        response.body = None
        response.headers.pop(hdrs.CONTENT_ENCODING, None)
    return response
