"""Importers, and the usual ones for tables and JSON rows."""

import csv
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from archiver.formats.json_values import JsonText
from archiver.formats.rows import Row, text_of
from archiver.formats.source_file import GivenFile, TableHead
from archiver.model.imports import NO_ADDRESS, NO_ROW, TABLE_ENDS, problem_of
from archiver.model.seed import Bookmark, broken, unreadable

MOST_CELL = 8 << 20
"""Characters of one cell: some services export whole articles in them."""
MOST_COLUMNS = 500
_HINT = "sep="
Fields = dict[str, str]


def table_rows(file: GivenFile) -> Iterator[Fields | Bookmark]:
    """The rows of a table by column name; one that can't be read is a bookmark that says why.

    Cells beyond the header get the name of their place, such as ``column 7``; empty cells are left
    out.
    """
    table = file.table or TableHead(",", (), frozenset())
    csv.field_size_limit(MOST_CELL)
    rows = csv.reader(_lines(file), delimiter=table.delimiter)
    names = list(table.header[:MOST_COLUMNS])
    is_first = bool(names)
    try:
        for cells in rows:
            if not any(cells) or (is_first and cells[0].lower().startswith(_HINT)):
                continue
            if is_first:
                is_first = False
                continue
            row = cells[:MOST_COLUMNS]
            while len(names) < len(row):
                names.append(f"column {len(names) + 1}")
            yield {name: cell for name, cell in zip(names, row, strict=False) if cell}
    except csv.Error as error:
        yield broken(f"line {rows.line_num:,}", problem_of(TABLE_ENDS, error))


def _lines(file: GivenFile) -> Iterator[str]:
    """Lines with their ends; where no LF is, a CR ends one. One that never ends is cut."""
    only_cr = "\n" not in file.text and "\r" in file.text
    held: list[str] = []
    for chunk in file.chunks():
        text = chunk.replace("\r", "\n") if only_cr else chunk
        if "\n" in text:
            *lines, rest = "".join((*held, text)).split("\n")
            held = [rest]
            for line in lines:
                yield _line(line)
        else:
            held.append(text)
            if sum(map(len, held)) > 2 * MOST_CELL:
                yield _line("".join(held))
                held = []
    if held:
        yield _line("".join(held))


def _line(text: str) -> str:
    line = text.removesuffix("\r")
    return f"{line.replace(chr(13), ' ')}\n" if "\r" in line else f"{line}\n"


# What a reader of one kind of file offers: all that is known of a format stands in its line.


@dataclass(frozen=True, slots=True)
class Importer:
    """One kind of file.

    Attributes:
        name: what a person calls this kind of file, such as ``Netscape HTML``; marked for
            translation where it is more than names.
        recognises: whether a file is of this kind; looks at its head, reads nothing away.
        read: reads to the end, once: linear time, no error whatever the bytes. What can't be
            read is a bookmark with a ``problem``.
        suffixes: of such files, without the dot, for the dialog that chooses one.
        origin: who writes such files and where it is found there; empty if that needs no saying.
        says_all_tags: what it says of folders is among its tags where it is to be; their names
            are not made tags again.
    """

    name: str
    recognises: Callable[[GivenFile], bool]
    read: Callable[[GivenFile], Iterator[Bookmark]]
    suffixes: tuple[str, ...] = ()
    origin: str = ""
    says_all_tags: bool = False


# Importers of formats that are rows: all they have to say is what a row is.

ReadRow = Callable[[Row], Bookmark]
Fits = Callable[[GivenFile], bool]


def table_importer(name: str, fits: Fits, read_row: ReadRow, *, origin: str) -> Importer:
    """A format that is a table with a header."""

    def read(file: GivenFile) -> Iterator[Bookmark]:
        return bookmarks_of(table_rows(file), read_row)

    return Importer(name, lambda file: bool(file.columns) and fits(file), read, ("csv",), origin)


def json_importer(
    name: str, fits: Fits, read_row: ReadRow, *, origin: str, within: str = ""
) -> Importer:
    """A format that is objects one after another, or in the array ``within`` of one object."""

    def read(file: GivenFile) -> Iterator[Bookmark]:
        text = JsonText(file.chunks())
        if within and "{}" in file.json_paths:
            values: Iterator[Any] = (
                value for name, value in text.members(within) if name in (within, "")
            )
        else:
            values = text.values()
        return bookmarks_of(values, read_row)

    return Importer(
        name, lambda file: bool(file.json_paths) and fits(file), read, ("json",), origin
    )


def bookmarks_of(values: Iterator[Any], read_row: ReadRow) -> Iterator[Bookmark]:
    """The bookmarks of rows; what is no row, or holds no address, says so."""
    for value in values:
        if isinstance(value, Bookmark):
            yield value
        elif not isinstance(value, dict):
            yield unreadable(text_of(value), NO_ROW)
        else:
            found = read_row(Row(value))
            yield found if found.annotation.url_given else unreadable(_shown(value), NO_ADDRESS)


def has_columns(*names: str) -> Fits:
    """Whether a table has all of these columns, as ``rows.plain`` spells them."""
    wanted = frozenset(names)
    return lambda file: wanted <= file.columns


def has_paths(*paths: str) -> Fits:
    """Whether JSON has all of these paths."""
    wanted = frozenset(paths)
    return lambda file: wanted <= file.json_paths


def _shown(fields: dict[str, Any]) -> str:
    return ", ".join(filter(None, map(text_of, fields.values())))
