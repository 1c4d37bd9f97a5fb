"""CSV and TSV of a kind nobody knows: columns are told by their names, or by what is in them."""

from collections.abc import Iterator

from archiver.formats.given_file import GivenFile
from archiver.formats.guessing import NO_ADDRESS, guessed
from archiver.formats.importer import Importer
from archiver.formats.tables import table_rows
from archiver.model.bookmark import Bookmark, unreadable


def _read(file: GivenFile) -> Iterator[Bookmark]:
    for row in table_rows(file):
        if isinstance(row, Bookmark):
            yield row
        else:
            yield guessed(row) or unreadable(", ".join(row.values()), NO_ADDRESS)


ANY_TABLE = Importer(
    "CSV",
    lambda file: file.table is not None,
    _read,
    ("csv", "tsv"),
    "any table with a column of addresses, its other columns told by their names",
)
