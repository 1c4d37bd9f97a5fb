"""Readeck's CSV: labels are JSON, times RFC 3339; older files say folder, state or tags instead."""

from archiver.formats.given_file import GivenFile
from archiver.formats.guessing import guessed_tags
from archiver.formats.row_importers import table_importer
from archiver.formats.rows import Row
from archiver.model.bookmark import Bookmark
from archiver.model.folder_path import folder_path
from archiver.model.message import marked


def _bookmark(row: Row) -> Bookmark:
    folder = folder_path([row.text("folder")])
    return row.bookmark(
        row.text("url"),
        title=row.text("title"),
        added_at=row.moment("created", "timestamp"),
        tags=guessed_tags(row.take("labels", "tags")),
        folders=(folder,) if folder else (),
        is_read=row.flag("isarchived") or row.word("state", "archived", "unread"),
        is_starred=row.flag("ismarked"),
    )


def _fits(file: GivenFile) -> bool:
    return "url" in file.columns and {"labels", "ismarked"} & file.columns == {"labels", "ismarked"}


READECK = table_importer(
    "Readeck CSV", _fits, _bookmark, origin=marked("Readeck: Settings, Import and export, CSV")
)
