"""Static files, icons and the web app manifest.

The URL of each file contains a hash over all files. So browsers can cache files indefinitely, and
an ES module that imports another module by a relative URL gets the same version of it.
"""

import gzip
import hashlib
import mimetypes
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from aiohttp import hdrs, web
from aiohttp.helpers import ETAG_ANY

from archiver.model.language import ENGLISH
from archiver.model.message import Message
from archiver.model.rendering import PreviewImages
from archiver.web.app_keys import STATIC, WORDINGS
from archiver.web.origin import base_path
from archiver.web.responses import SMALLEST, is_packable, takes_gzip, vary

_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".ico": "image/x-icon",
    ".txt": "text/plain; charset=utf-8",
    ".woff2": "font/woff2",
}
_IMMUTABLE = "public, max-age=31536000, immutable"
_REVALIDATE = "public, no-cache"
_HASH_LENGTH = 16


@dataclass(frozen=True, slots=True)
class StaticFile:
    """A static file with the data of its response.

    Attributes:
        body: content of the file.
        packed: gzip-compressed content; None if the content is too small to be compressed, is not
            text, or does not become smaller.
        content_type: value of the Content-Type header.
        etag: entity tag of the uncompressed content, without quotes.
    """

    body: bytes
    packed: bytes | None
    content_type: str
    etag: str


class StaticFiles:
    """All static files of a directory, read into memory."""

    def __init__(self, directory: Path) -> None:
        self._files = {
            path.relative_to(directory).as_posix(): _read(path)
            for path in sorted(directory.rglob("*"))
            if path.is_file()
        }
        digest = hashlib.sha256()
        for name, file in self._files.items():
            digest.update(f"{name}\0{file.etag}\0".encode())
        self.version = digest.hexdigest()[:_HASH_LENGTH]

    def url(self, name: str) -> str:
        """Return the URL of a file.

        Raises:
            KeyError: the file does not exist, so the template that names it is wrong.
        """
        if name not in self._files:
            raise KeyError(name)
        return f"/static/{self.version}/{name}"

    def response(self, version: str, name: str, *, takes_gzip: bool) -> web.Response | None:
        """Return the response for a file; None if the file does not exist."""
        file = self._files.get(name)
        if file is None:
            return None
        packed = file.packed if takes_gzip else None
        response = web.Response(
            body=packed or file.body, headers={hdrs.CONTENT_TYPE: file.content_type}
        )
        # The compressed response needs another entity tag (RFC 9110 §8.8.3.3).
        response.etag = f"{file.etag}-gzip" if packed else file.etag
        if packed:
            response.headers[hdrs.CONTENT_ENCODING] = "gzip"
        if file.packed:
            vary(response)
        current = version == self.version
        response.headers["Cache-Control"] = _IMMUTABLE if current else _REVALIDATE
        # The "not in the archive" page loads static files, and it may be shown in a sandboxed frame
        # with an opaque origin. Static files are public, so any origin may load them.
        response.headers["Cross-Origin-Resource-Policy"] = "cross-origin"
        return response


@cache
def static_files(directory: Path) -> StaticFiles:
    """Return the static files of a directory; read them on the first call only."""
    return StaticFiles(directory)


def _read(path: Path) -> StaticFile:
    body = path.read_bytes()
    guessed = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    content_type = _TYPES.get(path.suffix, guessed)
    return StaticFile(
        body=body,
        packed=_packed(body, content_type),
        content_type=content_type,
        etag=hashlib.sha256(body).hexdigest()[:_HASH_LENGTH],
    )


@cache
def _packed(body: bytes, content_type: str) -> bytes | None:
    if len(body) < SMALLEST or not is_packable(content_type):
        return None
    # Compressed once, so the size is more important than the time.
    packed = gzip.compress(body, mtime=0)
    return packed if len(packed) < len(body) else None


PREVIEW_IMAGE_PATH = "/preview/"
"""Path prefix of favicons and preview images; the digest of the image follows."""


def preview_image_path(digest: str, *, base: str = "") -> str:
    """Return the path of a favicon or preview image; empty if ``digest`` is empty."""
    return base + PREVIEW_IMAGE_PATH + digest if digest else ""


def with_paths(preview_images: PreviewImages, base: str) -> PreviewImages:
    """Replace the digests of preview images by root-relative paths, for API clients."""
    return PreviewImages(
        preview_image_path(preview_images.icon, base=base),
        preview_image_path(preview_images.cover, base=base),
    )


async def static(request: web.Request) -> web.StreamResponse:
    """Serve a static file; 304 if the browser has it (RFC 9110 §13.1.2)."""
    version, name = request.match_info["version"], request.match_info["name"]
    files = request.app[STATIC]
    response = files.response(version, name, takes_gzip=takes_gzip(request))
    if response is None:
        raise web.HTTPNotFound
    client_tags = {tag.value for tag in request.if_none_match or ()}
    if response.etag is not None and client_tags & {response.etag.value, ETAG_ANY}:
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
_DESCRIPTION = Message("A personal web archive")


async def manifest(request: web.Request) -> web.StreamResponse:
    """Return the W3C Web Application Manifest.

    Browsers request it without cookies, so the page's link contains the language.
    """
    wordings_by_tag = request.app[WORDINGS]
    wording = wordings_by_tag.get(request.query.get("language", "")) or wordings_by_tag[ENGLISH.tag]
    url, base = request.app[STATIC].url, base_path(request)
    return web.json_response(
        {
            "name": "archiver",
            "description": wording.text_of(_DESCRIPTION),
            "lang": wording.language.tag,
            "dir": wording.language.direction,
            "id": f"{base}/",
            "start_url": f"{base}/",
            "scope": f"{base}/",
            "display": "standalone",
            "background_color": "#fbfaf7",
            "theme_color": "#23634f",
            "icons": [
                {"src": base + url(name), "type": kind, "sizes": sizes, "purpose": purpose}
                for name, kind, sizes, purpose in _ICONS
            ],
            "share_target": {
                "action": f"{base}/save",
                "method": "GET",
                "params": {"title": "title", "text": "text", "url": "url"},
            },
        },
        content_type="application/manifest+json",
    )
