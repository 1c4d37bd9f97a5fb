"""wallabag's JSON (v1 and v2) and CSV; articles come with it, titles may hold HTML."""

from datetime import UTC, datetime

from archiver.formats.dates import sensible
from archiver.formats.given_file import GivenFile
from archiver.formats.html_items import plain_text
from archiver.formats.importer import has_columns, json_importer, table_importer
from archiver.formats.rows import Row, names_of
from archiver.model.bookmark import Bookmark
from archiver.model.message import marked

_BY_PLACE = tuple(map(str, range(20)))
"""Version 1 writes each column twice, by its name and by its place."""
_V2 = frozenset({"[].is_archived", "[].is_starred"})
_V1 = frozenset({"[].is_read", "[].is_fav"})


def _entry(row: Row) -> Bookmark:
    row.drop(*_BY_PLACE)
    return row.bookmark(
        row.text("url", "givenurl"),
        title=plain_text(row.text("title")),
        added_at=row.moment("createdat"),
        tags=row.names("tags"),
        is_read=row.flag("isarchived", "isread"),
        is_starred=row.flag("isstarred", "isfav"),
        page=row.text("content"),
    )


def _csv_entry(row: Row) -> Bookmark:
    date = row.text("creationdate")
    added = _twelve_hours(date)
    if date and added is None:
        row.put("Creation date", date)
    return row.bookmark(
        row.text("url"),
        title=plain_text(row.text("title")),
        added_at=added,
        tags=names_of(row.text("tags")),
        page=row.text("content"),
    )


def _twelve_hours(text: str) -> datetime | None:
    """A date as its CSV has it, ``d/m/Y h:i:s``: whether morning or afternoon, it does not say."""
    for form in ("%d/%m/%Y %H:%M:%S", "%d/%m/%Y %H:%M", "%d/%m/%Y"):
        try:
            return sensible(datetime.strptime(text, form).replace(tzinfo=UTC))
        except ValueError:
            continue
    return None


def _fits(file: GivenFile) -> bool:
    return file.json_paths >= _V2 or file.json_paths >= _V1


WALLABAG = json_importer(
    "wallabag JSON",
    _fits,
    _entry,
    origin=marked("wallabag: All entries, Export, JSON; also of version 1"),
)
WALLABAG_CSV = table_importer(
    "wallabag CSV",
    has_columns("title", "url", "content", "mimetype"),
    _csv_entry,
    origin=marked("wallabag: All entries, Export, CSV"),
)
