"""Instapaper's CSV: ``URL,Title,Selection,Folder`` and, since 2019, ``Timestamp`` and ``Tags``."""

from archiver.formats.guessing import guessed_tags
from archiver.formats.row_importers import has_columns, table_importer
from archiver.formats.rows import Row
from archiver.model.bookmark import Bookmark
from archiver.model.folder_path import folder_path
from archiver.model.message import marked

_STATES = ("unread", "archive", "starred")


def _bookmark(row: Row) -> Bookmark:
    url = row.text("url")
    folder = row.text("folder")
    state = folder.lower() if folder.lower() in _STATES else ""
    return row.bookmark(
        url,
        title=row.text("title"),
        note=row.text("selection"),
        added_at=row.moment("timestamp"),
        tags=guessed_tags(row.take("tags")),
        folders=(folder_path([folder]),) if folder and not state else (),
        is_read=state == "archive",
        is_starred=state == "starred",
    )


INSTAPAPER = table_importer(
    "Instapaper CSV",
    has_columns("url", "title", "selection", "folder"),
    _bookmark,
    origin=marked("Instapaper: Settings, Export, Download .CSV file"),
)
