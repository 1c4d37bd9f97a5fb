"""Lists of entries in the forms that other programs read, streamed in the memory of a page."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import IO

from archiver.formats.list_writer import Heading, ListForm, ListWriter
from archiver.index import entries, snapshots
from archiver.index.database import Database
from archiver.model.exported import Exported
from archiver.services.export_plan import read_plan

PAGE = 100
"""Entries that are written at once: each may say half a megabyte."""
MOST_SNAPSHOTS = 1_000
"""Of one entry that are told of, the newest."""


@dataclass(frozen=True, slots=True)
class Written:
    """Some of a list: its text, how many lines of the plan are written with it, and a flag.

    ``is_end``: it is what comes behind the entries.
    """

    data: bytes
    done: int
    is_end: bool = False


class Lists:
    """Writes what a plan says."""

    def __init__(self, db: Database) -> None:
        self._db = db

    async def write(
        self, plan: IO[bytes], form: ListForm, heading: Heading, *, done: int | None = None
    ) -> AsyncGenerator[Written, None]:
        """A list from its beginning, or from behind what is written of it.

        Args:
            plan: as ``export_plan`` writes it.
            form: of the list.
            heading: what stands above it.
            done: how many lines of the plan are written already; None for not even the opening.
        """
        count = done or 0
        after = None if count == 0 else await _place_before(plan, count)
        writer = form.writer(heading, after)
        if done is None:
            yield Written(_encoded(writer.opening()), 0)
        async for some in read_plan(plan, start=count, count=PAGE):
            found = await self._exported([row for _, row in some], form)
            text = await asyncio.to_thread(_written, writer, some, found)
            count += len(some)
            yield Written(_encoded(text), count)
        yield Written(_encoded(writer.closing()), count, is_end=True)

    async def _exported(self, rows: Sequence[int], form: ListForm) -> dict[int, Exported]:
        async with self._db.read() as conn:
            found = await entries.by_ids(conn, rows)
            visited = [row for row, each in found.items() if each.snapshot_count]
            wanted = visited if form.has_snapshots else []
            held = await snapshots.of_entries(conn, wanted) if wanted else {}
        return {
            row: Exported(
                entry, tuple(each.snapshot for each in islice(held.get(row, ()), MOST_SNAPSHOTS))
            )
            for row, entry in found.items()
        }


async def _place_before(plan: IO[bytes], count: int) -> str:
    async for some in read_plan(plan, start=count - 1, count=1):
        return some[0][0]
    return ""


def _written(
    writer: ListWriter, some: Sequence[tuple[str, int]], found: dict[int, Exported]
) -> str:
    """What was thrown away meanwhile is passed over."""
    return "".join(writer.item(found[row], place) for place, row in some if row in found)


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "replace")
