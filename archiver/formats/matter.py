"""Matter's CSV."""

from archiver.formats.row_importers import has_columns, table_importer
from archiver.formats.rows import Row
from archiver.model.bookmark import Bookmark
from archiver.model.message import marked


def _bookmark(row: Row) -> Bookmark:
    return row.bookmark(
        row.text("url"),
        title=row.text("title"),
        added_at=row.moment("lastinteractiondate", "savedat"),
        tags=row.names("tags", between=";"),
        is_read=row.flag("read"),
        is_starred=row.flag("favorited"),
    )


MATTER = table_importer(
    "Matter CSV",
    has_columns("url", "inqueue"),
    _bookmark,
    origin=marked("Matter: Profile, Settings, Export"),
)
