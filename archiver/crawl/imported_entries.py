"""Import of entries without a snapshot from other archives.

A failure is stored as a failed attempt, and the recorder writes a record of it. A failure that is
older than the entry's last attempt is ignored. Entries with a pending attempt are queued. If an
entry exists already, the user metadata is merged into it.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from datetime import UTC, datetime
from itertools import chain

from archiver.crawl.context import CrawlContext
from archiver.crawl.visit_result import VisitResult
from archiver.db import attempts, entries, new_entries
from archiver.errors import ArchiverError
from archiver.formats.archive_records import ForeignEntryRecord
from archiver.formats.seeds import bounded
from archiver.http.text_decoders import well_formed
from archiver.http.timestamps import to_timestamp
from archiver.http.urls import hash_url, host, parse_entry_url
from archiver.model.capture import HashUrl
from archiver.model.failure import Failure
from archiver.model.imports import CaptureWhen, RecordCounts
from archiver.model.job import Attempt, EntryRef, State
from archiver.model.seed import RevisedSeed, SaveOutcome, Seed
from archiver.warc.metadata_records import EntryRecord, read_entry_record
from archiver.warc.temporary_lines import SortedLines

MAX_MESSAGE = 2000
_HTTP_STATUSES = range(100, 1000)


class SpooledEntries(ExitStack):
    """Entry records without snapshots in a file, stored on disk until the whole file is read."""

    def __init__(self) -> None:
        super().__init__()
        self._waiting, self._failed, self._annotated = (
            self.enter_context(SortedLines()) for _ in range(3)
        )

    def add(self, record: ForeignEntryRecord) -> None:
        """Store an entry record without a snapshot; ignore all other records."""
        with suppress(ArchiverError):
            entry_record = read_entry_record(record.block)
            if entry_record and not entry_record.snapshot:
                timestamp = to_timestamp(entry_record.at)
                line = f"{timestamp} {json.dumps(json.loads(record.block))}\n".encode()
                if entry_record.is_waiting:
                    self._waiting.add(line)
                else:
                    (self._failed if entry_record.failure else self._annotated).add(line)

    def read(self) -> Iterator[EntryRecord]:
        """Yield pending, then failed, then other entries; oldest first in each group. Blocking."""
        for line in chain(self._waiting, self._failed, self._annotated):
            with suppress(ArchiverError, ValueError):
                entry_record = read_entry_record(line.partition(b" ")[2])
                if entry_record:
                    yield _bounded(entry_record)


class EntryImporter:
    """Importer of entries without snapshots.

    ``context`` must have a running recorder that only this import uses.
    """

    def __init__(self, context: CrawlContext, import_id: int) -> None:
        self._context = context
        self._import_id = import_id

    async def take(self, batch: Sequence[EntryRecord]) -> RecordCounts:
        """Import a batch of entries; return once they are durable."""
        queued = await self._receive([_seed(each) for each in batch if each.is_waiting])
        failed = await self._fail([each for each in batch if each.failure and not each.is_waiting])
        links = [_seed(each) for each in batch if each.is_link]
        await self._receive(links, CaptureWhen.NEVER)
        await self._annotate([each for each in batch if not (each.failure or each.is_waiting)])
        return RecordCounts(failed=failed, queued=queued)

    async def _fail(self, batch: Sequence[EntryRecord]) -> int:
        """Store failures as attempts; return the number of new entries."""
        if not batch:
            return 0
        async with self._context.db.read() as conn:
            before = await entries.states_of(conn, _keys(batch))
        async with self._context.db.write() as conn:
            ids = await new_entries.ensure_revised(conn, [*map(_revised_seed, batch)])
            later = _later(batch, ids, await attempts.of_entries(conn, [*ids.values()]))
            waits = {ids[key] for key, state in before.items() if state is State.QUEUED}
            failures = [(each.entry.id, each.at, each.failure) for each in later if each.failure]
            await attempts.insert_attempts(
                conn, [each for each in failures if each[0] in waits], skip_stored=True
            )
        final = [each for each in later if each.entry.id not in waits]
        for done in [await self._context.recorder.end(each) for each in final]:
            await done
        return len(ids.keys() - before.keys())

    async def _receive(self, seeds: Sequence[Seed], capture: CaptureWhen = CaptureWhen.NOW) -> int:
        """Store entries to be captured, or as links; return the number of new entries."""
        if not seeds:
            return 0
        now, number = datetime.now(UTC), self._import_id
        async with self._context.db.write() as conn:
            received = await new_entries.receive(
                conn, seeds, now=now, recapture=False, import_id=number, capture=capture
            )
        return sum(each.outcome is SaveOutcome.ADDED for each in received)

    async def _annotate(self, batch: Sequence[EntryRecord]) -> None:
        """Store metadata of entries; an entry whose snapshots the file lacks becomes a link."""
        async with self._context.db.read() as conn:
            existing = await entries.states_of(conn, _keys(batch))
        links = [_seed(each) for each in batch if each.hash_url not in existing]
        await self._receive(links, CaptureWhen.NEVER)
        revised_seeds = [_revised_seed(each) for each in batch if each.hash_url in existing]
        if revised_seeds:
            async with self._context.db.write() as conn:
                await new_entries.ensure_revised(conn, revised_seeds)


def _keys(batch: Sequence[EntryRecord]) -> list[HashUrl]:
    return [each.hash_url for each in batch]


def _later(
    batch: Sequence[EntryRecord],
    ids: Mapping[HashUrl, int],
    done: Mapping[int, Sequence[Attempt]],
) -> list[VisitResult]:
    """Return visit results for failures that are later than the last attempt of their entry."""
    latest = {entry_id: attempts_made[-1].at for entry_id, attempts_made in done.items()}
    later = {}
    for each in batch:
        entry = EntryRef(ids[each.hash_url], each.hash_url, each.url, host(each.url))
        if entry.id not in latest or each.at > latest[entry.id]:
            later[entry, each.at, each.failure] = VisitResult(entry, each.at, failure=each.failure)
    return [*later.values()]


def _seed(record: EntryRecord) -> Seed:
    return Seed(record.hash_url, record.url, host(record.url), record.annotation)


def _revised_seed(record: EntryRecord) -> RevisedSeed:
    return RevisedSeed(_seed(record), record.revision)


def _bounded(record: EntryRecord) -> EntryRecord:
    """Recompute the identity of an untrusted record's entry, and limit all values."""
    url = parse_entry_url(record.url)
    return replace(
        record,
        hash_url=hash_url(url),
        url=url,
        annotation=bounded(record.annotation).dated(record.at),
        failure=_bounded_failure(record.failure) if record.failure else None,
    )


def _bounded_failure(failure: Failure) -> Failure:
    status = failure.status if failure.status in _HTTP_STATUSES else None
    return Failure(failure.kind, well_formed(failure.message[:MAX_MESSAGE]), status)
