"""Pages for benchmarks, from a folder or generated, and a server for them."""

import random
import re
import zlib
from pathlib import Path

from benchmarks.fast_server import Server

MAX_COPIES = 1000
_ABSOLUTE = re.compile(rb"(?:https?:)?//(?=[a-zA-Z0-9])")
_WORDS = (
    "archive paper river stone window winter garden letter morning signal copper harbour".split()
)
_PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489"
    "0000000d49444154789c6360606060000000050001a5f645400000000049454e44ae426082"
)


class PageServer(Server):
    """Server of ``/name/`` for each page and a small file for everything else.

    Links to other hosts point to this server. ``/~copy/name/`` is a copy of the page with links to
    copies, so that no two pages share resources.
    """

    def __init__(self, pages: dict[str, bytes], *, delay: float = 0.0) -> None:
        super().__init__(delay=delay)
        self._pages = pages
        self._copies: dict[bytes, bytes] = {}

    def answer(self, target: bytes) -> tuple[bytes, bytes]:
        """Return the media type and body for a target."""
        path = target.partition(b"?")[0]
        page = self._copy(path)
        if page is not None:
            return b"text/html; charset=utf-8", page
        mark = f"{zlib.crc32(target):08x}"
        if b".css" in path:
            return b"text/css", f".c{mark} {{ color: #{mark[:6]} }}".encode()
        return b"image/png", _PIXEL + mark.encode()

    def url(self, number: int) -> str:
        """Return the URL of a copy of one of the pages."""
        copy, page = divmod(number, len(self._pages))
        return f"{self.base}/~{copy}/{list(self._pages)[page]}/"

    def _copy(self, path: bytes) -> bytes | None:
        parts = path.decode("latin-1").strip("/").split("/")
        copy = f"{parts.pop(0)}/" if parts[0].startswith("~") else ""
        page = self._pages.get("/".join(parts))
        if page is None:
            return None
        if path not in self._copies:
            if len(self._copies) >= MAX_COPIES:
                self._copies.clear()
            self._copies[path] = _ABSOLUTE.sub(f"{self.base}/{copy}".encode(), page)
        return self._copies[path]


def read_pages(folder: Path) -> dict[str, bytes]:
    """Return the pages of a folder, ``NAME/source.html``, by name; exit if there are none."""
    pages = {path.parent.name: path.read_bytes() for path in sorted(folder.glob("*/source.html"))}
    if not pages:
        raise SystemExit(f"{folder} contains no page. Pages are files NAME/source.html.")
    return pages


def generated_pages(count: int) -> dict[str, bytes]:
    """Generate pages of about 20 kB with an article, a style sheet and three images each."""
    return {f"page-{n}": _page(n).encode() for n in range(count)}


def _page(number: int) -> str:
    chance = random.Random(number)
    paragraphs = "".join(
        f"<p>{' '.join(chance.choices(_WORDS, k=90)).capitalize()}, and so on.</p>"
        for _ in range(30)
    )
    images = "".join(f"<img src='/image-{number}-{n}.png' alt=''>" for n in range(3))
    return (
        f"<!DOCTYPE html><html lang='en'><head><title>Page {number}</title>"
        f"<link rel='stylesheet' href='/style.css'></head><body><nav><a href='/'>Start</a></nav>"
        f"<article><h1>Page {number}</h1>{images}{paragraphs}</article></body></html>"
    )
