"""OneTab's text: lines ``URL | Title``; a title may hold an address, which is none of the list."""

import re
from collections.abc import Iterator

from archiver.formats.given_file import GivenFile
from archiver.formats.importer import Importer
from archiver.formats.rows import MAX_URL
from archiver.model.annotation import Annotation
from archiver.model.bookmark import Bookmark
from archiver.model.message import marked

_ONETAB = re.compile(r"\s*(?:[a-z][a-z0-9+.-]{1,20}:\S+) \| \S", re.IGNORECASE)


def _read(file: GivenFile) -> Iterator[Bookmark]:
    """Lines ``URL | Title``; the first bar ends the address, an empty line a group."""
    held = ""
    for chunk in file.chunks():
        *lines, held = (held + chunk.replace("\r", "\n")).split("\n")
        for line in lines:
            yield from _line(line)
        if len(held) > MAX_URL * 10:
            yield from _line(held)
            held = ""
    yield from _line(held)


def _line(line: str) -> Iterator[Bookmark]:
    url, _, title = f"{line} ".partition(" | ")
    if url.strip():
        yield Bookmark(Annotation(url.strip()[:MAX_URL], title=" ".join(title.split())))


def _fits(file: GivenFile) -> bool:
    lines = [line for line in file.text[:4096].splitlines()[:20] if line.strip()]
    return file.is_text and bool(lines) and _ONETAB.match(lines[0]) is not None


ONETAB = Importer(
    marked("OneTab text"),
    _fits,
    _read,
    ("txt",),
    marked("OneTab: Export URLs; lines of address | title"),
)
