"""Machines that share an archive."""

import asyncio
from dataclasses import dataclass
from datetime import UTC, datetime

from archiver.db import record_locations, segment_rows
from archiver.db.engine import Database
from archiver.db.segment_rows import Unsealed
from archiver.db.worker_locks import Worker, all_workers
from archiver.errors import InputError, NotFound
from archiver.model.failure import Failure, FailureKind
from archiver.warc.segments import SegmentStore

_WAS_LOST = "It was lost with the machine {}, before it was uploaded. Save it again."


@dataclass(frozen=True, slots=True)
class Forgotten:
    """Losses with a machine.

    Attributes:
        segments: its segments that were not uploaded.
        snapshots: number of snapshots in them.
        entries: number of entries without another snapshot.
    """

    segments: tuple[str, ...]
    snapshots: int
    entries: int


class Machines:
    """Machines that share an index on a server; none with SQLite."""

    def __init__(self, db: Database, store: SegmentStore) -> None:
        self._db = db
        self._store = store

    @property
    def own(self) -> str:
        """Name of this machine; empty with SQLite."""
        return self._db.machine or ""

    async def workers(self) -> list[Worker]:
        """Return the workers that are alive, of all machines."""
        if not self._db.is_shared:
            return []
        async with self._db.read() as conn:
            return await all_workers(conn)

    async def unsealed(self) -> list[Unsealed]:
        """Return the segments that are not uploaded yet, by machine, the oldest first."""
        async with self._db.read() as conn:
            return await segment_rows.unsealed(conn)

    async def forget(self, name: str) -> Forgotten:
        """Remove a machine: record for each entry which of its snapshots were lost.

        Raises:
            InputError: it is this machine, or one of its workers is alive.
            NotFound: no worker and no segment of this machine is known.
            StoreError: the object store can't be listed.
        """
        if name == self.own:
            raise InputError("This is that machine. Run the command on another one.")
        if any(each.machine == name for each in await self.workers()):
            raise InputError(
                "{machine} is still running. Stop it and try again in a minute.", machine=name
            )
        if all(each.machine != name for each in await self.unsealed()):
            raise NotFound(
                "No segment of a machine {machine} waits to be uploaded. Run `archiver machines "
                "--unsealed` to list waiting segments and their machines.",
                machine=name,
            )
        survey = await asyncio.to_thread(self._store.storage.survey)
        there = {*(each.name for each in survey.segments), *survey.superseded}
        why = Failure(FailureKind.LOST, _WAS_LOST.format(name))
        async with self._db.write() as conn:
            noted = await segment_rows.of_machine(conn, name)
            await segment_rows.set_machine(conn, noted & there, None)
            gone = await record_locations.lose(conn, noted - there, why, datetime.now(UTC))
        return Forgotten(tuple(sorted(noted - there)), gone.snapshots, gone.entries)
