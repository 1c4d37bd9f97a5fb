"""Importers: one value for each kind of file, and the usual ones for rows."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from archiver.formats.given_file import GivenFile
from archiver.formats.json_values import JsonText
from archiver.formats.rows import Row, text_of
from archiver.formats.tables import table_rows
from archiver.model.bookmark import Bookmark, unreadable
from archiver.model.row_problems import NO_ADDRESS, NO_ROW

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
