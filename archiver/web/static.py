"""The service's own scripts, styles and images, read once, with the hash of all in their address.

Their address holds a hash over all files, so that they may be cached for ever, and an ES module
that imports another by a relative address gets the one of its own version.
"""

import hashlib
import mimetypes
from dataclasses import dataclass
from pathlib import Path

from aiohttp import web

_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".ico": "image/x-icon",
    ".txt": "text/plain; charset=utf-8",
    ".webmanifest": "application/manifest+json",
    ".woff2": "font/woff2",
}
_FOR_EVER = "public, max-age=31536000, immutable"
_ASK_AGAIN = "public, no-cache"
_HASH_LENGTH = 16


@dataclass(frozen=True, slots=True)
class StaticFile:
    """One file: its bytes, its Content-Type, and its ETag."""

    body: bytes
    content_type: str
    etag: str


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

    def response(self, version: str, name: str) -> web.Response | None:
        """Answer for a file; None if there is none of that name."""
        file = self._files.get(name)
        if file is None:
            return None
        response = web.Response(body=file.body, headers={"Content-Type": file.content_type})
        response.etag = file.etag
        current = version == self.version
        response.headers["Cache-Control"] = _FOR_EVER if current else _ASK_AGAIN
        # The page that says "not in the archive" may stand in a sandboxed frame, whose origin is
        # opaque; these files are no secret.
        response.headers["Cross-Origin-Resource-Policy"] = "cross-origin"
        return response


def _read(path: Path) -> StaticFile:
    body = path.read_bytes()
    guessed = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    return StaticFile(
        body=body,
        content_type=_TYPES.get(path.suffix, guessed),
        etag=hashlib.sha256(body).hexdigest()[:_HASH_LENGTH],
    )
