"""Exports of Readeck: its CSV, and its zip with articles and pictures."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping

from archiver.formats.given_file import GivenFile
from archiver.formats.guessing import guessed_tags
from archiver.formats.importer import Importer, bookmarks_of, table_importer
from archiver.formats.json_values import JsonText
from archiver.formats.kept_pages import MOST_PAGE, page_with_files
from archiver.formats.rows import Row
from archiver.formats.zip_members import Members
from archiver.model.bookmark import Bookmark
from archiver.model.folder_path import folder_path
from archiver.model.kept_page import KeptPage
from archiver.model.message import marked

# Readeck's CSV: labels are JSON, times RFC 3339; older files say folder, state or tags instead.


def _readeck_bookmark(row: Row) -> Bookmark:
    folder = folder_path([row.text("folder")])
    return row.bookmark(
        row.text("url"),
        title=row.text("title"),
        added_at=row.moment("created", "timestamp"),
        tags=guessed_tags(row.take("labels", "tags")),
        folders=(folder,) if folder else (),
        is_read=row.flag("isarchived") or row.word("state", "archived", "unread"),
        is_starred=row.flag("ismarked"),
    )


def _fits(file: GivenFile) -> bool:
    return "url" in file.columns and {"labels", "ismarked"} & file.columns == {"labels", "ismarked"}


READECK = table_importer(
    "Readeck CSV",
    _fits,
    _readeck_bookmark,
    origin=marked("Readeck: Settings, Import and export, CSV"),
)


# Readeck's zip: a folder for each bookmark, with what is said of it, its article and pictures.

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
                return _zip_bookmark(row, _page(row, packed, folder, resources[folder]))

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


def _zip_bookmark(row: Row, page: KeptPage | None) -> Bookmark:
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
