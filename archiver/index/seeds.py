"""Puts seeds into the queue: a batch at a time, each URL once, nothing a person said lost."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from archiver.index import (
    annotations,
    import_shares,
    labels,
    list_members,
    lists,
    new_entries,
    queue,
    receptions,
    tags,
)
from archiver.index.bulk import among
from archiver.index.connection import AsyncConnection
from archiver.index.core import bindparam, update
from archiver.index.known_entries import (
    KnownRow,
    added_at_of,
    as_it_adds,
    each_once,
    finished,
    of_keys,
    open_jobs,
)
from archiver.index.schema import entry
from archiver.index.unrecorded import mark_unrecorded
from archiver.model.capture import HashUrl
from archiver.model.choices import CaptureWhen
from archiver.model.job import State
from archiver.model.seed import Received, Reception, RevisedSeed, Seed
from archiver.model.seed_columns import SeedColumns

_RANKS = {CaptureWhen.NOW: queue.BULK, CaptureWhen.IDLE: queue.IDLE, CaptureWhen.NEVER: queue.IDLE}


async def receive(
    conn: AsyncConnection,
    seeds: Sequence[Seed],
    *,
    now: datetime,
    recapture: bool,
    import_id: int | None = None,
    capture: CaptureWhen = CaptureWhen.NOW,
) -> list[Received]:
    """Put up to a few thousand seeds into the queue.

    Args:
        conn: a writing connection.
        seeds: in order; the same URL may come more than once.
        now: the moment (aware, UTC).
        recapture: whether a URL that has a snapshot is captured again, before any import's.
        import_id: the import they belong to.
        capture: when; those that are new are kept as links where that is never.

    Returns:
        One result a seed, in order, as ``index.receptions`` says.
    """
    unique = each_once(seeds)
    known = await of_keys(conn, [*unique])
    unique = as_it_adds(unique, known)
    is_link = capture is CaptureWhen.NEVER
    ids, changed = await _say(conn, unique, known, now, import_id, is_link=is_link)
    waiting = await open_jobs(conn, [row.id for row in known.values()])
    is_of_import = import_id is not None
    stays = finished(known.values(), recapture=recapture, is_of_import=is_of_import)
    stays |= {*ids.values()} if is_link else waiting.keys()
    wanted = [(ids[key], each.host) for key, each in unique.items() if ids[key] not in stays]
    rank = queue.INTERACTIVE if recapture else _RANKS[capture]
    made = await queue.enqueue(conn, wanted, priority=rank, now=now, import_id=import_id)
    await _await_again(conn, known, made)
    if recapture:
        await queue.hurry(conn, [*waiting.values()], priority=rank, now=now)
    added = {*made, *(ids[key] for key in unique.keys() - known.keys())}
    merged = waiting.keys() if import_id is None else changed | _brought(known, import_id)
    return receptions.of_seeds(seeds, ids, added=added, merged=merged, jobs=waiting | made)


async def receive_columns(
    conn: AsyncConnection,
    seeds: SeedColumns,
    numbers: Sequence[int],
    *,
    now: datetime,
    import_id: int,
    capture: CaptureWhen = CaptureWhen.NOW,
    met: new_entries.Met | None = None,
) -> tuple[list[Reception], list[bool]]:
    """``receive`` for the thousands of a file, most of which are new.

    Returns how each was received, and whether that is in the receipt of the import already;
    ``numbers`` are their rows in the file, ``met`` what this transaction has seen to.
    """
    rank = None if capture is CaptureWhen.NEVER else _RANKS[capture]
    met = met or new_entries.Met()
    is_new = await new_entries.bring(
        conn, seeds, numbers, now=now, import_id=import_id, priority=rank, met=met
    )
    if all(is_new):
        return [Reception.ADDED] * len(seeds), is_new
    met.forget_places()
    rest = [seeds[place] for place, is_it in enumerate(is_new) if not is_it]
    received = await receive(
        conn, rest, now=now, recapture=False, import_id=import_id, capture=capture
    )
    others = iter(received)
    return [Reception.ADDED if is_it else next(others).reception for is_it in is_new], is_new


async def ensure(
    conn: AsyncConnection, seeds: Sequence[Seed], *, import_id: int | None = None
) -> dict[HashUrl, int]:
    """Make sure that there are entries for seeds, without a job; return row ids by hash_url.

    What a seed says is added to what is known of its entry. No two are of one entry. ``import_id``:
    the import of links that they came with, if they did.
    """
    unique: dict[str, Seed] = {seed.hash_url: seed for seed in seeds}
    known = await of_keys(conn, [*unique])
    ids, _ = await _say(conn, unique, known, conn.now(), import_id)
    return {HashUrl(key): number for key, number in ids.items()}


async def _say(
    conn: AsyncConnection,
    seeds: Mapping[str, Seed],
    known: Mapping[str, KnownRow],
    now: datetime,
    import_id: int | None,
    *,
    is_link: bool = False,
) -> tuple[dict[str, int], set[int]]:
    """Make entries of seeds, or add what they say to those that are known.

    Returns row ids by hash_url, and of those that were known and have changed.
    """
    spoken = await import_shares.spoken(conn, seeds, known)
    fresh = [seed for key, seed in seeds.items() if key not in known]
    ids = await _insert_entries(conn, fresh, now, import_id, is_link=is_link)
    ids |= {key: row.id for key, row in known.items()}
    changed = await _enrich(conn, seeds, known)
    changed |= await _attach(conn, seeds, ids, known, import_id)
    changed &= {row.id for row in known.values()}
    await mark_unrecorded(conn, changed)
    await import_shares.note(conn, spoken, import_id)
    return ids, changed


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
    known = await of_keys(conn, [*unique])
    now = conn.now()
    fresh = {key: each.seed for key, each in unique.items() if key not in known}
    ids = await _insert_entries(conn, [*fresh.values()], now)
    ids |= {key: row.id for key, row in known.items()}
    newer = {key: row for key, row in known.items() if unique[key].revision > row.revision}
    alike = {key: row for key, row in known.items() if unique[key].revision == row.revision}
    await _replace(conn, unique, newer)
    changed = await _enrich(conn, {key: unique[key].seed for key in alike}, alike)
    given = {key: unique[key].seed for key in (*fresh, *newer, *alike)}
    changed |= await _attach(conn, given, ids, known)
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
    known = await of_keys(conn, [*unique])
    others = [
        each.seed
        for key, each in unique.items()
        if key in known and known[key].added_at != int(each.seed.annotation.saved_at.timestamp())
    ]
    apart = {each.hash_url for each in others}
    same = [each for key, each in unique.items() if key not in apart]
    await import_shares.touch(conn, [row.id for row in known.values()])
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
        update(entry).where(entry.c.id == bindparam("entry_id")),
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
            update(entry)
            .where(
                entry.c.id.in_(among(each for each in entry_ids if each not in waits)),
                entry.c.state == State.QUEUED,
                entry.c.snapshot_count == 0,
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
            update(entry)
            .where(entry.c.id == bindparam("entry_id"))
            .values(revision=bindparam("now"), unrecorded=bindparam("owed")),
            rows,
        )


async def _insert_entries(
    conn: AsyncConnection,
    seeds: Sequence[Seed],
    now: datetime,
    import_id: int | None = None,
    *,
    is_link: bool = False,
) -> dict[str, int]:
    made = await new_entries.insert(conn, SeedColumns.of(seeds), now, by=import_id, is_link=is_link)
    return {seed.hash_url: row for seed, row in zip(seeds, made, strict=True)}


async def _attach(
    conn: AsyncConnection,
    seeds: Mapping[str, Seed],
    ids: Mapping[str, int],
    known: Mapping[str, KnownRow],
    import_id: int | None = None,
) -> set[int]:
    """Give entries their tags, and put them into their lists; ids of those that got one."""
    there = {row.id for row in known.values()}
    labelled = [ids[key] for key, each in seeds.items() if _carries(each)]
    added = await added_at_of(conn, labelled)
    given = {ids[key]: names for key, seed in seeds.items() if (names := seed.annotation.tags)}
    tagged = await tags.attach(conn, given, known=there, added=added)
    wanted = {
        ids[key]: seed.annotation.lists for key, seed in seeds.items() if seed.annotation.folders
    }
    present = await list_members.of_entries(conn, wanted.keys() & there)
    wanted |= {each: {**wanted[each], **at} for each, at in present.items()}
    listed = await list_members.put(conn, wanted, known=there, added=added, import_id=import_id)
    if import_id is not None:
        named = {path for each in seeds.values() for path in each.annotation.folders}
        await lists.note_named(conn, import_id, named)
    return tagged | listed


def _carries(seed: Seed) -> bool:
    return bool(seed.annotation.tags or seed.annotation.folders)


async def _enrich(
    conn: AsyncConnection, seeds: Mapping[str, Seed], known: Mapping[str, KnownRow]
) -> set[int]:
    """Add what a person now says to what they said before; a title once given stays."""
    rows, earlier = [], []
    for key, row in known.items():
        before = annotations.of_row(row, labels.NONE)
        after = before.merged(seeds[key].annotation)
        if changed := annotations.changes(before, after):
            rows.append({"entry_id": row.id, **changed})
        if after.added_at != before.added_at:
            earlier.append(row.id)
    if rows:
        await conn.execute(update(entry).where(entry.c.id == bindparam("entry_id")), rows)
    await labels.move(conn, earlier)
    return {row["entry_id"] for row in rows}


async def _mark_stale(conn: AsyncConnection, entry_ids: set[int]) -> None:
    """Note whose words are not those of their annotation any more."""
    if entry_ids:
        await conn.execute(
            update(entry)
            .where(entry.c.id.in_(among(entry_ids)), entry.c.document_id.is_not(None))
            .values(document_stale=1)
        )


def _brought(known: Mapping[str, KnownRow], import_id: int) -> set[int]:
    """Which of these entries an import alone has brought: it named them before."""
    return {row.id for row in known.values() if row.brought_by == import_id}


async def _await_again(
    conn: AsyncConnection, known: Mapping[str, KnownRow], made: Collection[int]
) -> None:
    """Let entries that were given up, or kept as links, stand as waiting: there is a job now."""
    entry_ids = [row.id for row in known.values() if row.id in made]
    if entry_ids:
        await conn.execute(
            update(entry)
            .where(
                entry.c.id.in_(among(entry_ids)),
                entry.c.state.in_([State.FAILED, State.LINK]),
            )
            .values(state=State.QUEUED)
        )
