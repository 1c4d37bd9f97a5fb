"""The program's own CSV format."""

import csv
import io
import json
import re
from collections.abc import Callable, Mapping, Sequence

from archiver.formats.importer import has_columns, table_importer
from archiver.formats.json_output import to_document
from archiver.formats.list_writer import Heading, ListForm
from archiver.formats.own_json import json_line, read_highlights
from archiver.formats.rows import Row, plain_name
from archiver.http.timestamps import read_iso, write_iso
from archiver.model.annotation import Annotation, merged_source_records, write_source_record
from archiver.model.entry import ExportedEntry
from archiver.model.message import marked
from archiver.model.seed import Bookmark, unreadable

# CSV injection (OWASP): a page's title must not run as a formula in the user's spreadsheet. A cell
# that begins like a formula, also after spaces or in full-width characters, is prefixed with ``'``.
# If the formula already follows a ``'``, one more is added, so that removing one restores the text.

_FORMULA = re.compile(r"'*[\s\x00-\x1f]*[=+\-@\uff1d\uff0b\uff0d\uff20]|'*[\t\r\n]")


def escape_formula(text: str) -> str:
    """Return a cell that spreadsheets do not evaluate.

    >>> escape_formula("=1+1"), escape_formula("'=1"), escape_formula("it's")
    ("'=1+1", "''=1", "it's")
    """
    return f"'{text}" if _FORMULA.match(text) else text


def unescape_cell(cell: str) -> str:
    """Undo ``escape_formula``."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell


# The file begins with a byte order mark, so that spreadsheets read it as UTF-8. Control characters
# other than tabs and line ends are removed.

_NO_TEXT = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f]")
_LINE_ENDS = re.compile("\r\n?")
_SPECIAL = re.compile(r"([\\,])")
_TAG = re.compile(r"(?:[^\\,]|\\.)+")
_ESCAPED = re.compile(r"\\(.)")
_MARK = "\ufeff"
_YES = "yes"
_NOT_READ = marked("This row has an invalid date, list position or highlight.")

_COLUMNS: Mapping[str, Callable[[ExportedEntry], str]] = {
    "title": lambda each: each.entry.annotation.title,
    "url": lambda each: each.entry.annotation.url_given,
    "tags": lambda each: _joined(each.entry.annotation.tags),
    "folders": lambda each: "\n".join(each.entry.annotation.folders),
    "places": lambda each: "\n".join(map(str, each.entry.annotation.places)),
    "note": lambda each: each.entry.annotation.note,
    "added_at": lambda each: write_iso(each.entry.annotation.saved_at),
    "is_read": lambda each: _YES if each.entry.annotation.is_read else "",
    "is_starred": lambda each: _YES if each.entry.annotation.is_starred else "",
    "highlights": lambda each: _highlights_cell(each.entry.annotation),
    "source": lambda each: each.entry.annotation.source,
    "source_record": lambda each: each.entry.annotation.source_record,
    "page_title": lambda each: each.snapshots[0].title if each.snapshots else "",
    "captured": lambda each: each.entry.latest or "",
    "state": lambda each: each.entry.state.value,
    "hash_url": lambda each: each.entry.hash_url,
}
_ARCHIVE_COLUMNS = ("pagetitle", "captured", "state", "hashurl")


class _Csv:
    def __init__(self, _: Heading) -> None:
        """Create a writer; CSV has no heading except the column names."""

    def opening(self) -> str:
        return _MARK + _line([*_COLUMNS])

    def item(self, exported: ExportedEntry, _: str) -> str:
        return _line([_cell(write(exported)) for write in _COLUMNS.values()])

    def closing(self) -> str:
        return ""


def _line(cells: Sequence[str]) -> str:
    text = io.StringIO()
    csv.writer(text).writerow(cells)
    return text.getvalue()


def _cell(text: str) -> str:
    return escape_formula(_NO_TEXT.sub("", _LINE_ENDS.sub("\n", text)))


def _joined(tags: Sequence[str]) -> str:
    """Join tags with commas; a comma within a tag is escaped with a backslash."""
    return ",".join(_SPECIAL.sub(r"\\\1", tag) for tag in tags)


def _highlights_cell(annotation: Annotation) -> str:
    return json_line(to_document(annotation.highlights)) if annotation.highlights else ""


def _read_row(row: Row) -> Bookmark:
    row.drop(*_ARCHIVE_COLUMNS)
    fields = {name: unescape_cell(row.take(plain_name(name)) or "") for name in _USER_COLUMNS}
    remaining = write_source_record(row.remaining())
    highlights_json, added = fields["highlights"], fields["added_at"]
    try:
        highlights = read_highlights(json.loads(highlights_json)) if highlights_json else ()
        added_at = read_iso(added) if added else None
        places = tuple(int(each[:18]) for each in fields["places"].split())
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError):
        return unreadable(fields["url"], _NOT_READ)
    annotation = Annotation(
        fields["url"],
        added_at,
        title=fields["title"],
        tags=tuple(_ESCAPED.sub(r"\1", each) for each in _TAG.findall(fields["tags"])),
        note=fields["note"],
        source=fields["source"],
        is_read=fields["is_read"] == _YES,
        is_starred=fields["is_starred"] == _YES,
        folders=tuple(filter(None, fields["folders"].split("\n"))),
        places=places,
        source_record=merged_source_records(fields["source_record"], remaining),
        highlights=highlights,
    )
    return Bookmark(annotation)


_USER_COLUMNS = tuple(name for name in _COLUMNS if plain_name(name) not in _ARCHIVE_COLUMNS)
CSV = ListForm(_Csv, has_snapshots=True)
OWN_CSV = table_importer(
    "archiver CSV",
    has_columns("url", "addedat", "isstarred", "sourcerecord", "hashurl"),
    _read_row,
    origin=marked("archiver: Export, CSV"),
    tags_include_folders=True,
    has_other_addresses=True,
)
