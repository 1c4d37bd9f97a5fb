"""New entries and their jobs: submitted, restored from records, or copied from another index.

Forms, imports and feeds call ``receive``. A seed whose entry exists is merged with it, so that no
user metadata is lost.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any

from sqlalchemy import Row, bindparam, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from archiver.db import (
    counters,
    deletions,
    entries,
    host_queue,
    jobs,
    queue,
    tags_and_lists,
    tombstones,
)
from archiver.db.counters import next_id
from archiver.db.dialects import among, text_values
from archiver.db.edit_history import mark_unrecorded
from archiver.db.imports import mark_touched
from archiver.db.schema import entry, entry_table, job
from archiver.db.statements import execute_rows, insert_rows
from archiver.formats.own_json import describes_captures, without_captures
from archiver.model.annotation import merge_all
from archiver.model.capture import HashUrl
from archiver.model.imports import CaptureWhen
from archiver.model.job import State
from archiver.model.seed import QueuedSeed, RevisedSeed, SaveOutcome, Seed

KnownRow = Row[*tuple[Any, ...]]
_PRIORITIES = {
    CaptureWhen.NOW: queue.BULK,
    CaptureWhen.IDLE: queue.IDLE,
    CaptureWhen.NEVER: queue.IDLE,
}
_KNOWN = (
    entry.c.id,
    entry.c.hash_url,
    *entries.COLUMNS.values(),
    entry.c.state,
    entry.c.snapshot_count,
    entry.c.revision,
    entry.c.brought_by,
)
_KNOWN_ENTRIES = select(*_KNOWN).where(entry.c.hash_url.in_(text_values(bindparam("keys"))))


async def receive(
    conn: AsyncConnection,
    seeds: Sequence[Seed],
    *,
    now: datetime,
    recapture: bool,
    import_id: int | None = None,
    capture: CaptureWhen = CaptureWhen.NOW,
) -> list[QueuedSeed]:
    """Add up to a few thousand seeds, and a job for each entry to capture.

    Args:
        conn: a writing connection.
        seeds: seeds in order; a URL may occur more than once.
        now: current time (aware, UTC).
        recapture: whether to capture saved URLs again, and with priority over imports.
        import_id: the import that the seeds belong to, if any.
        capture: when to capture; with ``NEVER``, new entries are stored as links without a job.

    Returns:
        One result for each seed, in order.
    """
    unique = _merged_by_key(seeds)
    existing = await known_entries(conn, [*unique])
    unique = _without_own_export(unique, existing)
    is_link = capture is CaptureWhen.NEVER
    ids, changed = await _add(conn, unique, existing, now, import_id, is_link=is_link)
    waiting = await jobs.open_jobs(conn, [row.id for row in existing.values()])
    finished = _finished(existing.values(), recapture=recapture, is_import=import_id is not None)
    no_job = {*ids.values()} if is_link else finished | waiting.keys()
    new_jobs = [(ids[key], each.host) for key, each in unique.items() if ids[key] not in no_job]
    priority = queue.INTERACTIVE if recapture else _PRIORITIES[capture]
    jobs_by_entry = await queue.enqueue(
        conn, new_jobs, priority=priority, now=now, import_id=import_id
    )
    await _set_queued(conn, [row.id for row in existing.values() if row.id in jobs_by_entry])
    if recapture:
        await queue.raise_priority(conn, [*waiting.values()], priority=priority, now=now)
    added = {*jobs_by_entry, *(ids[key] for key in unique.keys() - existing.keys())}
    if import_id is None:
        merged: Collection[int] = waiting.keys()
    else:
        merged = changed | {row.id for row in existing.values() if row.brought_by == import_id}
    return _results(seeds, ids, added=added, merged=merged, job_ids=waiting | jobs_by_entry)


async def ensure(
    conn: AsyncConnection, seeds: Sequence[Seed], *, import_id: int | None = None
) -> dict[HashUrl, int]:
    """Add seeds without jobs; return the row ids of their entries by hash_url.

    Args:
        conn: a writing connection.
        seeds: the seeds; several seeds of one entry are merged in order.
        import_id: the import of links that contains the seeds, if any.
    """
    unique = _merged_by_key(seeds)
    existing = await known_entries(conn, [*unique])
    ids, _ = await _add(conn, unique, existing, datetime.now(UTC), import_id)
    return {HashUrl(key): number for key, number in ids.items()}


async def predict(
    conn: AsyncConnection, seeds: Sequence[Seed], *, capture: CaptureWhen
) -> dict[str, SaveOutcome]:
    """Predict, by hash_url, the results of ``receive`` for existing entries in an import.

    Seeds without an entry are left out; their result would be ``ADDED``.
    """
    unique = _merged_by_key(seeds)
    existing = await known_entries(conn, [*unique])
    unique = _without_own_export(unique, existing)
    labels = await tags_and_lists.labels_of_entries(conn, [row.id for row in existing.values()])
    no_job = _finished(existing.values(), recapture=False, is_import=True)
    no_job |= (await jobs.open_jobs(conn, [*labels])).keys()
    outcomes = {}
    for key, row in existing.items():
        if row.id not in no_job and capture is not CaptureWhen.NEVER:
            outcomes[key] = SaveOutcome.ADDED
        elif _adds(unique[key], row, labels[row.id]):
            outcomes[key] = SaveOutcome.MERGED
        else:
            outcomes[key] = SaveOutcome.KNOWN
    return outcomes


async def known_entries(conn: AsyncConnection, keys: Sequence[str]) -> dict[str, KnownRow]:
    """Return the rows of entries by hash_url."""
    rows = await conn.execute(_KNOWN_ENTRIES, {"keys": keys})
    return {row.hash_url: row for row in rows}


async def insert_entries(
    conn: AsyncConnection,
    seeds: Sequence[Seed],
    now: datetime,
    import_id: int | None = None,
    *,
    is_link: bool = False,
    generations: Mapping[str, int | None] = MappingProxyType({}),
) -> dict[str, int]:
    """Insert entries for new seeds; return their row ids by hash_url.

    Args:
        conn: a writing connection.
        seeds: seeds of different entries that do not exist.
        now: current time (aware, UTC).
        import_id: the import that creates the entries, if any.
        is_link: whether to store them as links, which are captured only if a user requests it.
        generations: known generations by hash_url. Other entries get the generation after that of
            the last deleted entry with the same hash_url, or 0.
    """
    if not seeds:
        return {}
    first = await next_id(conn, entry_table.c.id)
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
            "generation": deleted.get(seed.hash_url, -1) + 1 if generation is None else generation,
            **common,
            **entries.by_column(seed.annotation),
        }
        for seed in seeds
        for generation in (generations.get(seed.hash_url),)
    ]
    await insert_rows(conn, entry_table, rows)
    await host_queue.insert_hosts(conn, {seed.host for seed in seeds})
    await counters.change(conn, {counters.ENTRIES: len(seeds)})
    return ids


async def merge_into(
    conn: AsyncConnection, seeds: Mapping[str, Seed], existing: Mapping[str, KnownRow]
) -> set[int]:
    """Merge seeds into the rows of existing entries; return the ids of changed entries.

    Tags and lists are added by ``add_labels``.
    """
    rows, moved = [], []
    for key, row in existing.items():
        before = entries.of_row(row, tags_and_lists.NO_LABELS)
        after = before.merged(seeds[key].annotation)
        if changed := entries.changes(before, after):
            rows.append({"entry_id": row.id, **changed})
        if after.added_at != before.added_at:
            moved.append(row.id)
    await execute_rows(conn, entries.UPDATE, rows)
    await tags_and_lists.reorder_labels(conn, moved)
    return {row["entry_id"] for row in rows}


async def add_labels(
    conn: AsyncConnection,
    seeds: Mapping[str, Seed],
    ids: Mapping[str, int],
    existing: Mapping[str, KnownRow],
    import_id: int | None = None,
) -> set[int]:
    """Add the tags of seeds to entries, and entries to lists; return the ids of changed entries."""
    existing_ids = {row.id for row in existing.values()}
    added = {
        ids[key]: int(each.annotation.saved_at.timestamp())
        for key, each in seeds.items()
        if key not in existing
    }
    labelled = [ids[key] for key, each in seeds.items() if key in existing and _has_labels(each)]
    added |= await _added_at(conn, labelled)
    tagged = {ids[key]: names for key, seed in seeds.items() if (names := seed.annotation.tags)}
    changed = await tags_and_lists.attach(conn, tagged, existing_ids=existing_ids, added=added)
    listed = {
        ids[key]: seed.annotation.lists for key, seed in seeds.items() if seed.annotation.folders
    }
    present = await tags_and_lists.lists_of_entries(conn, listed.keys() & existing_ids)
    listed |= {each: {**listed[each], **at} for each, at in present.items()}
    return changed | await tags_and_lists.set_lists(
        conn, listed, existing_ids=existing_ids, added=added, import_id=import_id
    )


async def _add(
    conn: AsyncConnection,
    seeds: Mapping[str, Seed],
    existing: Mapping[str, KnownRow],
    now: datetime,
    import_id: int | None,
    *,
    is_link: bool = False,
) -> tuple[dict[str, int], set[int]]:
    """Insert new entries and merge seeds into known ones.

    Returns:
        Row ids by hash_url, and the row ids of known entries that changed.
    """
    if import_id is None:
        await mark_touched(
            conn, [row.id for row in existing.values() if row.brought_by is not None]
        )
    fresh = [seed for key, seed in seeds.items() if key not in existing]
    ids = await insert_entries(conn, fresh, now, import_id, is_link=is_link)
    ids |= {key: row.id for key, row in existing.items()}
    changed = await merge_into(conn, seeds, existing)
    changed |= await add_labels(conn, seeds, ids, existing, import_id)
    changed &= {row.id for row in existing.values()}
    await mark_unrecorded(conn, changed)
    return ids, changed


def _merged_by_key(seeds: Sequence[Seed]) -> dict[str, Seed]:
    """Return seeds by hash_url; several seeds of one entry are merged."""
    groups: dict[str, list[Seed]] = {}
    for seed in seeds:
        groups.setdefault(seed.hash_url, []).append(seed)
    return {
        key: replace(seed, annotation=merge_all([each.annotation for each in (seed, *others)]))
        if others
        else seed
        for key, (seed, *others) in groups.items()
    }


def _without_own_export(
    seeds: Mapping[str, Seed], existing: Mapping[str, KnownRow]
) -> dict[str, Seed]:
    """Remove the list of captures from the source records of seeds of known entries.

    Exports of this program contain such lists. Without the removal, each import of an export would
    add its list to the entry's source record. A seed keeps its list if the entry is queued, has no
    snapshots, and its source record has no list yet.
    """
    return {
        key: _without_captures(seed)
        if key in existing and _is_more_than_queued(existing[key])
        else seed
        for key, seed in seeds.items()
    }


def _is_more_than_queued(row: KnownRow) -> bool:
    is_bare = row.state == State.QUEUED and not row.snapshot_count
    return not is_bare or describes_captures(row.source_record)


def _without_captures(seed: Seed) -> Seed:
    record = seed.annotation.source_record
    if not describes_captures(record):
        return seed
    return replace(
        seed, annotation=replace(seed.annotation, source_record=without_captures(record))
    )


def _finished(existing: Iterable[KnownRow], *, recapture: bool, is_import: bool) -> set[int]:
    """Return the row ids of entries that get no job: saved and, in an import, failed entries.

    With ``recapture``, all entries get a job. Without it, importing a file again changes nothing;
    users retry failures explicitly.
    """
    return {
        row.id
        for row in existing
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


def _adds(seed: Seed, row: KnownRow, labels: tags_and_lists.Labels) -> bool:
    """Return whether a seed has metadata that its entry lacks."""
    before = entries.of_row(row, labels)
    after = before.merged(seed.annotation)
    if entries.changes(before, after):
        return True
    return bool({*after.tags} - {*before.tags} or {*after.folders} - {*before.folders})


async def _set_queued(conn: AsyncConnection, entry_ids: Sequence[int]) -> None:
    """Set the state of entries with a new job from failed or link to queued."""
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
    job_ids: Mapping[int, int],
) -> list[QueuedSeed]:
    """Return the result of each seed; a second seed of an added entry is ``MERGED``."""
    results, seen = [], set()
    for seed in seeds:
        entry_id = ids[seed.hash_url]
        outcome = SaveOutcome.KNOWN
        if entry_id in added and entry_id not in seen:
            outcome = SaveOutcome.ADDED
        elif entry_id in added or entry_id in merged:
            outcome = SaveOutcome.MERGED
        seen.add(entry_id)
        results.append(QueuedSeed(seed.hash_url, seed.url, outcome, job_ids.get(entry_id)))
    return results


async def restore(
    conn: AsyncConnection, seeds: Sequence[RevisedSeed], *, unrecorded: bool = False
) -> dict[HashUrl, int]:
    """Create or update entries from records, without jobs; return row ids by hash_url.

    A seed with a higher revision than the entry replaces the entry's metadata. A seed with a lower
    revision is ignored. A seed with the same revision is merged, since old archives have no
    revisions.

    Args:
        conn: a writing connection.
        seeds: seeds from records, of different entries.
        unrecorded: whether the records are of another archive, so that this archive must write new
            records.
    """
    unique: dict[str, RevisedSeed] = {each.seed.hash_url: each for each in seeds}
    existing = await known_entries(conn, [*unique])
    now = datetime.now(UTC)
    fresh = {key: each.seed for key, each in unique.items() if key not in existing}
    ids = await insert_entries(
        conn,
        [*fresh.values()],
        now,
        generations={key: each.generation for key, each in unique.items()},
    )
    ids |= {key: row.id for key, row in existing.items()}
    newer = {key: row for key, row in existing.items() if unique[key].revision > row.revision}
    alike = {key: row for key, row in existing.items() if unique[key].revision == row.revision}
    await _replace(conn, unique, newer)
    changed = await merge_into(conn, {key: unique[key].seed for key in alike}, alike)
    revised = {key: unique[key].seed for key in (*fresh, *newer, *alike)}
    changed |= await add_labels(conn, revised, ids, existing)
    # Records are read in order of time, so the newest spelling of a tag is the current one.
    await tags_and_lists.respell(
        conn, (name for key in newer for name in unique[key].seed.annotation.tags)
    )
    await _mark_stale(conn, changed | {row.id for row in newer.values()})
    if unrecorded:  # no record of this archive contains the merged metadata
        await mark_unrecorded(conn, changed & {row.id for row in alike.values()})
    await _set_revisions(
        conn, {ids[key]: unique[key].revision for key in (*fresh, *newer)}, unrecorded=unrecorded
    )
    await _keep_as_links(conn, [ids[key] for key, each in unique.items() if each.is_link])
    return {HashUrl(key): number for key, number in ids.items()}


async def ensure_revised(conn: AsyncConnection, seeds: Sequence[RevisedSeed]) -> dict[HashUrl, int]:
    """Create or update entries from the records of another archive; return row ids by hash_url.

    If an entry has the same time of saving in this archive and in the record, both archives have a
    common origin. Then the higher revision replaces the metadata; otherwise the metadata is merged.
    """
    unique: dict[str, RevisedSeed] = {}
    for each in seeds:
        other = unique.get(each.seed.hash_url)
        if other is None or other.revision <= each.revision:
            unique[each.seed.hash_url] = each
    existing = await known_entries(conn, [*unique])
    seeds_apart = [
        each.seed
        for key, each in unique.items()
        if key in existing
        and existing[key].added_at != int(each.seed.annotation.saved_at.timestamp())
    ]
    separate = {each.hash_url for each in seeds_apart}
    same = [each for key, each in unique.items() if key not in separate]
    await mark_touched(conn, [row.id for row in existing.values()])
    return await restore(conn, same, unrecorded=True) | await ensure(conn, seeds_apart)


async def _replace(
    conn: AsyncConnection,
    seeds: Mapping[str, RevisedSeed],
    existing: Mapping[str, KnownRow],
) -> None:
    """Replace the annotations of entries and remove their labels."""
    rows = [
        {"entry_id": row.id, **entries.by_column(seeds[key].seed.annotation)}
        for key, row in existing.items()
    ]
    await execute_rows(conn, entries.UPDATE, rows)
    await tags_and_lists.remove_labels(conn, [row.id for row in existing.values()])


async def _keep_as_links(conn: AsyncConnection, entry_ids: Sequence[int]) -> None:
    """Set queued entries with neither snapshots nor open jobs to link."""
    if entry_ids:
        waits = await jobs.open_jobs(conn, entry_ids)
        await conn.execute(
            update(entry_table)
            .where(
                entry_table.c.id.in_(among(each for each in entry_ids if each not in waits)),
                entry_table.c.state == State.QUEUED,
                entry_table.c.snapshot_count == 0,
            )
            .values(state=State.LINK, document_stale=1)
        )


async def _set_revisions(
    conn: AsyncConnection, revisions: Mapping[int, int], *, unrecorded: bool
) -> None:
    rows = [
        {"entry_id": entry_id, "revision": now, "unrecorded": int(unrecorded)}
        for entry_id, now in revisions.items()
        if now or unrecorded
    ]
    await execute_rows(conn, entries.UPDATE, rows)


async def _mark_stale(conn: AsyncConnection, entry_ids: set[int]) -> None:
    if entry_ids:
        await conn.execute(
            update(entry_table)
            .where(entry_table.c.id.in_(among(entry_ids)), entry_table.c.document_id.is_not(None))
            .values(document_stale=1)
        )


@dataclass(frozen=True, slots=True)
class OpenSeed:
    """Seed with an open job.

    Attributes:
        seed: the seed.
        made_at: when the job was created (aware, UTC).
        sort_at: sort key of the entry (``Entry.sorted_at``).
        is_urgent: whether a user waits for the job. If so, the URL is captured even if the entry
            has a snapshot.
    """

    seed: Seed
    made_at: datetime
    sort_at: datetime
    is_urgent: bool


async def open_seeds(
    conn: AsyncConnection, after: int, *, limit: int
) -> tuple[list[OpenSeed], int]:
    """Return the seeds of open jobs after a job id, and the last job id read."""
    rows = (
        await conn.execute(
            select(entry, job.c.id.label("job_id"), job.c.created_at, job.c.priority)
            .join(job, job.c.entry_id == entry.c.id)
            .where(job.c.id > after, job.c.state.in_([State.QUEUED, State.FETCHING]))
            .order_by(job.c.id)
            .limit(limit)
        )
    ).all()
    labels = await tags_and_lists.labels_of_entries(conn, [row.id for row in rows])
    seeds = [
        OpenSeed(
            seed=_seed(row, labels[row.id]),
            made_at=datetime.fromtimestamp(row.created_at, UTC),
            sort_at=datetime.fromtimestamp(row.sort_at, UTC),
            is_urgent=row.priority == 0,
        )
        for row in rows
    ]
    return seeds, rows[-1].job_id if rows else after


async def unrecorded_seeds(
    conn: AsyncConnection, after: int, *, limit: int
) -> tuple[list[RevisedSeed], int]:
    """Return metadata of entries without a current record after a row id, and the last id read."""
    query = select(entry).where(entry.c.unrecorded == 1, entry.c.id > after)
    rows = (await conn.execute(query.order_by(entry.c.id).limit(limit))).all()
    labels = await tags_and_lists.labels_of_entries(conn, [row.id for row in rows])
    seeds = [
        RevisedSeed(_seed(row, labels[row.id]), row.revision, row.state == State.LINK)
        for row in rows
    ]
    return seeds, rows[-1].id if rows else after


async def seeds_in_bin(
    conn: AsyncConnection, after: int, *, limit: int, bin_after: int
) -> tuple[list[tuple[RevisedSeed, int]], int]:
    """Return metadata of deleted entries after a row id, and the last row id read.

    Each seed comes with the number of its deletion, which is higher than ``bin_after``.
    """
    c = entry_table.c
    query = select(entry_table).where(c.deleted_at > bin_after, c.id > after)
    rows = (await conn.execute(query.order_by(c.id).limit(limit))).all()
    return [
        (
            RevisedSeed(
                _seed(row, deletions.deleted_labels(row.deleted_labels)),
                row.revision,
                row.state == State.LINK,
                row.generation,
            ),
            row.deleted_at,
        )
        for row in rows
    ], rows[-1].id if rows else after


async def restore_in_bin(conn: AsyncConnection, seeds: Sequence[tuple[RevisedSeed, int]]) -> None:
    """Add deleted entries that this index lacks, as deleted entries.

    An entry is skipped if its URL was saved again. ``seeds`` has the metadata of each entry and the
    number of its deletion.
    """
    c = entry_table.c
    existing = await conn.execute(
        select(c.hash_url, c.generation, c.deleted_at).where(
            c.hash_url.in_(text_values({each.seed.hash_url for each, _ in seeds}))
        )
    )
    rows = existing.all()
    present = {(row.hash_url, row.generation) for row in rows}
    living = {row.hash_url for row in rows if row.deleted_at is None}
    for each, number in seeds:
        key = each.seed.hash_url
        if key not in living and (key, each.generation) not in present:
            ids = await restore(conn, [each])
            await deletions.delete_entries(conn, [*ids.values()], number=number)


def _seed(row: Row[*tuple[Any, ...]], labels: tags_and_lists.Labels) -> Seed:
    return Seed(row.hash_url, row.url, row.host, entries.of_row(row, labels))
