"""Exports of Omnivore, Readeck and wallabag."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

from archiver.formats.archive_members import Members
from archiver.formats.html_items import plain_text
from archiver.formats.importer import (
    Importer,
    bookmarks_of,
    has_columns,
    json_importer,
    table_importer,
)
from archiver.formats.json_values import JsonText
from archiver.formats.rows import Row, guessed_tags, names_of, sensible, text_of
from archiver.formats.saved_pages import MAX_PAGE, page_with_files
from archiver.formats.source_file import GivenFile
from archiver.model.entry_list import folder_path
from archiver.model.message import marked
from archiver.model.seed import ArchivedPage, Bookmark

_METADATA = re.compile(r"(?:^|/)metadata_\d+_to_\d+\.json\Z")
_MAX_HIGHLIGHTS = 256 << 10
_MAX_PAGE = 16 << 20


def _read(file: GivenFile) -> Iterator[Bookmark]:
    packed = file.zip
    if packed is None:
        return
    beside = {name.rpartition(".")[0]: name for name in packed.names}

    def bookmark(row: Row) -> Bookmark:
        slug = text_of(row.peek("slug"))
        if found := beside.get(f"highlights/{slug}"):
            row.put("highlights", _text(packed, found, _MAX_HIGHLIGHTS).strip())
        page = beside.get(f"content/{slug}", "")
        is_html = page.endswith((".html", ".htm"))
        return _bookmark(row, _text(packed, page, _MAX_PAGE) if is_html else "")

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
    origin=marked("Omnivore: a metadata file of its export; the zip also has the pages"),
)
OMNIVORE = Importer(
    marked("Omnivore zip"),
    lambda file: any(map(_METADATA.search, file.members)),
    _read,
    ("zip",),
    marked("Omnivore: the zip of its export"),
)

# Readeck's CSV: labels are JSON, times RFC 3339; older files use folder, state or tags instead.


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


def _fits_readeck(file: GivenFile) -> bool:
    return "url" in file.columns and {"labels", "ismarked"} & file.columns == {"labels", "ismarked"}


READECK = table_importer(
    "Readeck CSV",
    _fits_readeck,
    _readeck_bookmark,
    origin=marked("Readeck: Settings, Import and export, CSV"),
)


# Readeck's zip: a folder for each bookmark with metadata, article and images.

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
"""Internal fields, and fields that are part of the page."""


def _read_readeck(file: GivenFile) -> Iterator[Bookmark]:
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
    """Return the files of each article, by folder and reference."""
    found: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for name in packed.names:
        folder, inside, rest = name.partition(_RESOURCES)
        if inside:
            found[folder][f"./_resources/{rest}"] = name
    return found


def _page(row: Row, packed: Members, folder: str, files: Mapping[str, str]) -> ArchivedPage | None:
    named = row.peek("files")
    article = named.get("article") if isinstance(named, dict) else None
    name = article.get("name") if isinstance(article, dict) else None
    inside = name if isinstance(name, str) and name else _ARTICLE
    content = packed.read(f"{folder}container/{inside}", MAX_PAGE)
    return page_with_files(content, packed, files, "text/html; charset=utf-8") if content else None


def _zip_bookmark(row: Row, page: ArchivedPage | None) -> Bookmark:
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
    _read_readeck,
    ("zip",),
    marked("Readeck: readeck export, or the export of an account; with articles and images"),
)

_INDEX_COLUMNS = tuple(map(str, range(20)))
"""Version 1 writes each column twice, by name and by index."""
_V2 = frozenset({"[].is_archived", "[].is_starred"})
_V1 = frozenset({"[].is_read", "[].is_fav"})


def _wallabag_bookmark(row: Row) -> Bookmark:
    row.drop(*_INDEX_COLUMNS)
    return row.bookmark(
        row.text("url", "givenurl"),
        title=plain_text(row.text("title")),
        added_at=row.moment("createdat"),
        tags=row.names("tags"),
        is_read=row.flag("isarchived", "isread"),
        is_starred=row.flag("isstarred", "isfav"),
        page=row.text("content"),
    )


def _wallabag_csv_bookmark(row: Row) -> Bookmark:
    date = row.text("creationdate")
    added = _twelve_hour_date(date)
    if date and added is None:
        row.put("Creation date", date)
    return row.bookmark(
        row.text("url"),
        title=plain_text(row.text("title")),
        added_at=added,
        tags=names_of(row.text("tags")),
        page=row.text("content"),
    )


def _twelve_hour_date(text: str) -> datetime | None:
    """Parse its CSV's dates, ``d/m/Y h:i:s``, which do not state a.m. or p.m."""
    for form in ("%d/%m/%Y %H:%M:%S", "%d/%m/%Y %H:%M", "%d/%m/%Y"):
        try:
            return sensible(datetime.strptime(text, form).replace(tzinfo=UTC))
        except ValueError:
            continue
    return None


def _fits_wallabag(file: GivenFile) -> bool:
    return file.json_paths >= _V2 or file.json_paths >= _V1


WALLABAG = json_importer(
    "wallabag JSON",
    _fits_wallabag,
    _wallabag_bookmark,
    origin=marked("wallabag: All entries, Export, JSON; also of version 1"),
)
WALLABAG_CSV = table_importer(
    "wallabag CSV",
    has_columns("title", "url", "content", "mimetype"),
    _wallabag_csv_bookmark,
    origin=marked("wallabag: All entries, Export, CSV"),
)
