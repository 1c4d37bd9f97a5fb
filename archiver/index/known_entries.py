"""What is known of the addresses of seeds before these are taken in, or only looked at."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import Row, select
from sqlalchemy.ext.asyncio import AsyncConnection

from archiver.formats.own_document import has_held, without_held
from archiver.index import annotations, labels
from archiver.index.bulk import among, among_texts
from archiver.index.schema import entry, job
from archiver.model.annotation import merged_all
from archiver.model.choices import CaptureWhen
from archiver.model.job import State
from archiver.model.seed import Reception, Seed

KnownRow = Row[*tuple[Any, ...]]
_COLUMNS = (
    entry.c.id,
    entry.c.hash_url,
    *annotations.COLUMNS.values(),
    entry.c.state,
    entry.c.snapshot_count,
    entry.c.revision,
    entry.c.brought_by,
)


async def of_keys(conn: AsyncConnection, keys: Sequence[str]) -> dict[str, KnownRow]:
    """Entries by hash_url, with what is said of each."""
    rows = await conn.execute(select(*_COLUMNS).where(entry.c.hash_url.in_(among_texts(keys))))
    return {row.hash_url: row for row in rows}


async def added_at_of(conn: AsyncConnection, entry_ids: Sequence[int]) -> dict[int, int]:
    """When entries were saved (Unix seconds), by row id."""
    if not entry_ids:
        return {}
    mine = entry.c.id.in_(among(entry_ids))
    return dict((await conn.execute(select(entry.c.id, entry.c.added_at).where(mine))).all())


async def open_jobs(conn: AsyncConnection, entry_ids: Sequence[int]) -> dict[int, int]:
    """Jobs of entries that are not done yet."""
    rows = await conn.execute(
        select(job.c.entry_id, job.c.id).where(
            job.c.entry_id.in_(among(entry_ids)), job.c.state.in_([State.QUEUED, State.FETCHING])
        )
    )
    return dict(rows.all())


def each_once(seeds: Sequence[Seed]) -> dict[str, Seed]:
    """Seeds by hash_url, those of one entry merged."""
    alike: dict[str, list[Seed]] = {}
    for seed in seeds:
        alike.setdefault(seed.hash_url, []).append(seed)
    return {key: _as_one(some) for key, some in alike.items()}


def as_it_adds(seeds: Mapping[str, Seed], known: Mapping[str, KnownRow]) -> dict[str, Seed]:
    """Seeds without what another archive held of their pages, where something is known of those.

    Else our own JSON would be told of what it was made of, and anew with each that is made later.
    """
    return {
        key: _without_held(seed) if key in known and _is_known_of(known[key]) else seed
        for key, seed in seeds.items()
    }


def finished(known: Iterable[KnownRow], *, recapture: bool, is_of_import: bool) -> set[int]:
    """Entries that get no job: those with snapshots, and for a file those that failed, too.

    Who gives the same file again changes nothing by that; there is *try again* for failures.
    """
    return {
        row.id
        for row in known
        if (row.snapshot_count and not recapture)
        or (is_of_import and not recapture and row.state == State.FAILED)
    }


async def foreseen(
    conn: AsyncConnection, seeds: Sequence[Seed], *, capture: CaptureWhen
) -> dict[str, Reception]:
    """How the rows of a file would be received of whose entries something is known, by hash_url.

    Writes nothing. ``capture`` is as ``seeds.receive`` takes it.
    """
    unique = each_once(seeds)
    known = await of_keys(conn, [*unique])
    added = as_it_adds(unique, known)
    carried = await labels.of_entries(conn, [row.id for row in known.values()])
    stays = finished(known.values(), recapture=False, is_of_import=True)
    stays |= (await open_jobs(conn, [*carried])).keys()
    found = {}
    for key, row in known.items():
        found[key] = (
            Reception.MERGED if _adds(added[key], row, carried[row.id]) else Reception.KNOWN
        )
        if row.id not in stays and capture is not CaptureWhen.NEVER:
            found[key] = Reception.ADDED
    return found


def _adds(seed: Seed, row: KnownRow, carried: labels.Labels) -> bool:
    """Whether a seed says more than is known."""
    before = annotations.of_row(row, carried)
    after = before.merged(seed.annotation)
    if annotations.changes(before, after):
        return True
    return bool({*after.tags} - {*before.tags} or {*after.folders} - {*before.folders})


def _is_known_of(row: KnownRow) -> bool:
    is_bare = row.state == State.QUEUED and not row.snapshot_count
    return not is_bare or has_held(row.source_record)


def _without_held(seed: Seed) -> Seed:
    record = seed.annotation.source_record
    if not has_held(record):
        return seed
    return replace(seed, annotation=replace(seed.annotation, source_record=without_held(record)))


def _as_one(seeds: Sequence[Seed]) -> Seed:
    first = seeds[0]
    if len(seeds) == 1:
        return first
    return replace(first, annotation=merged_all([each.annotation for each in seeds]))
