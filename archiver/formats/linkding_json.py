"""The JSON of linkding's API: what ``/api/bookmarks/`` gives, page by page."""

from archiver.formats.given_file import GivenFile
from archiver.formats.row_importers import json_importer
from archiver.formats.rows import Row, both
from archiver.model.bookmark import Bookmark
from archiver.model.message import marked


def _bookmark(row: Row) -> Bookmark:
    tags = row.names("tagnames")
    is_later = row.flag("unread")
    return row.bookmark(
        row.text("url"),
        title=row.text("title"),
        note=both(row.text("description"), row.text("notes")),
        added_at=row.moment("dateadded"),
        tags=(*tags, "toread") if is_later else tags,
        is_read=row.flag("isarchived"),
    )


def _fits(file: GivenFile) -> bool:
    return bool({"results[].tag_names", "[].tag_names"} & file.json_paths)


LINKDING = json_importer(
    "linkding JSON",
    _fits,
    _bookmark,
    origin=marked("linkding: its API, /api/bookmarks/"),
    within="results",
)
