"""Tables, JSON and XML of unknown producers."""

import csv
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from typing import Any

from archiver.formats.importer import MAX_COLUMNS, Importer, table_rows
from archiver.formats.json_values import JsonText
from archiver.formats.rows import (
    CONTAINERS,
    MAX_URL,
    TITLES,
    URL_COLUMNS,
    address_columns,
    by_roles,
    guessed,
    guessed_columns,
    guessed_in,
    parse_date,
    plain_name,
)
from archiver.formats.source_file import SourceFile
from archiver.formats.xml_events import elements, is_xml_file
from archiver.model.annotation import Annotation
from archiver.model.imports import NO_ADDRESS, ColumnRole
from archiver.model.message import marked
from archiver.model.seed import Bookmark, unreadable

# JSON and JSON lines of unknown structure: objects with an address, however nested.

_LINES = ("jsonl", "ndjson")


def _read_json(file: SourceFile) -> Iterator[Bookmark]:
    text = JsonText(file.chunks())
    names = {plain_name(each) for each in file.json_paths if "[]" not in each and "." not in each}
    arrays = {each.partition("[]")[0] for each in file.json_paths if "[]" in each}
    is_row = bool((names - {*map(plain_name, arrays)}) & URL_COLUMNS)
    if is_row:
        arrays = {each for each in arrays if _holds_rows(file, each)}
    if "{}" in file.json_paths and file.suffix not in _LINES and (arrays or not is_row):
        yield from _read_object(text, arrays, is_row=is_row)
    for value in text.values():
        yield from guessed_in(value)


def _read_object(text: JsonText, arrays: Collection[str], *, is_row: bool) -> Iterator[Bookmark]:
    """Read an object that contains rows, streaming the items of its arrays.

    Args:
        text: the text, at the start of the object.
        arrays: the names of the arrays.
        is_row: the object has an address itself, so its other members form one row.
    """
    fields: dict[str, Any] = {}
    for name, value in text.members(*arrays):
        if isinstance(value, Bookmark):
            yield value
        elif is_row and name not in arrays:
            fields[name] = value
        else:
            yield from guessed_in(value, (name,) if isinstance(value, list) else ())
    if fields:
        yield from guessed_in(fields)


def _holds_rows(file: SourceFile, array: str) -> bool:
    """Return whether an array in an object with its own address is a list of links."""
    fields = {
        plain_name(each.removeprefix(f"{array}[]."))
        for each in file.json_paths
        if each.startswith(f"{array}[].")
    }
    has_titles = fields & URL_COLUMNS and not fields.isdisjoint(TITLES)
    return "rel" not in fields and (has_titles or plain_name(array) in CONTAINERS)


ANY_JSON = Importer(
    "JSON",
    lambda file: bool(file.json_paths) or (file.is_text and file.suffix in ("json", *_LINES)),
    _read_json,
    ("json", "jsonl", "ndjson"),
    marked("any JSON or JSON Lines file with URLs; fields are recognised by name"),
)


# CSV and TSV of unknown structure: columns are assigned by their names, or by the user.

MAX_SAMPLED_ROWS = 200
"""Rows from which the columns of a table without a header are guessed."""
_MIN_SHARE = 0.6
_LONGEST_TAGS = 60
_WEB_ADDRESS = re.compile(r"https?://", re.IGNORECASE)
_SENTENCE = re.compile(r"[.!?] ")
_MAYBE_ADDRESS = re.compile(r"://|[^\W_]\.[^\W\d_]{2}")
_SINGLE = frozenset({*ColumnRole} - {ColumnRole.KEEP, ColumnRole.TAGS, ColumnRole.FOLDER})


def file_columns(file: SourceFile) -> dict[str, ColumnRole]:
    """Return the roles of a table's columns, by column name.

    Roles that the user did not choose are guessed from the column names. If the table has no
    header, they are guessed from the cells.
    """
    header = file.table.header if file.table else ()
    if not header:
        return _columns_by_content(file) | dict(file.columns_as)
    chosen = {name: role for name, role in file.columns_as.items() if name in header}
    used = {*chosen.values()} & _SINGLE
    by_name = {
        name: ColumnRole.KEEP if role in used else role
        for name, role in guessed_columns(header).items()
    }
    return by_name | chosen


def _columns_by_content(file: SourceFile) -> dict[str, ColumnRole]:
    """Return the roles of the columns of a table without a header, by their first cells."""
    delimiter = file.table.delimiter if file.table else ","
    lines = file.text.splitlines(keepends=True)[:MAX_SAMPLED_ROWS]
    columns: dict[str, list[str]] = {}
    for row in csv.reader(lines, delimiter=delimiter):
        for number, cell in enumerate(row[:MAX_COLUMNS], 1):
            columns.setdefault(f"column {number}", []).append(cell.strip())
    roles: dict[str, ColumnRole] = {}
    for name, cells in columns.items():
        role = _role_of([each for each in cells if each], {*roles.values()})
        roles[name] = ColumnRole.KEEP if role in roles.values() else role
    return roles


def _role_of(cells: Sequence[str], used: Collection[ColumnRole]) -> ColumnRole:
    """Guess the role of a column from its cells.

    ``used`` are the roles of the columns before it. The first column of text is the title.
    """

    def share(matches: Callable[[str], object]) -> float:
        return sum(bool(matches(each)) for each in cells) / len(cells) if cells else 0.0

    if share(_WEB_ADDRESS.match) > _MIN_SHARE:
        return ColumnRole.URL
    if share(parse_date) > _MIN_SHARE:
        return ColumnRole.DATE
    if not cells or share(str.isdecimal) > _MIN_SHARE:
        return ColumnRole.KEEP
    if ColumnRole.TITLE not in used:
        return ColumnRole.TITLE
    is_long = sum(map(len, cells)) / len(cells) > _LONGEST_TAGS or share(_SENTENCE.search)
    return ColumnRole.NOTE if is_long else ColumnRole.TAGS


def may_have_addresses(file: SourceFile) -> bool:
    """Return whether a column name or an early cell suggests addresses."""
    header = file.table.header if file.table else ()
    return bool(address_columns(header)) or _MAYBE_ADDRESS.search(file.text) is not None


def _read_table(file: SourceFile) -> Iterator[Bookmark]:
    has_header = bool(file.table and file.table.header)
    by_name = has_header and not file.columns_as
    read = guessed if by_name else partial(by_roles, roles=file_columns(file))
    for row in table_rows(file):
        if isinstance(row, Bookmark):
            yield row
        else:
            yield read(row) or unreadable(", ".join(row.values()), NO_ADDRESS)


ANY_TABLE = Importer(
    "CSV",
    lambda file: file.table is not None,
    _read_table,
    ("csv", "tsv"),
    marked("any table with a column of URLs; other columns are recognised by name"),
)


# XML of unknown structure: every address in an attribute or element text.

_ADDRESS = re.compile(r"\s*+(https?://[^\s<>\"]{3,})\s*+", re.IGNORECASE)
_TITLES = ("title", "name", "text", "description")
_NOT_LINKS = frozenset({"schemalocation", "nonamespaceschemalocation", "xmlns"})


def _read_xml(file: SourceFile) -> Iterator[Bookmark]:
    title = ""
    for element in elements(file):
        if not element.is_end:
            for name, value in element.attributes.items():
                if name not in _NOT_LINKS and (match := _ADDRESS.fullmatch(value)):
                    named = next(filter(None, map(element.attributes.get, _TITLES)), "")
                    yield Bookmark(Annotation(match[1][:MAX_URL], title=named or ""))
        elif element.name in _TITLES:
            title = " ".join(element.text[:10_000].split())
        elif match := _ADDRESS.fullmatch(element.text[: MAX_URL + 100]):
            yield Bookmark(Annotation(match[1][:MAX_URL], title=title))
            title = ""


ANY_XML = Importer("XML", is_xml_file, _read_xml, ("xml",), marked("any XML with URLs"))
