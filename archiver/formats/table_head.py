"""The header of a table (CSV, TSV): what it is separated by, and what its columns are called."""

import csv
from dataclasses import dataclass

from archiver.formats.column_words import URL_COLUMNS
from archiver.formats.rows import plain

DELIMITERS = (",", ";", "\t", "|")
_HINT = "sep="
_SUFFIXES = ("csv", "tsv", "tab")


@dataclass(frozen=True, slots=True)
class TableHead:
    """What a table looks like.

    Attributes:
        delimiter: between its cells.
        header: the cells of its first line, as it spells them; empty if that is a row already.
        columns: the same, as ``rows.plain`` spells them.
    """

    delimiter: str
    header: tuple[str, ...]
    columns: frozenset[str]


def table_head(head: str, suffix: str) -> TableHead | None:
    """What a text looks like as a table; None if it seems to be none."""
    text = head.lstrip("\ufeff \r\n")
    if text[: len(_HINT)].lower() == _HINT:
        text = text.partition("\n")[2]
    found = [(delimiter, _first_cells(text, delimiter)) for delimiter in DELIMITERS]
    for delimiter, cells in found:
        columns = frozenset(map(plain, cells))
        if len(cells) > 1 and columns & URL_COLUMNS and not _has_address(cells):
            return TableHead(delimiter, tuple(cells), columns)
    if suffix not in _SUFFIXES:
        return None
    delimiter, cells = max(found, key=lambda each: len(each[1]))
    if len(cells) < 2:
        return None
    if _has_address(cells):
        return TableHead(delimiter, (), frozenset())
    return TableHead(delimiter, tuple(cells), frozenset(map(plain, cells)))


def _first_cells(text: str, delimiter: str) -> list[str]:
    try:
        return next(csv.reader(text[: 1 << 14].splitlines(keepends=True), delimiter=delimiter), [])
    except csv.Error:
        return []


def _has_address(cells: list[str]) -> bool:
    return any("://" in cell for cell in cells)
