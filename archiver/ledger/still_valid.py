"""Which records of a rebuilding still hold: those of what was thrown away, or is kept, do not."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import timedelta

from archiver.index import captures, jobs, tombstones
from archiver.index.database import AsyncConnection
from archiver.ledger.late_visits import LateVisit
from archiver.ledger.rows import needs_of
from archiver.model.capture import Location, RecordId
from archiver.urls.parse import hash_url
from archiver.warc.entry_record import EntryRecord, SnapshotRecord

CAPTURES_AT_ONCE = 500
Placed = tuple[EntryRecord, Location]


async def parted(conn: AsyncConnection, read: list[Placed]) -> tuple[list[Placed], list[LateVisit]]:
    """Entry records without those of what was thrown away, and the visits that came too late."""
    keys = {entry_record.hash_url for entry_record, _ in read}
    generations = await tombstones.generations(conn, keys)
    snapshots = await tombstones.snapshots(conn, keys)
    kept, late = [], []
    for entry_record, place in read:
        key, snapshot = entry_record.hash_url, entry_record.snapshot
        is_known = snapshot is not None and (
            (key, snapshot.timestamp, snapshot.capture_record) in snapshots
        )
        if entry_record.generation > generations.get(key, -1):
            bare = replace(entry_record, snapshot=None) if is_known else entry_record
            kept.append((bare, place))
        elif snapshot and not is_known:
            late.append(_late_visit(entry_record, snapshot))
    return kept, late


async def once_each(
    conn: AsyncConnection, read: list[Placed], *, unheard: timedelta
) -> tuple[list[Placed], list[LateVisit]]:
    """Entry records without the visits of jobs that were given back, and ended by another; those.

    Both were fetched, since neither process knew of the other. One of them is enough.

    Args:
        conn: a connection.
        read: entry records.
        unheard: for how long after the end of a job its holder may not have heard of that.
    """
    visits = [(each.hash_url, each.snapshot.timestamp) for each, _ in read if each.snapshot]
    late = await jobs.superseded(conn, visits, unheard=unheard) if visits else set()
    kept, again = [], []
    for each, place in read:
        if each.snapshot and (each.hash_url, each.snapshot.timestamp) in late:
            kept.append((replace(each, snapshot=None), place))
            again.append(_late_visit(each, each.snapshot))
        else:
            kept.append((each, place))
    return kept, again


async def left_open(conn: AsyncConnection, row: int, *, unheard: timedelta) -> list[LateVisit]:
    """Captures after a row that no visit came to use, of jobs that another visit ended.

    ``unheard``: as ``once_each`` has it.
    """
    late = list[LateVisit]()
    while True:
        made, row = await captures.since(conn, row, limit=CAPTURES_AT_ONCE)
        if not made:
            return late
        found = {(hash_url(each.url), each.timestamp): each for each in made}
        late += [
            LateVisit(key, moment, found[key, moment].record_id, (found[key, moment].url,))
            for key, moment in sorted(await jobs.superseded(conn, [*found], unheard=unheard))
        ]


def _late_visit(entry_record: EntryRecord, snapshot: SnapshotRecord) -> LateVisit:
    return LateVisit(
        entry_record.hash_url,
        snapshot.timestamp,
        snapshot.capture_record,
        needs_of(entry_record.url, snapshot.capture_url, snapshot.requisites),
        snapshot.answers,
    )


async def snapshots_of(conn: AsyncConnection, group: Sequence[Placed]) -> list[SnapshotRecord]:
    """The snapshots of entry records, each of which has one, with the articles that are theirs."""
    own = await tombstones.own_articles(conn, [entry_record.hash_url for entry_record, _ in group])
    return [
        _with_own(each, own.get((entry_record.hash_url, each.timestamp)))
        for entry_record, _ in group
        if (each := entry_record.snapshot)
    ]


def _with_own(kept: SnapshotRecord, article: RecordId | None) -> SnapshotRecord:
    """A snapshot with its own article, where its record names a snapshot's that is gone."""
    if article is None or not kept.article_of:
        return kept
    return replace(kept, article=article or None, article_of=None)


def apart(read: list[Placed]) -> Iterator[list[Placed]]:
    """Stretches in which no entry is spoken of twice, so that each can be restored at once."""
    group: list[Placed] = []
    seen: set[str] = set()
    for entry_record, place in read:
        if entry_record.hash_url in seen:
            yield group
            group, seen = [], set()
        seen.add(entry_record.hash_url)
        group.append((entry_record, place))
    if group:
        yield group
