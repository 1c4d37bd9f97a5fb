"""Databases of one table: Chrome's ``History``, the bookmarks of buku."""

from collections.abc import Iterator
from typing import Any

from archiver.formats.given_file import GivenFile
from archiver.formats.importer import Importer
from archiver.formats.row_importers import ReadRow, bookmarks_of
from archiver.formats.rows import Row, names_of
from archiver.formats.sqlite_file import DatabaseDamagedError, has_columns, rows_of
from archiver.model.bookmark import Bookmark, broken
from archiver.model.message import marked
from archiver.model.row_problems import DATABASE_ENDS, problem_of

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
            yield broken(file.name, problem_of(DATABASE_ENDS, error))

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
