"""Tables as rows: CSV and TSV (RFC 4180, and what producers make of it), by column names only."""

import csv
from collections.abc import Iterator

from archiver.formats.file_head import TableHead
from archiver.formats.given_file import GivenFile
from archiver.model.bookmark import Bookmark, broken
from archiver.model.row_problems import TABLE_ENDS, problem_of

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
