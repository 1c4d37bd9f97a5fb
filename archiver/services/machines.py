"""Who works an archive: the processes that write, by machine, and machines that are lost."""

import asyncio
from dataclasses import dataclass
from datetime import UTC, datetime

from archiver.errors import InputError, NotFound
from archiver.index import lost, segments, writers
from archiver.index.database import Database
from archiver.index.segments import Unsealed
from archiver.index.writers import Writer
from archiver.ledger.burying import bury
from archiver.ledger.interrupted_imports import settle_interrupted
from archiver.model.failure import Failure, FailureKind
from archiver.store.segments import SegmentStore

_WAS_LOST = "It was lost with the machine {}, before it was uploaded. Save it again."


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What a machine took along.

    Attributes:
        segments: which of its segments are in no store.
        snapshots: how many that were in them.
        entries: how many of their entries have no other.
    """

    segments: tuple[str, ...]
    snapshots: int
    entries: int


class Machines:
    """The machines at a shared index; an index in a file has none but this."""

    def __init__(self, db: Database, store: SegmentStore) -> None:
        self._db = db
        self._store = store

    @property
    def own(self) -> str:
        """The name of this machine; empty where no other can be."""
        return self._db.machine or ""

    async def processes(self) -> list[Writer]:
        """The processes that write, of every machine, by machine."""
        async with self._db.read() as conn:
            return [*await writers.all_writers(conn)]

    async def unsealed(self) -> list[Unsealed]:
        """The segments that would be lost with a machine, by machine, the oldest first."""
        async with self._db.read() as conn:
            return await segments.unsealed(conn)

    async def forget(self, name: str) -> Forgotten:
        """Give a machine up for good: others do its jobs, and what only it had is told as lost.

        Raises:
            InputError: it is this one, or gives signs of life.
            NotFound: nothing is known of it.
            StoreError: the store can't be listed, so nobody knows what is lost.
        """
        await self._give_up(name)
        await settle_interrupted(self._db, self._store.lock)
        survey = await asyncio.to_thread(self._store.shelf.survey)
        there = {*(each.name for each in survey.segments), *survey.superseded}
        why = Failure(FailureKind.LOST, _WAS_LOST.format(name))
        async with self._db.write() as conn:
            noted = await segments.of_machine(conn, name)
            await segments.lie_at(conn, noted & there, None)
            gone = await lost.lose(conn, noted - there, why, datetime.now(UTC))
        return Forgotten(tuple(sorted(noted - there)), gone.snapshots, gone.entries)

    async def _give_up(self, name: str) -> None:
        """Take the rows of a machine's processes away, with what they held."""
        if name == self.own:
            raise InputError("This is that machine. Ask on another one.")
        processes = [each for each in await self.processes() if each.machine == name]
        if any(not each.is_overdue for each in processes):
            raise InputError(
                "{machine} gives signs of life, or did so a moment ago. Stop it first, and try "
                "again in a minute.",
                machine=name,
            )
        if not processes and all(each.machine != name for each in await self.unsealed()):
            raise NotFound(
                "Nothing of a machine {machine} is left. `archiver machines` lists those that "
                "write, and `archiver machines --unsealed` what would be lost with each.",
                machine=name,
            )
        for each in processes:
            await bury(self._db, each)
