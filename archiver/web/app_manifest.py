"""``/manifest.webmanifest``: what a browser installs the service as, in the language of a page."""

from typing import Final

from aiohttp import web

from archiver.model.language import ENGLISH
from archiver.model.message import Message
from archiver.web.keys import STATIC, WORDINGS

_ICONS: Final = (
    ("icon.svg", "image/svg+xml", "any", "any"),
    ("icon-192.png", "image/png", "192x192", "any"),
    ("icon-512.png", "image/png", "512x512", "any"),
    ("icon-maskable.png", "image/png", "512x512", "maskable"),
)
_DESCRIPTION = Message("A wayback machine of your own")


async def manifest(request: web.Request) -> web.StreamResponse:
    """Describe the service (W3C Web Application Manifest).

    Browsers ask for it without cookies, so the page that names it says its language.
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
