"""Databases: Firefox's ``places.sqlite``, Chrome's ``History``, the bookmarks of buku."""

from collections.abc import Iterator, Mapping
from typing import Any

from archiver.formats.given_file import GivenFile
from archiver.formats.importer import Importer
from archiver.formats.row_importers import ReadRow, bookmarks_of
from archiver.formats.rows import Row, names_of, text_of
from archiver.formats.sqlite_file import (
    SIGNATURE,
    DatabaseDamagedError,
    columns_of,
    rows_of,
    tables_of,
)
from archiver.model.bookmark import Bookmark, broken
from archiver.model.folder_path import folder_path
from archiver.model.message import marked
from archiver.model.row_problems import DATABASE_ENDS, problem_of

_BOOKMARKS = "SELECT id, type, fk, parent, * FROM moz_bookmarks ORDER BY id"
_PAGES = """
    SELECT id, url, * FROM moz_places WHERE id IN (SELECT fk FROM moz_bookmarks WHERE type = 1)
"""
_KEYWORDS = "SELECT place_id, keyword FROM moz_keywords WHERE place_id IS NOT NULL"
_NOTES = """
    SELECT a.item_id AS item, a.content FROM moz_items_annos a
    JOIN moz_anno_attributes n ON n.id = a.anno_attribute_id
    WHERE n.name = 'bookmarkProperties/description'
"""
_VISITED = "SELECT * FROM urls ORDER BY rowid"
_BUKU = "SELECT * FROM bookmarks ORDER BY rowid"
_LINK, _FOLDER = 1, 2
_OF_PAGE = {
    "url": "url",
    "title": "page_title",
    "description": "description",
    "preview_image_url": "preview_image_url",
    "visit_count": "visit_count",
    "last_visit_date": "last_visit_date",
}
"""What is kept of a page that is bookmarked; the rest is how Firefox ranks and finds it."""
_OF_BOOKMARK = ("title", "dateAdded", "lastModified", "guid")
_BROWSERS_OWN = frozenset({"menu", "toolbar", "unfiled", "mobile", "tags", ""})
_DEEPEST = 500


def _read_places(file: GivenFile) -> Iterator[Bookmark]:
    stream = file.seekable()
    try:
        nodes = [*rows_of(stream, _BOOKMARKS)]
        pages = {row["id"]: row for row in rows_of(stream, _PAGES)}
        notes = _texts(file, "moz_items_annos", _NOTES)
        keywords = _texts(file, "moz_keywords", _KEYWORDS)
    except DatabaseDamagedError as error:
        yield broken(file.name, problem_of(DATABASE_ENDS, error))
        return
    folders = {row["id"]: row for row in nodes if row["type"] == _FOLDER}
    names = {number: _path(number, folders) for number in folders}
    links = [row for row in nodes if row["type"] == _LINK and row["fk"] in pages]
    tags: dict[Any, list[str]] = {}
    for row in links:
        if names.get(row["parent"], ("",))[:1] == ("tags",):
            tags.setdefault(row["fk"], []).append(names[row["parent"]][-1])
    for row in sorted(links, key=lambda row: _place_in_tree(row, folders)):
        path, place = names.get(row["parent"], ()), row["fk"]
        if path[:1] != ("tags",):
            said = _said(row, pages[place], keywords.get(place, ""))
            yield _place(said, path, tags.get(place, []), notes.get(row["id"], ""))


def _said(row: Mapping[str, Any], page: Mapping[str, Any], keyword: str) -> dict[str, Any]:
    """What is kept of a bookmark and its page."""
    return {
        **{ours: page.get(name) for name, ours in _OF_PAGE.items()},
        **{name: row.get(name) for name in _OF_BOOKMARK},
        "keyword": keyword,
    }


def _texts(file: GivenFile, table: str, query: str) -> dict[Any, str]:
    """What a question of two columns answers, if there is such a table."""
    if table not in _tables(file):
        return {}
    rows = (tuple(row.values()) for row in rows_of(file.seekable(), query))
    return {key: text_of(value) for key, value in rows}


def _place_in_tree(row: Mapping[str, Any], folders: Mapping[Any, Mapping[str, Any]]) -> list[int]:
    """Where a bookmark stands, as the browser shows it: from the outermost folder in."""
    places: list[int] = []
    node: Mapping[str, Any] | None = row
    while node is not None and len(places) < _DEEPEST:
        place = node.get("position")
        places.append(place if isinstance(place, int) else 0)
        node = folders.get(node["parent"])
    places.reverse()
    return places


def _path(number: Any, folders: Mapping[Any, Mapping[str, Any]]) -> tuple[str, ...]:
    """The folders from the outermost in; the first one is the browser's own."""
    names: list[str] = []
    seen = set()
    while number in folders and number not in seen and len(names) < _DEEPEST:
        seen.add(number)
        names.append(text_of(folders[number]["title"]))
        number = folders[number]["parent"]
    names.reverse()
    return tuple(names[1:] if names[:1] == [""] else names)


def _place(row: Mapping[str, Any], path: tuple[str, ...], tags: list[str], note: str) -> Bookmark:
    taken = Row(row)
    if path[:1] and path[0] in _BROWSERS_OWN:
        taken.put("root", path[0])
        path = path[1:]
    folders = folder_path(path)
    title, page_title = taken.text("title"), text_of(taken.peek("pagetitle"))
    if title == page_title:
        taken.drop("pagetitle")
    return taken.bookmark(
        taken.text("url"),
        title=title,
        note=note.strip(),
        added_at=taken.moment("dateadded"),
        tags=tuple(dict.fromkeys(tags)),
        folders=(folders,) if folders else (),
    )


def _visit(row: Row) -> Bookmark:
    row.drop("id", "hidden", "faviconid")
    return row.bookmark(
        row.text("url"), title=row.text("title"), added_at=row.moment("lastvisittime")
    )


def _buku(row: Row) -> Bookmark:
    row.drop("id")
    return row.bookmark(
        row.text("url"),
        title=row.text("metadata"),
        note=row.text("desc"),
        tags=names_of(row.text("tags")),
    )


def _of_rows(query: str, bookmark: ReadRow) -> Any:
    def read(file: GivenFile) -> Iterator[Bookmark]:
        try:
            shown = (row for row in rows_of(file.seekable(), query) if not row.get("hidden"))
            yield from bookmarks_of(shown, bookmark)
        except DatabaseDamagedError as error:
            yield broken(file.name, problem_of(DATABASE_ENDS, error))

    return read


def _tables(file: GivenFile) -> frozenset[str]:
    return tables_of(file.seekable()) if file.head.startswith(SIGNATURE) else frozenset()


def _has(file: GivenFile, *columns: str) -> bool:
    is_database = file.head.startswith(SIGNATURE)
    return is_database and columns_of(file.seekable()).issuperset(columns)


PLACES = Importer(
    "Firefox places.sqlite",
    lambda file: {"moz_places", "moz_bookmarks"} <= _tables(file),
    _read_places,
    ("sqlite",),
    marked("Firefox: the file places.sqlite of a profile; its bookmarks, not its history"),
)
CHROME_HISTORY = Importer(
    "Chrome History",
    lambda file: _has(file, "urls.url", "urls.last_visit_time"),
    _of_rows(_VISITED, _visit),
    (),
    marked("Chrome, Edge, Brave, Vivaldi: the file History of a profile; every page once"),
)
BUKU = Importer(
    marked("buku database"),
    lambda file: _has(file, "bookmarks.url", "bookmarks.metadata"),
    _of_rows(_BUKU, _buku),
    ("db",),
    marked("buku: the file bookmarks.db"),
)
