"""Handlers of static files and the web app manifest."""

from typing import Final

from aiohttp import hdrs, web
from aiohttp.helpers import ETAG_ANY

from archiver.model.language import ENGLISH
from archiver.model.message import Message
from archiver.web.app_keys import STATIC, WORDINGS
from archiver.web.responses import asked_coding


async def static(request: web.Request) -> web.StreamResponse:
    """Serve a static file; 304 if the browser has it (RFC 9110 §13.1.2)."""
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


_ICONS: Final = (
    ("icon.svg", "image/svg+xml", "any", "any"),
    ("icon-192.png", "image/png", "192x192", "any"),
    ("icon-512.png", "image/png", "512x512", "any"),
    ("icon-maskable.png", "image/png", "512x512", "maskable"),
)
_DESCRIPTION = Message("A wayback machine of your own")


async def manifest(request: web.Request) -> web.StreamResponse:
    """Return the W3C Web Application Manifest.

    Browsers request it without cookies, so the page's link contains the language.
    """
    worded = request.app[WORDINGS]
    wording = worded.get(request.query.get("language", "")) or worded[ENGLISH.tag]
    url = request.app[STATIC].url
    return web.json_response(
        {
            "name": "archiver",
            "description": wording.worded(_DESCRIPTION),
            "lang": wording.language.tag,
            "dir": wording.language.direction,
            "id": "/",
            "start_url": "/",
            "scope": "/",
            "display": "standalone",
            "background_color": "#fbfaf7",
            "theme_color": "#23634f",
            "icons": [
                {"src": url(name), "type": kind, "sizes": sizes, "purpose": purpose}
                for name, kind, sizes, purpose in _ICONS
            ],
            "share_target": {
                "action": "/save",
                "method": "GET",
                "params": {"title": "title", "text": "text", "url": "url"},
            },
        },
        content_type="application/manifest+json",
    )
