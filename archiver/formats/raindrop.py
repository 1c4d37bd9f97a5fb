"""Raindrop.io's CSV."""

from archiver.formats.row_importers import has_columns, table_importer
from archiver.formats.rows import Row, both
from archiver.model.bookmark import Bookmark
from archiver.model.folder_path import folder_path
from archiver.model.message import marked

_NO_FOLDER = "unsorted"
_BETWEEN = " / "


def _bookmark(row: Row) -> Bookmark:
    url = row.text("url", "link")
    folder = row.text("folder")
    names = folder.split(_BETWEEN) if folder.lower() != _NO_FOLDER else []
    return row.bookmark(
        url,
        title=row.text("title"),
        note=both(row.text("note"), row.text("excerpt")),
        added_at=row.moment("created"),
        tags=row.names("tags"),
        folders=(folder_path(names),) if folder_path(names) else (),
        is_starred=row.flag("favorite", "important"),
    )


RAINDROP = table_importer(
    "Raindrop.io CSV",
    has_columns("url", "folder", "excerpt"),
    _bookmark,
    origin=marked("Raindrop.io: Settings, Backups or Export, CSV"),
)
