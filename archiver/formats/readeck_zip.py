"""Readeck's zip: a folder for each bookmark, with what is said of it, its article and pictures."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping

from archiver.formats.given_file import GivenFile
from archiver.formats.importer import Importer
from archiver.formats.json_values import JsonText
from archiver.formats.kept_pages import MOST_PAGE, page_with_files
from archiver.formats.row_importers import bookmarks_of
from archiver.formats.rows import Row
from archiver.formats.zip_members import Members
from archiver.model.bookmark import Bookmark
from archiver.model.kept_page import KeptPage
from archiver.model.message import marked

_INFO = re.compile(r"((?:.*/)?bookmarks/[^/]+/)info\.json")
_RESOURCES = "container/_resources/"
_ARTICLE = "index.html"
_INTERNAL = (
    "id",
    "uid",
    "userid",
    "filepath",
    "files",
    "text",
    "state",
    "errors",
    "domain",
    "links",
)
"""What only Readeck itself has a use for, or what stands in the page."""


def _read(file: GivenFile) -> Iterator[Bookmark]:
    packed = file.zip
    if packed is None:
        return
    resources = _resources(packed)
    for name in packed.names:
        if found := _INFO.fullmatch(name):
            folder = found[1]

            def bookmark(row: Row, folder: str = folder) -> Bookmark:
                return _bookmark(row, _page(row, packed, folder, resources[folder]))

            yield from bookmarks_of(
                JsonText(GivenFile(packed.open(name), name).chunks()).one(), bookmark
            )


def _resources(packed: Members) -> Mapping[str, dict[str, str]]:
    """The files beside each article, by folder and reference."""
    found: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for name in packed.names:
        folder, inside, rest = name.partition(_RESOURCES)
        if inside:
            found[folder][f"./_resources/{rest}"] = name
    return found


def _page(row: Row, packed: Members, folder: str, files: Mapping[str, str]) -> KeptPage | None:
    named = row.peek("files")
    article = named.get("article") if isinstance(named, dict) else None
    name = article.get("name") if isinstance(article, dict) else None
    inside = name if isinstance(name, str) and name else _ARTICLE
    content = packed.read(f"{folder}container/{inside}", MOST_PAGE)
    return page_with_files(content, packed, files, "text/html; charset=utf-8") if content else None


def _bookmark(row: Row, page: KeptPage | None) -> Bookmark:
    row.drop(*_INTERNAL)
    return row.bookmark(
        row.text("url", "initialurl"),
        title=row.text("title"),
        added_at=row.moment("created"),
        tags=row.names("labels"),
        is_read=row.flag("isarchived"),
        is_starred=row.flag("ismarked"),
        page=page or "",
    )


READECK_ZIP = Importer(
    marked("Readeck zip"),
    lambda file: any(map(_INFO.fullmatch, file.members)),
    _read,
    ("zip",),
    marked("Readeck: readeck export, or the export of an account; with articles and pictures"),
)
