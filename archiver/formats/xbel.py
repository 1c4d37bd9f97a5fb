"""XBEL: bookmarks in folders as XML (of KDE, Konqueror, Galeon, buku, Floccus)."""

from collections.abc import Iterator

from archiver.formats.given_file import GivenFile
from archiver.formats.importer import Importer
from archiver.formats.rows import Row
from archiver.formats.xml_events import elements, is_xml
from archiver.model.bookmark import Bookmark
from archiver.model.folder_path import folder_path
from archiver.model.message import marked


def _read(file: GivenFile) -> Iterator[Bookmark]:
    folders: list[str] = []
    row: Row | None = None
    title = note = ""
    for element in elements(file):
        if element.name == "folder":
            folders = folders[:-1] if element.is_end else [*folders, ""]
        elif element.name == "bookmark" and not element.is_end:
            row, title, note = Row(element.attributes), "", ""
        elif element.name == "bookmark" and row is not None:
            yield _bookmark(row, title, note, folders)
            row = None
        elif element.is_end and element.name == "title":
            if row is not None:
                title = element.text
            elif folders:
                folders[-1] = element.text
        elif element.is_end and element.name == "desc" and row is not None:
            note = element.text.strip()


def _bookmark(row: Row, title: str, note: str, folders: list[str]) -> Bookmark:
    path = folder_path(folders)
    return row.bookmark(
        row.text("href"),
        title=title,
        note=note,
        added_at=row.moment("added"),
        tags=row.names("tags"),
        folders=(path,) if path else (),
    )


XBEL = Importer(
    "XBEL",
    lambda file: is_xml(file, "xbel"),
    _read,
    ("xbel", "xml"),
    marked("Konqueror, Falkon, qutebrowser's tools, Floccus, buku"),
)
