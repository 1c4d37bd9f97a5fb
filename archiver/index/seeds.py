"""Adds submitted URLs (seeds) to the index: entries with their tags and lists, and jobs.

A web form, an import and a feed all use `receive`. What a seed says is merged with what is known of
its entry; nothing that a person said is lost.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Row, bindparam, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from archiver.formats.own_json import has_held, without_held
from archiver.index import (
    annotations,
    counters,
    hosts,
    labels,
    list_members,
    queue,
    tags,
    tombstones,
)
from archiver.index.bulk import among, among_texts
from archiver.index.import_entries import mark_touched
from archiver.index.numbering import next_number
from archiver.index.schema import entry, entry_table, job
from archiver.index.unrecorded import mark_unrecorded
from archiver.model.annotation import merged_all
from archiver.model.capture import HashUrl
from archiver.model.choices import CaptureWhen
from archiver.model.job import State
from archiver.model.seed import Received, Reception, Seed

KnownRow = Row[*tuple[Any, ...]]
_PRIORITIES = {
    CaptureWhen.NOW: queue.BULK,
    CaptureWhen.IDLE: queue.IDLE,
    CaptureWhen.NEVER: queue.IDLE,
}
_KNOWN = (
    entry.c.id,
    entry.c.hash_url,
    *annotations.COLUMNS.values(),
    entry.c.state,
    entry.c.snapshot_count,
    entry.c.revision,
    entry.c.brought_by,
)


async def receive(
    conn: AsyncConnection,
    seeds: Sequence[Seed],
    *,
    now: datetime,
    recapture: bool,
    import_id: int | None = None,
    capture: CaptureWhen = CaptureWhen.NOW,
) -> list[Received]:
    """Add up to a few thousand seeds, and a job for each entry that is to be captured.

    Args:
        conn: a writing connection.
        seeds: in order; a URL may come more than once.
        now: the moment (aware, UTC).
        recapture: capture URLs that have a snapshot again, before the jobs of imports.
        import_id: the import that the seeds belong to.
        capture: when; new entries are kept as links without a job if it is `NEVER`.

    Returns:
        One result for each seed, in order.
    """
    unique = _merged_by_key(seeds)
    known = await known_entries(conn, [*unique])
    unique = _without_own_export(unique, known)
    is_link = capture is CaptureWhen.NEVER
    ids, changed = await _add(conn, unique, known, now, import_id, is_link=is_link)
    waiting = await open_jobs(conn, [row.id for row in known.values()])
    finished = _finished(known.values(), recapture=recapture, is_import=import_id is not None)
    no_job = {*ids.values()} if is_link else finished | waiting.keys()
    wanted = [(ids[key], each.host) for key, each in unique.items() if ids[key] not in no_job]
    priority = queue.INTERACTIVE if recapture else _PRIORITIES[capture]
    made = await queue.enqueue(conn, wanted, priority=priority, now=now, import_id=import_id)
    await _await_again(conn, [row.id for row in known.values() if row.id in made])
    if recapture:
        await queue.hurry(conn, [*waiting.values()], priority=priority, now=now)
    added = {*made, *(ids[key] for key in unique.keys() - known.keys())}
    if import_id is None:
        merged: Collection[int] = waiting.keys()
    else:
        merged = changed | {row.id for row in known.values() if row.brought_by == import_id}
    return _results(seeds, ids, added=added, merged=merged, jobs=waiting | made)


async def ensure(
    conn: AsyncConnection, seeds: Sequence[Seed], *, import_id: int | None = None
) -> dict[HashUrl, int]:
    """Add seeds without jobs; return the row ids of their entries by hash_url.

    Args:
        conn: a writing connection.
        seeds: each of another entry.
        import_id: the import of links that they came with, if any.
    """
    unique: dict[str, Seed] = {seed.hash_url: seed for seed in seeds}
    known = await known_entries(conn, [*unique])
    ids, _ = await _add(conn, unique, known, datetime.now(UTC), import_id)
    return {HashUrl(key): number for key, number in ids.items()}


async def foreseen(
    conn: AsyncConnection, seeds: Sequence[Seed], *, capture: CaptureWhen
) -> dict[str, Reception]:
    """Predict the results of an import for seeds whose entries exist, by hash_url; write nothing.

    `capture` is as for `receive`.
    """
    unique = _merged_by_key(seeds)
    known = await known_entries(conn, [*unique])
    unique = _without_own_export(unique, known)
    carried = await labels.of_entries(conn, [row.id for row in known.values()])
    no_job = _finished(known.values(), recapture=False, is_import=True)
    no_job |= (await open_jobs(conn, [*carried])).keys()
    found = {}
    for key, row in known.items():
        if row.id not in no_job and capture is not CaptureWhen.NEVER:
            found[key] = Reception.ADDED
        elif _adds(unique[key], row, carried[row.id]):
            found[key] = Reception.MERGED
        else:
            found[key] = Reception.KNOWN
    return found


async def known_entries(conn: AsyncConnection, keys: Sequence[str]) -> dict[str, KnownRow]:
    """Return the rows of entries by hash_url."""
    rows = await conn.execute(select(*_KNOWN).where(entry.c.hash_url.in_(among_texts(keys))))
    return {row.hash_url: row for row in rows}


async def open_jobs(conn: AsyncConnection, entry_ids: Sequence[int]) -> dict[int, int]:
    """Return the queued or running jobs of entries, by entry."""
    if not entry_ids:
        return {}
    rows = await conn.execute(
        select(job.c.entry_id, job.c.id).where(
            job.c.entry_id.in_(among(entry_ids)), job.c.state.in_([State.QUEUED, State.FETCHING])
        )
    )
    return dict(rows.all())


async def insert_entries(
    conn: AsyncConnection,
    seeds: Sequence[Seed],
    now: datetime,
    import_id: int | None = None,
    *,
    is_link: bool = False,
) -> dict[str, int]:
    """Insert entries for new seeds; return their row ids by hash_url.

    Args:
        conn: a writing connection.
        seeds: each of another entry that does not exist.
        now: the moment (aware, UTC).
        import_id: the import that creates them, if any.
        is_link: keep them as links, without a capture, until somebody asks for one.
    """
    if not seeds:
        return {}
    first = await next_number(conn, entry_table.c.id)
    ids: dict[str, int] = {seed.hash_url: row for row, seed in enumerate(seeds, first)}
    deleted = await tombstones.generations(conn, ids)
    common = {
        "state": State.LINK.value if is_link else State.QUEUED.value,
        "sort_at": int(now.timestamp()),
        "brought_by": import_id,
        "unrecorded": int(is_link),
        "document_stale": int(is_link),
    }
    rows = [
        {
            "id": ids[seed.hash_url],
            "hash_url": seed.hash_url,
            "url": seed.url,
            "host": seed.host,
            "generation": deleted.get(seed.hash_url, -1) + 1,
            **common,
            **annotations.by_column(seed.annotation),
        }
        for seed in seeds
    ]
    await conn.execute(insert(entry_table), rows)
    await hosts.note(conn, {seed.host for seed in seeds})
    await counters.change(conn, {counters.ENTRIES: len(seeds)})
    return ids


async def merge_into(
    conn: AsyncConnection, seeds: Mapping[str, Seed], known: Mapping[str, KnownRow]
) -> set[int]:
    """Merge what seeds say into the rows of known entries; return the ids of those that changed.

    Tags and lists are added by `add_labels`.
    """
    rows, moved = [], []
    for key, row in known.items():
        before = annotations.of_row(row, labels.NONE)
        after = before.merged(seeds[key].annotation)
        if changed := annotations.changes(before, after):
            rows.append({"entry_id": row.id, **changed})
        if after.added_at != before.added_at:
            moved.append(row.id)
    if rows:
        await conn.execute(
            update(entry_table).where(entry_table.c.id == bindparam("entry_id")), rows
        )
    await labels.move(conn, moved)
    return {row["entry_id"] for row in rows}


async def add_labels(
    conn: AsyncConnection,
    seeds: Mapping[str, Seed],
    ids: Mapping[str, int],
    known: Mapping[str, KnownRow],
    import_id: int | None = None,
) -> set[int]:
    """Add the tags of seeds to entries, and entries to lists; return the ids of changed entries."""
    there = {row.id for row in known.values()}
    labelled = [ids[key] for key, each in seeds.items() if _has_labels(each)]
    added = await _added_at(conn, labelled)
    tagged = {ids[key]: names for key, seed in seeds.items() if (names := seed.annotation.tags)}
    changed = await tags.attach(conn, tagged, known=there, added=added)
    listed = {
        ids[key]: seed.annotation.lists for key, seed in seeds.items() if seed.annotation.folders
    }
    present = await list_members.of_entries(conn, listed.keys() & there)
    listed |= {each: {**listed[each], **at} for each, at in present.items()}
    return changed | await list_members.put(
        conn, listed, known=there, added=added, import_id=import_id
    )


async def _add(
    conn: AsyncConnection,
    seeds: Mapping[str, Seed],
    known: Mapping[str, KnownRow],
    now: datetime,
    import_id: int | None,
    *,
    is_link: bool = False,
) -> tuple[dict[str, int], set[int]]:
    """Insert new entries and merge seeds into known ones.

    Returns:
        Row ids by hash_url, and the ids of known entries that changed.
    """
    if import_id is None:
        await mark_touched(conn, [row.id for row in known.values() if row.brought_by is not None])
    fresh = [seed for key, seed in seeds.items() if key not in known]
    ids = await insert_entries(conn, fresh, now, import_id, is_link=is_link)
    ids |= {key: row.id for key, row in known.items()}
    changed = await merge_into(conn, seeds, known)
    changed |= await add_labels(conn, seeds, ids, known, import_id)
    changed &= {row.id for row in known.values()}
    await mark_unrecorded(conn, changed)
    return ids, changed


def _merged_by_key(seeds: Sequence[Seed]) -> dict[str, Seed]:
    """Return seeds by hash_url, with those of one entry merged."""
    groups: dict[str, list[Seed]] = {}
    for seed in seeds:
        groups.setdefault(seed.hash_url, []).append(seed)
    return {key: _as_one(group) for key, group in groups.items()}


def _as_one(seeds: Sequence[Seed]) -> Seed:
    first = seeds[0]
    if len(seeds) == 1:
        return first
    return replace(first, annotation=merged_all([each.annotation for each in seeds]))


def _without_own_export(
    seeds: Mapping[str, Seed], known: Mapping[str, KnownRow]
) -> dict[str, Seed]:
    """Remove what a JSON export of archiver says of snapshots from seeds of known entries.

    Otherwise each import of an own export would add to the source record of the same entry.
    """
    return {
        key: _without_held(seed) if key in known and _is_more_than_queued(known[key]) else seed
        for key, seed in seeds.items()
    }


def _is_more_than_queued(row: KnownRow) -> bool:
    is_bare = row.state == State.QUEUED and not row.snapshot_count
    return not is_bare or has_held(row.source_record)


def _without_held(seed: Seed) -> Seed:
    record = seed.annotation.source_record
    if not has_held(record):
        return seed
    return replace(seed, annotation=replace(seed.annotation, source_record=without_held(record)))


def _finished(known: Iterable[KnownRow], *, recapture: bool, is_import: bool) -> set[int]:
    """Return entries that get no job: those with snapshots and, in an import, those that failed.

    So importing a file again changes nothing; people retry failures with a button.
    """
    return {
        row.id
        for row in known
        if (row.snapshot_count and not recapture)
        or (is_import and not recapture and row.state == State.FAILED)
    }


def _has_labels(seed: Seed) -> bool:
    return bool(seed.annotation.tags or seed.annotation.folders)


async def _added_at(conn: AsyncConnection, entry_ids: Sequence[int]) -> dict[int, int]:
    """Return when entries were saved (Unix seconds), by row id."""
    if not entry_ids:
        return {}
    mine = entry.c.id.in_(among(entry_ids))
    return dict((await conn.execute(select(entry.c.id, entry.c.added_at).where(mine))).all())


def _adds(seed: Seed, row: KnownRow, carried: labels.Labels) -> bool:
    """Return whether a seed says more than is known of its entry."""
    before = annotations.of_row(row, carried)
    after = before.merged(seed.annotation)
    if annotations.changes(before, after):
        return True
    return bool({*after.tags} - {*before.tags} or {*after.folders} - {*before.folders})


async def _await_again(conn: AsyncConnection, entry_ids: Sequence[int]) -> None:
    """Set entries that failed, or were kept as links, to queued: they have a job now."""
    if entry_ids:
        await conn.execute(
            update(entry_table)
            .where(
                entry_table.c.id.in_(among(entry_ids)),
                entry_table.c.state.in_([State.FAILED, State.LINK]),
            )
            .values(state=State.QUEUED)
        )


def _results(
    seeds: Sequence[Seed],
    ids: Mapping[str, int],
    *,
    added: Collection[int],
    merged: Collection[int],
    jobs: Mapping[int, int],
) -> list[Received]:
    """Return the result of each seed: `MERGED` also if an added one comes again."""
    results, seen = [], set()
    for seed in seeds:
        entry_id = ids[seed.hash_url]
        reception = Reception.KNOWN
        if entry_id in added and entry_id not in seen:
            reception = Reception.ADDED
        elif entry_id in added or entry_id in merged:
            reception = Reception.MERGED
        seen.add(entry_id)
        results.append(Received(seed.hash_url, seed.url, reception, jobs.get(entry_id)))
    return results
