"""Capturing again: what lacks something, what needs a browser, and what was kept badly."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from http import HTTPStatus

from archiver.errors import StoreError
from archiver.index import entries, scores, snapshots
from archiver.index.database import Database
from archiver.ledger.snapshot_records import read_snapshot_record
from archiver.services.entries import Entries
from archiver.store.segments import SegmentStore
from archiver.warc.entry_record import SnapshotRecord

STRETCH = 1_000
GONE = (HTTPStatus.NOT_FOUND, HTTPStatus.GONE)
UNASKED = ""
"""Their source: nobody named these pages now, so what a feed brought stays a feed's."""


class Recapturing:
    """Puts entries into the queue again, all that something is wrong with."""

    def __init__(self, db: Database, store: SegmentStore, to_save: Entries) -> None:
        self._db = db
        self._store = store
        self._entries = to_save

    async def gaps(self) -> tuple[int, int]:
        """Queue entries whose newest snapshot lacks something; how many, and how many were not.

        Where all of that was gone (404 or 410) in the last two snapshots, there is little hope.
        """
        queued = gone = 0
        async for hopeful, hopeless in self._with_gaps():
            if hopeful:
                await self._entries.save(hopeful, source=UNASKED)
            queued, gone = queued + len(hopeful), gone + hopeless
        return queued, gone

    async def unrendered(self) -> int:
        """Queue entries whose page needs a browser that showed none; how many."""
        queued, found = 0, {0: ""}
        while found:
            async with self._db.read() as conn:
                found = await entries.unrendered(conn, after=max(found), limit=STRETCH)
            if found:
                await self._entries.save([*found.values()], source=UNASKED, render=True)
            queued += len(found)
        return queued

    async def below(self, score: int, *, render: bool) -> int:
        """Queue entries whose newest snapshot was kept worse than that, the worst first; how many.

        Args:
            score: in percent.
            render: whether a browser is to show them this time: a step up.
        """
        queued, after = 0, (-1, 0)
        while True:
            async with self._db.read() as conn:
                found = await scores.below(conn, score, after=after, limit=STRETCH)
            if not found:
                return queued
            after = found[-1].place
            await self._entries.save([each.url for each in found], source=UNASKED, render=render)
            queued += len(found)

    async def _with_gaps(self) -> AsyncIterator[tuple[list[str], int]]:
        """URLs that there is hope for, and how many others there are, a stretch at a time."""
        after = 0
        while True:
            async with self._db.read() as conn:
                found, after = await entries.with_gaps(conn, after=after, limit=STRETCH)
                held = {each: await snapshots.of_entry(conn, each, limit=2) for each in found}
            if not found:
                return
            hopeless = await asyncio.to_thread(self._hopeless, held)
            yield [each.url for n, each in found.items() if n not in hopeless], len(hopeless)

    def _hopeless(self, held: dict[int, list[snapshots.Held]]) -> set[int]:
        return {number for number, each in held.items() if self._is_hopeless(each)}

    def _is_hopeless(self, held: Sequence[snapshots.Held]) -> bool:
        with suppress(StoreError):
            lost = [_lost(read_snapshot_record(self._store, each.record)) for each in held]
            return (
                len(lost) > 1
                and None not in lost[0].values()
                and lost[0].items() <= lost[1].items()
            )
        return False


def _lost(record: SnapshotRecord) -> dict[str, int | None]:
    """What a snapshot lacks: the status of each that is gone, None where it may come back."""
    return {
        each.url: each.status if each.status in GONE else None
        for each in record.requisites
        if each.is_missing
    }
