"""CSV and TSV of a kind nobody knows: columns are told by their names, or by a person."""

import re
from collections.abc import Iterator
from functools import partial

from archiver.formats.column_words import address_columns
from archiver.formats.given_file import GivenFile
from archiver.formats.guessing import by_roles, guessed, guessed_columns
from archiver.formats.importer import Importer
from archiver.formats.tables import table_rows
from archiver.model.bookmark import Bookmark, unreadable
from archiver.model.choices import ColumnRole
from archiver.model.message import marked
from archiver.model.row_problems import NO_ADDRESS

_MAYBE_ADDRESS = re.compile(r"://|[^\W_]\.[^\W\d_]{2}")
_SINGLE = frozenset({*ColumnRole} - {ColumnRole.KEEP, ColumnRole.TAGS, ColumnRole.FOLDER})


def file_columns(file: GivenFile) -> dict[str, ColumnRole]:
    """What the columns of a table are taken for: as a person says, else by their names."""
    header = file.table.header if file.table else ()
    chosen = {name: role for name, role in file.columns_as.items() if name in header or not header}
    taken = {*chosen.values()} & _SINGLE
    by_name = {
        name: ColumnRole.KEEP if role in taken else role
        for name, role in guessed_columns(header).items()
    }
    return by_name | chosen


def may_have_addresses(file: GivenFile) -> bool:
    """Whether a column is called as one of addresses is, or anything at its start may be one."""
    header = file.table.header if file.table else ()
    return bool(address_columns(header)) or _MAYBE_ADDRESS.search(file.text) is not None


def _read(file: GivenFile) -> Iterator[Bookmark]:
    read = partial(by_roles, roles=file_columns(file)) if file.columns_as else guessed
    for row in table_rows(file):
        if isinstance(row, Bookmark):
            yield row
        else:
            yield read(row) or unreadable(", ".join(row.values()), NO_ADDRESS)


ANY_TABLE = Importer(
    "CSV",
    lambda file: file.table is not None,
    _read,
    ("csv", "tsv"),
    marked("any table with a column of addresses, its other columns told by their names"),
)
