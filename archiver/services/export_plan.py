"""Which entries a list is written of, in which order: noted down before the first is written.

The plan is a file of lines, an entry each, so that a list of any length takes no memory, and who
was interrupted goes on with the line behind the last. What happens to the archive meanwhile moves
nothing: an entry is written as it stands when its turn comes, or not at all if it is gone.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator
from itertools import islice
from typing import IO

from archiver.formats.list_writer import Order
from archiver.index import entries
from archiver.index.database import Database
from archiver.model.entry import Entry
from archiver.model.folder_path import folder_names, folder_path
from archiver.services.manifest import Selected, draw_up
from archiver.store.sorting import SortedLines

PAGE = 1000
_BETWEEN = "\0"
"""Sorts before whatever is in a name, so that a folder comes before those in it."""
_LAST = (1 << 63) - 1
"""The place of what has none in its list."""


async def write_plan(db: Database, selected: Selected, order: Order, file: IO[bytes]) -> int:
    """Note down what a list is written of; returns how many lines that is.

    Raises:
        InputError: the query is none.
    """
    rows = (await draw_up(db, selected)).entries
    with SortedLines() as lines:
        for start in range(0, len(rows), PAGE):
            some = rows[start : start + PAGE]
            if order is Order.SAVED:
                made = [_line("", row) for row in some]
            else:
                async with db.read() as conn:
                    found = await entries.by_ids(conn, some)
                made = [line for row, each in found.items() for line in _lines(order, row, each)]
            await asyncio.to_thread(lines.add_all, made)
        return await asyncio.to_thread(_copy, lines, order, file)


async def read_plan(
    file: IO[bytes], *, start: int, count: int
) -> AsyncIterator[list[tuple[str, int]]]:
    """Places and entries (row ids) of a plan behind the first ``start``, so many at a time."""
    file.seek(0)
    lines = islice(iter(file), start, None)
    while some := await asyncio.to_thread(lambda: list(islice(lines, count))):
        yield [_read(line) for line in some]


def entries_in(file: IO[bytes], count: int) -> int:
    """How many entries the first lines of a plan are of: one has a line for each of its lists.

    Blocking; takes a byte for each row of the index.
    """
    file.seek(0)
    seen = bytearray()
    for line in islice(file, count):
        row = _read(line)[1]
        seen.extend(bytes(max(row + 1 - len(seen), 0)))
        seen[row] = 1
    return sum(seen)


def _copy(lines: SortedLines, order: Order, file: IO[bytes]) -> int:
    """Write the lines; of a host the first alone."""
    count, last = 0, None
    for line in lines:
        place = _read(line)[0]
        if order is Order.HOSTS and place == last:
            continue
        file.write(line)
        count, last = count + 1, place
    file.flush()
    return count


def _lines(order: Order, row: int, entry: Entry) -> Iterator[bytes]:
    if order is Order.HOSTS:
        yield _line(entry.host, row)
    else:
        for folder, place in (entry.annotation.lists or {"": 0}).items():
            yield _line(_BETWEEN.join(folder_names(folder)), row, place or _LAST)


def _line(key: str, row: int, place: int = 0) -> bytes:
    return f"{key}{_BETWEEN}{_BETWEEN}{place:016x}{row:016x}\n".encode("utf-8", "replace")


def _read(line: bytes) -> tuple[str, int]:
    key, _, row = line.decode().rstrip("\n").rpartition(_BETWEEN * 2)
    return folder_path(key.split(_BETWEEN)), int(row[16:], 16)
