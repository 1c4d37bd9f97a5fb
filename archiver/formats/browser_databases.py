"""Databases: Firefox's ``places.sqlite``, Chrome's ``History``, the bookmarks of buku."""

from collections.abc import Iterator, Mapping
from typing import Any

from archiver.formats.given_file import GivenFile
from archiver.formats.importer import Importer
from archiver.formats.rows import Row, names_of, text_of
from archiver.formats.sqlite_file import SIGNATURE, DatabaseDamagedError, rows_of, tables_of
from archiver.model.bookmark import Bookmark, broken
from archiver.model.folder_path import folder_path
from archiver.model.message import marked

_FOLDERS = "SELECT id, parent, title FROM moz_bookmarks WHERE type = 2"
_PLACES = """
    SELECT b.id, b.fk AS place, b.parent, b.title, p.url, p.title AS page_title,
           b.dateAdded AS dateAdded, b.lastModified AS lastModified
    FROM moz_bookmarks b JOIN moz_places p ON p.id = b.fk WHERE b.type = 1 ORDER BY b.id
"""
_NOTES = """
    SELECT a.item_id AS item, a.content FROM moz_items_annos a
    JOIN moz_anno_attributes n ON n.id = a.anno_attribute_id
    WHERE n.name = 'bookmarkProperties/description'
"""
_VISITED = """
    SELECT url, title, visit_count, typed_count, last_visit_time FROM urls
    WHERE hidden = 0 ORDER BY id
"""
_BUKU = "SELECT url, metadata, tags, desc, flags FROM bookmarks ORDER BY id"
_BROWSERS_OWN = frozenset({"menu", "toolbar", "unfiled", "mobile", "tags", ""})
_DEEPEST = 500
_DAMAGED = "The database can't be read any further: {}."


def _read_places(file: GivenFile) -> Iterator[Bookmark]:
    stream = file.seekable()
    try:
        folders = {row["id"]: row for row in rows_of(stream, _FOLDERS)}
        notes = _notes(file) if "moz_items_annos" in _tables(file) else {}
        rows = [*rows_of(stream, _PLACES)]
    except DatabaseDamagedError as error:
        yield broken(file.name, _DAMAGED.format(error))
        return
    names = {number: _path(number, folders) for number in folders}
    tags: dict[Any, list[str]] = {}
    for row in rows:
        if names.get(row["parent"], ("",))[:1] == ("tags",):
            tags.setdefault(row["place"], []).append(names[row["parent"]][-1])
    for row in rows:
        path = names.get(row["parent"], ())
        if path[:1] != ("tags",):
            yield _place(row, path, tags.get(row["place"], []), notes.get(row["id"], ""))


def _notes(file: GivenFile) -> dict[Any, str]:
    return {row["item"]: text_of(row["content"]) for row in rows_of(file.seekable(), _NOTES)}


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
    taken.drop("id", "place", "parent")
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
    return row.bookmark(
        row.text("url"), title=row.text("title"), added_at=row.moment("lastvisittime")
    )


def _buku(row: Row) -> Bookmark:
    return row.bookmark(
        row.text("url"),
        title=row.text("metadata"),
        note=row.text("desc"),
        tags=names_of(row.text("tags")),
    )


def _of_rows(query: str, bookmark: Any) -> Any:
    def read(file: GivenFile) -> Iterator[Bookmark]:
        try:
            for row in rows_of(file.seekable(), query):
                yield bookmark(Row(row))
        except DatabaseDamagedError as error:
            yield broken(file.name, _DAMAGED.format(error))

    return read


def _tables(file: GivenFile) -> frozenset[str]:
    return tables_of(file.seekable()) if file.head.startswith(SIGNATURE) else frozenset()


PLACES = Importer(
    "Firefox places.sqlite",
    lambda file: {"moz_places", "moz_bookmarks"} <= _tables(file),
    _read_places,
    ("sqlite",),
    marked("Firefox: the file places.sqlite of a profile; its bookmarks, not its history"),
)
CHROME_HISTORY = Importer(
    "Chrome History",
    lambda file: {"urls", "visits"} <= _tables(file),
    _of_rows(_VISITED, _visit),
    (),
    marked("Chrome, Edge, Brave, Vivaldi: the file History of a profile; every page once"),
)
BUKU = Importer(
    marked("buku database"),
    lambda file: "bookmarks" in _tables(file),
    _of_rows(_BUKU, _buku),
    ("db",),
    marked("buku: the file bookmarks.db"),
)
