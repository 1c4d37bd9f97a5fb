"""Makes entries what records say of them, here or in another archive: revisions, and no jobs."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from sqlalchemy import bindparam, update
from sqlalchemy.ext.asyncio import AsyncConnection

from archiver.index import annotations, labels
from archiver.index.bulk import among
from archiver.index.import_entries import mark_touched
from archiver.index.schema import entry_table
from archiver.index.seeds import (
    KnownRow,
    add_labels,
    ensure,
    insert_entries,
    known_entries,
    merge_into,
    open_jobs,
)
from archiver.model.capture import HashUrl
from archiver.model.job import State
from archiver.model.seed import RevisedSeed


async def restore(
    conn: AsyncConnection, found: Sequence[RevisedSeed], *, unrecorded: bool = False
) -> dict[HashUrl, int]:
    """Make entries what records say of them, without a job; return row ids by hash_url.

    A higher revision takes the place of what is known, a lower one is passed over; two alike are
    merged, as the records of an archive that knew no revisions have to be. No two are of one entry.

    Args:
        conn: a writing connection.
        found: what records hold.
        unrecorded: it stands in no record after all, and one is owed.
    """
    unique: dict[str, RevisedSeed] = {each.seed.hash_url: each for each in found}
    known = await known_entries(conn, [*unique])
    now = datetime.now(UTC)
    fresh = {key: each.seed for key, each in unique.items() if key not in known}
    ids = await insert_entries(conn, [*fresh.values()], now)
    ids |= {key: row.id for key, row in known.items()}
    newer = {key: row for key, row in known.items() if unique[key].revision > row.revision}
    alike = {key: row for key, row in known.items() if unique[key].revision == row.revision}
    await _replace(conn, unique, newer)
    changed = await merge_into(conn, {key: unique[key].seed for key in alike}, alike)
    given = {key: unique[key].seed for key in (*fresh, *newer, *alike)}
    changed |= await add_labels(conn, given, ids, known)
    await _mark_stale(conn, changed | {row.id for row in newer.values()})
    await _set_revisions(
        conn, {ids[key]: unique[key].revision for key in (*fresh, *newer)}, unrecorded=unrecorded
    )
    await _keep_as_links(conn, [ids[key] for key, each in unique.items() if each.is_link])
    return {HashUrl(key): number for key, number in ids.items()}


async def take_in(conn: AsyncConnection, found: Sequence[RevisedSeed]) -> dict[HashUrl, int]:
    """Make sure that there are entries for what another archive's records say of them.

    An entry that was saved here at the very moment that the record tells is the same entry: then
    a higher revision takes the place of what is known, and a lower one says nothing new. To any
    other entry of that URL it is added.
    """
    unique: dict[str, RevisedSeed] = {}
    for each in found:
        other = unique.get(each.seed.hash_url)
        if other is None or other.revision <= each.revision:
            unique[each.seed.hash_url] = each
    known = await known_entries(conn, [*unique])
    others = [
        each.seed
        for key, each in unique.items()
        if key in known and known[key].added_at != int(each.seed.annotation.saved_at.timestamp())
    ]
    apart = {each.hash_url for each in others}
    same = [each for key, each in unique.items() if key not in apart]
    await mark_touched(conn, [row.id for row in known.values()])
    return await restore(conn, same, unrecorded=True) | await ensure(conn, others)


async def _replace(
    conn: AsyncConnection,
    seeds: Mapping[str, RevisedSeed],
    known: Mapping[str, KnownRow],
) -> None:
    """Put later annotations in the place of those that are known; labels are only taken away."""
    if not known:
        return
    await conn.execute(
        update(entry_table).where(entry_table.c.id == bindparam("entry_id")),
        [
            {
                "entry_id": row.id,
                **dict(
                    zip(
                        annotations.NAMES,
                        annotations.values(seeds[key].seed.annotation),
                        strict=True,
                    )
                ),
            }
            for key, row in known.items()
        ],
    )
    await labels.take_all(conn, [row.id for row in known.values()])


async def _keep_as_links(conn: AsyncConnection, entry_ids: Sequence[int]) -> None:
    """Let entries stand as links of which nothing was captured, and that nobody waits for."""
    if entry_ids:
        waits = await open_jobs(conn, entry_ids)
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
        {"entry_id": entry_id, "now": now, "owed": int(unrecorded)}
        for entry_id, now in revisions.items()
        if now or unrecorded
    ]
    if rows:
        await conn.execute(
            update(entry_table)
            .where(entry_table.c.id == bindparam("entry_id"))
            .values(revision=bindparam("now"), unrecorded=bindparam("owed")),
            rows,
        )


async def _mark_stale(conn: AsyncConnection, entry_ids: set[int]) -> None:
    """Note whose words are not those of their annotation any more."""
    if entry_ids:
        await conn.execute(
            update(entry_table)
            .where(entry_table.c.id.in_(among(entry_ids)), entry_table.c.document_id.is_not(None))
            .values(document_stale=1)
        )
