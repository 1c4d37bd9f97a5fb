"""Pocket's last export: CSV of 10,000 rows a file, in a zip; columns by name, never by place."""

from archiver.formats.row_importers import has_columns, table_importer
from archiver.formats.rows import Row
from archiver.model.bookmark import Bookmark
from archiver.model.message import marked


def _bookmark(row: Row) -> Bookmark:
    url = row.text("url", "givenurl", "resolvedurl")
    return row.bookmark(
        url,
        title=row.text("title"),
        added_at=row.moment("timeadded"),
        tags=row.names("tags", between="|"),
        is_read=row.word("status", "archive", "unread"),
        is_starred=row.flag("favorite"),
    )


POCKET = table_importer(
    "Pocket CSV",
    has_columns("url", "timeadded", "status"),
    _bookmark,
    origin=marked(
        "Pocket: the files in the zip of its export; give the zip itself, or one of them"
    ),
)
