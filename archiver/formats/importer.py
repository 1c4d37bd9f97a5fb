"""Importer of one file format, and factories of importers for tables and JSON."""

import csv
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from archiver.formats.json_values import JsonText
from archiver.formats.rows import Row, text_of
from archiver.formats.source_file import SourceFile, TableHead
from archiver.model.imports import NO_ADDRESS, NO_ROW, TABLE_ENDS, format_problem
from archiver.model.seed import Bookmark, broken, unreadable

MAX_CELL = 8 << 20
"""Maximum characters of one cell; some services export a whole article in a cell."""
MAX_COLUMNS = 500
_HINT = "sep="
Fields = dict[str, str]


def table_rows(file: SourceFile) -> Iterator[Fields | Bookmark]:
    """Yield each row of a table as a dictionary of its cells by column name.

    Cells beyond the header are named by position, such as ``column 7``; empty cells are omitted. If
    the rest of the table cannot be parsed, the last item is a bookmark with the problem.
    """
    table = file.table or TableHead(",", (), frozenset())
    csv.field_size_limit(MAX_CELL)
    rows = csv.reader(_lines(file), delimiter=table.delimiter)
    names = list(table.header[:MAX_COLUMNS])
    is_first = bool(names)
    try:
        for cells in rows:
            if not any(cells) or (is_first and cells[0].lower().startswith(_HINT)):
                continue
            if is_first:
                is_first = False
                continue
            row = cells[:MAX_COLUMNS]
            while len(names) < len(row):
                names.append(f"column {len(names) + 1}")
            yield {name: cell for name, cell in zip(names, row, strict=False) if cell}
    except csv.Error as error:
        yield broken(f"line {rows.line_num:,}", format_problem(TABLE_ENDS, error))


def _lines(file: SourceFile) -> Iterator[str]:
    """Yield lines, each ending in LF. In a file without LF, a CR ends a line.

    Overlong lines are split.
    """
    only_cr = "\n" not in file.text and "\r" in file.text
    parts: list[str] = []
    for chunk in file.chunks():
        text = chunk.replace("\r", "\n") if only_cr else chunk
        if "\n" in text:
            *lines, incomplete = "".join((*parts, text)).split("\n")
            parts = [incomplete]
            for line in lines:
                yield _line(line)
        else:
            parts.append(text)
            if sum(map(len, parts)) > 2 * MAX_CELL:
                yield _line("".join(parts))
                parts = []
    if parts:
        yield _line("".join(parts))


def _line(text: str) -> str:
    line = text.removesuffix("\r")
    return f"{line.replace(chr(13), ' ')}\n" if "\r" in line else f"{line}\n"


@dataclass(frozen=True, slots=True)
class Importer:
    """Importer of one format.

    Attributes:
        name: the name of the format for users, such as ``Netscape HTML``; marked for translation if
            it contains words.
        recognises: function that returns whether a file has this format; it reads only the head of
            the file.
        read: function that yields the bookmarks of a file in file order. It reads the file once, in
            linear time, and never raises an error for invalid bytes; an unreadable row becomes a
            bookmark with a ``problem``.
        suffixes: the file name suffixes without the dot, for the file dialog.
        origin: the programs that write such files and the menu path there; empty if obvious.
        tags_include_folders: whether the tags of a bookmark already include its folders, so that
            folder names are not added as tags.
        has_other_addresses: whether files of this format also contain addresses that are not
            bookmarks. If so, addresses that were not read are not reported as a problem.
    """

    name: str
    recognises: Callable[[SourceFile], bool]
    read: Callable[[SourceFile], Iterator[Bookmark]]
    suffixes: tuple[str, ...] = ()
    origin: str = ""
    tags_include_folders: bool = False
    has_other_addresses: bool = False


# Factories of importers; the caller supplies only the conversion of a row.

ReadRow = Callable[[Row], Bookmark]
Recognises = Callable[[SourceFile], bool]


def table_importer(
    name: str, recognises: Recognises, read_row: ReadRow, *, origin: str, **attributes: bool
) -> Importer:
    """Return the importer of a table with a header; ``attributes`` are its other fields."""
    return Importer(
        name,
        lambda file: bool(file.columns) and recognises(file),
        lambda file: bookmarks_of(table_rows(file), read_row),
        ("csv",),
        origin,
        **attributes,
    )


def json_importer(
    name: str,
    recognises: Recognises,
    read_row: ReadRow,
    *,
    origin: str,
    within: tuple[str, ...] = (),
    **attributes: bool,
) -> Importer:
    """Return the importer of JSON objects in an array, in JSON lines, or in arrays of an object.

    Args:
        name: the name of the format.
        recognises: function that returns whether a JSON file has this format.
        read_row: function that converts an object to a bookmark.
        origin: the programs that write this format.
        within: the names of arrays that contain the objects, if the file is one object.
        attributes: other attributes of the importer, by name.
    """

    def read(file: SourceFile) -> Iterator[Bookmark]:
        text = JsonText(file.chunks())
        if arrays := file.json_paths.intersection(within):
            values: Iterator[Any] = (
                value for name, value in text.members(*arrays) if name in {*arrays, ""}
            )
        else:
            values = text.values()
        return bookmarks_of(values, read_row)

    return Importer(
        name,
        lambda file: bool(file.json_paths) and recognises(file),
        read,
        ("json", "jsonl"),
        origin,
        **attributes,
    )


def bookmarks_of(values: Iterable[Any], read_row: ReadRow) -> Iterator[Bookmark]:
    """Convert rows to bookmarks.

    A row that is invalid or has no address becomes a bookmark with a ``problem``.
    """
    for value in values:
        if isinstance(value, Bookmark):
            yield value
        elif not isinstance(value, dict):
            yield unreadable(text_of(value), NO_ROW)
        else:
            bookmark = read_row(Row(value))
            yield (
                bookmark if bookmark.annotation.url_given else unreadable(_shown(value), NO_ADDRESS)
            )


def has_columns(*names: str) -> Recognises:
    """Return a function that tests whether a table has all columns ``names``.

    The names are in the form that ``rows.plain_name`` returns.
    """
    required = frozenset(names)
    return lambda file: required <= file.columns


def has_paths(*alternatives: str) -> Recognises:
    """Return a function that tests whether JSON has all paths of one of the alternatives.

    The paths in an alternative are separated by spaces, and have the form of
    ``SourceFile.json_paths``.
    """
    required = [frozenset(each.split()) for each in alternatives]
    return lambda file: any(each <= file.json_paths for each in required)


def _shown(fields: dict[str, Any]) -> str:
    return ", ".join(filter(None, map(text_of, fields.values())))
