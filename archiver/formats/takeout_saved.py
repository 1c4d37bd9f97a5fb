"""Google's *Saved* lists, of Takeout: one CSV each, named after the list."""

from collections.abc import Iterator

from archiver.formats.given_file import GivenFile
from archiver.formats.importer import Importer
from archiver.formats.row_importers import bookmarks_of
from archiver.formats.rows import Row, both, plain
from archiver.formats.tables import table_rows
from archiver.model.bookmark import Bookmark
from archiver.model.folder_path import folder_path
from archiver.model.message import marked

_UNNAMED = ("default list", "saved", "export", "standard input", "upload")
_HEADERS = (
    ("title", "note", "url", "tags", "comment"),
    ("title", "note", "url", "comment"),
)


def _read(file: GivenFile) -> Iterator[Bookmark]:
    name = file.name.rpartition("/")[2].rpartition(".")[0]
    folders = (folder_path([name]),) if name and name.lower() not in _UNNAMED else ()

    def bookmark(row: Row) -> Bookmark:
        return row.bookmark(
            row.text("url"),
            title=row.text("title"),
            note=both(row.text("note"), row.text("comment")),
            tags=row.names("tags"),
            folders=folders,
        )

    return bookmarks_of(table_rows(file), bookmark)


def _fits(file: GivenFile) -> bool:
    """Whether the header is Google's: many a table has some of these columns."""
    return file.table is not None and tuple(map(plain, file.table.header)) in _HEADERS


TAKEOUT_SAVED = Importer(
    "Google Saved CSV",
    _fits,
    _read,
    ("csv",),
    marked("Google Takeout: Saved; a file for each list, or the zip with them"),
)
