"""Bookmarks and history of Chromium browsers."""

from collections.abc import Iterator
from typing import Any

from archiver.formats.importer import Importer, ReadRow, bookmarks_of
from archiver.formats.json_values import of_object
from archiver.formats.rows import Row, names_of, text_of
from archiver.formats.source_file import GivenFile
from archiver.formats.sqlite_files import DatabaseDamagedError, has_columns, rows_of
from archiver.model.entry_list import folder_path
from archiver.model.imports import DATABASE_ENDS, FOLDER_NESTED, format_problem
from archiver.model.message import marked
from archiver.model.seed import Bookmark, broken, unreadable

# Chrome's bookmarks file: JSON, a tree under ``roots``; times are µs since 1601.

_DEEPEST = 500
_NO_BOOKMARK = marked("This is no bookmark.")
_NO_ADDRESS = marked("This bookmark holds no address.")


def _read(file: GivenFile) -> Iterator[Bookmark]:
    return of_object(file, _trees)


def _trees(document: dict[str, Any]) -> Iterator[Bookmark]:
    roots = document.get("roots")
    for name, node in roots.items() if isinstance(roots, dict) else ():
        if isinstance(node, dict):
            yield from _children(node, (), name)


def _children(folder: dict[str, Any], path: tuple[str, ...], root: str) -> Iterator[Bookmark]:
    if len(path) > _DEEPEST:
        yield broken(path[-1], FOLDER_NESTED)
        return
    children = folder.get("children")
    for node in children if isinstance(children, list) else ():
        if not isinstance(node, dict):
            yield unreadable(text_of(node), _NO_BOOKMARK)
        elif "children" in node:
            yield from _children(node, (*path, text_of(node.get("name"))), root)
        elif node.get("url"):
            yield _bookmark(node, path, root)
        else:
            yield unreadable(text_of(node.get("name")), _NO_ADDRESS)


def _bookmark(node: dict[str, Any], path: tuple[str, ...], root: str) -> Bookmark:
    row = Row(node)
    row.drop("type", "id")
    row.put("root", root)
    folders = folder_path(path)
    return row.bookmark(
        row.text("url"),
        title=row.text("name"),
        added_at=row.moment("dateadded"),
        folders=(folders,) if folders else (),
    )


CHROME_BOOKMARKS = Importer(
    marked("Chrome Bookmarks file"),
    lambda file: {"{}", "roots"} <= file.json_paths,
    _read,
    ("json",),
    marked("Chrome, Edge, Brave, Vivaldi: the file Bookmarks of a profile"),
)


# Databases with one table: Chrome's ``History``, buku's bookmarks.

_VISITED = "SELECT * FROM urls ORDER BY rowid"
_BUKU = "SELECT * FROM bookmarks ORDER BY rowid"


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
            yield broken(file.name, format_problem(DATABASE_ENDS, error))

    return read


CHROME_HISTORY = Importer(
    "Chrome History",
    lambda file: has_columns(file, "urls.url", "urls.last_visit_time"),
    _of_rows(_VISITED, _visit),
    (),
    marked("Chrome, Edge, Brave, Vivaldi: the file History of a profile; every page once"),
)
BUKU = Importer(
    marked("buku database"),
    lambda file: has_columns(file, "bookmarks.url", "bookmarks.metadata"),
    _of_rows(_BUKU, _buku),
    ("db",),
    marked("buku: the file bookmarks.db"),
)
