"""Pinboard's JSON: ``description`` is the title there, ``extended`` the note."""

from archiver.formats.given_file import GivenFile
from archiver.formats.row_importers import json_importer
from archiver.formats.rows import Row
from archiver.model.bookmark import Bookmark
from archiver.model.message import marked


def post(row: Row) -> Bookmark:
    """A bookmark as Pinboard says it, in JSON as in XML; there, and at Delicious, tags are one."""
    url = row.text("href", "url")
    tags = row.names("tags", "tag", between="")
    is_later = row.flag("toread")
    return row.bookmark(
        url,
        title=row.text("description"),
        note=row.text("extended"),
        added_at=row.moment("time", "dt"),
        tags=(*tags, "toread") if is_later else tags,
    )


def _fits(file: GivenFile) -> bool:
    return "[].href" in file.json_paths and bool({"[].extended", "[].toread"} & file.json_paths)


PINBOARD = json_importer(
    "Pinboard JSON", _fits, post, origin=marked("Pinboard: Settings, Backup, JSON")
)
