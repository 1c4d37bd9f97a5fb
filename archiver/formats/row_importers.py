"""Importers of formats that are rows: all they have to say is what a row is."""

from collections.abc import Callable, Iterator
from typing import Any

from archiver.formats.given_file import GivenFile
from archiver.formats.importer import Importer
from archiver.formats.json_values import JsonText
from archiver.formats.rows import Row, text_of
from archiver.formats.tables import table_rows
from archiver.model.bookmark import Bookmark, unreadable
from archiver.model.row_problems import NO_ADDRESS, NO_ROW

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
