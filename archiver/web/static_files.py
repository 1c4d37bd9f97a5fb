"""Static files and icons.

Their address holds a hash over all files, so that they may be cached for ever, and an ES module
that imports another by a relative address gets the one of its own version.
"""

import hashlib
import mimetypes
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from aiohttp import hdrs, web

from archiver.http.content_coding import pack_once
from archiver.http.headers import Coding
from archiver.model.rendering import PreviewImages
from archiver.web.responses import SMALLEST, is_packable, vary

_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".ico": "image/x-icon",
    ".txt": "text/plain; charset=utf-8",
    ".woff2": "font/woff2",
}
_FOR_EVER = "public, max-age=31536000, immutable"
_ASK_AGAIN = "public, no-cache"
_HASH_LENGTH = 16


@dataclass(frozen=True, slots=True)
class StaticFile:
    """One file.

    Attributes:
        bodies: its bytes in each coding; as they are in all cases, packed where that is shorter.
        content_type: the header's value.
        etag: of its bytes as they are, without quotes.
    """

    bodies: Mapping[Coding, bytes]
    content_type: str
    etag: str

    def etag_in(self, coding: Coding) -> str:
        """Other bytes need another strong tag (RFC 9110 §8.8.3.3)."""
        return self.etag if coding is Coding.IDENTITY else f"{self.etag}-{coding}"


class StaticFiles:
    """All of them, in memory: a few dozen kilobytes."""

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
        """Return the address of a file.

        Raises:
            KeyError: there is none of that name: a template is wrong.
        """
        if name not in self._files:
            raise KeyError(name)
        return f"/static/{self.version}/{name}"

    def codings(self, name: str) -> tuple[Coding, ...]:
        """What a file can be had in, beside as it is; none if there is no such file."""
        file = self._files.get(name)
        return (
            tuple(coding for coding in file.bodies if coding is not Coding.IDENTITY) if file else ()
        )

    def response(self, version: str, name: str, coding: Coding) -> web.Response | None:
        """Answer for a file in one of its codings; None if there is none of that name."""
        file = self._files.get(name)
        if file is None:
            return None
        response = web.Response(
            body=file.bodies[coding], headers={hdrs.CONTENT_TYPE: file.content_type}
        )
        response.etag = file.etag_in(coding)
        if coding is not Coding.IDENTITY:
            response.headers[hdrs.CONTENT_ENCODING] = coding
        if len(file.bodies) > 1:
            vary(response)
        current = version == self.version
        response.headers["Cache-Control"] = _FOR_EVER if current else _ASK_AGAIN
        # The page that says "not in the archive" may stand in a sandboxed frame, whose origin is
        # opaque; these files are no secret.
        response.headers["Cross-Origin-Resource-Policy"] = "cross-origin"
        return response


def _read(path: Path) -> StaticFile:
    body = path.read_bytes()
    guessed = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    content_type = _TYPES.get(path.suffix, guessed)
    return StaticFile(
        bodies=_bodies(body, content_type),
        content_type=content_type,
        etag=hashlib.sha256(body).hexdigest()[:_HASH_LENGTH],
    )


@cache
def _bodies(body: bytes, content_type: str) -> Mapping[Coding, bytes]:
    if len(body) < SMALLEST or not is_packable(content_type):
        return {Coding.IDENTITY: body}
    made = {coding: pack_once(body, coding) for coding in (Coding.BROTLI, Coding.GZIP)}
    return {coding: packed for coding, packed in made.items() if len(packed) < len(body)} | {
        Coding.IDENTITY: body
    }


EMBLEM_PATH = "/emblem/"
"""Before their digests."""


def emblem_path(digest: str) -> str:
    """Where one lies; nowhere, where there is none.

    >>> emblem_path("4a986c59"), emblem_path("")
    ('/emblem/4a986c59', '')
    """
    return EMBLEM_PATH + digest if digest else ""


def addressed(emblems: PreviewImages) -> PreviewImages:
    """The same with addresses at this service instead of digests, as programs are told them."""
    return PreviewImages(emblem_path(emblems.icon), emblem_path(emblems.cover))
