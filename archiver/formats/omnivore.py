"""Omnivore's zip: ``metadata_0_to_20.json`` and so on, with pages and highlights beside them."""

import re
from collections.abc import Iterator

from archiver.formats.given_file import GivenFile
from archiver.formats.importer import Importer, bookmarks_of, json_importer
from archiver.formats.json_values import JsonText
from archiver.formats.rows import Row, text_of
from archiver.formats.zip_members import Members
from archiver.model.bookmark import Bookmark
from archiver.model.message import marked

_METADATA = re.compile(r"(?:^|/)metadata_\d+_to_\d+\.json\Z")
_MOST_HIGHLIGHTS = 256 << 10
_MOST_PAGE = 16 << 20


def _read(file: GivenFile) -> Iterator[Bookmark]:
    packed = file.zip
    if packed is None:
        return
    beside = {name.rpartition(".")[0]: name for name in packed.names}

    def bookmark(row: Row) -> Bookmark:
        slug = text_of(row.peek("slug"))
        if found := beside.get(f"highlights/{slug}"):
            row.put("highlights", _text(packed, found, _MOST_HIGHLIGHTS).strip())
        page = beside.get(f"content/{slug}", "")
        is_html = page.endswith((".html", ".htm"))
        return _bookmark(row, _text(packed, page, _MOST_PAGE) if is_html else "")

    for name in filter(_METADATA.search, packed.names):
        rows = JsonText(GivenFile(packed.open(name), name).chunks()).values()
        yield from bookmarks_of(rows, bookmark)


def _text(packed: Members, name: str, most: int) -> str:
    return packed.read(name, most).decode("utf-8", "replace")


def _bookmark(row: Row, page: str) -> Bookmark:
    return row.bookmark(
        row.text("url", "originalarticleurl"),
        title=row.text("title"),
        note=row.text("description"),
        added_at=row.moment("savedat"),
        tags=row.names("labels"),
        is_read=row.word("state", "archived", "active"),
        page=page,
    )


def _fits(file: GivenFile) -> bool:
    return {"[].slug", "[].savedAt", "[].readingProgress"} <= file.json_paths


OMNIVORE_JSON = json_importer(
    "Omnivore JSON",
    _fits,
    lambda row: _bookmark(row, ""),
    origin=marked("Omnivore: a metadata file of its export; the zip has the pages too"),
)
OMNIVORE = Importer(
    marked("Omnivore zip"),
    lambda file: any(map(_METADATA.search, file.members)),
    _read,
    ("zip",),
    marked("Omnivore: the zip of its export"),
)
