"""Puts seeds into the queue: a batch at a time, each URL once, nothing a person said lost."""

from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime

from sqlalchemy import update
from sqlalchemy.ext.asyncio import AsyncConnection

from archiver.index import (
    new_entries,
    queue,
    receptions,
)
from archiver.index.bulk import among
from archiver.index.import_entries import mark_touched
from archiver.index.known_entries import (
    KnownRow,
    as_it_adds,
    each_once,
    finished,
    of_keys,
    open_jobs,
)
from archiver.index.schema import entry
from archiver.index.seed_entries import attach, enrich, insert_entries
from archiver.index.unrecorded import mark_unrecorded
from archiver.model.capture import HashUrl
from archiver.model.choices import CaptureWhen
from archiver.model.job import State
from archiver.model.seed import Received, Reception, Seed
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
    ids, _ = await _say(conn, unique, known, datetime.now(UTC), import_id)
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
    if import_id is None:
        await mark_touched(conn, [row.id for row in known.values() if row.brought_by is not None])
    fresh = [seed for key, seed in seeds.items() if key not in known]
    ids = await insert_entries(conn, fresh, now, import_id, is_link=is_link)
    ids |= {key: row.id for key, row in known.items()}
    changed = await enrich(conn, seeds, known)
    changed |= await attach(conn, seeds, ids, known, import_id)
    changed &= {row.id for row in known.values()}
    await mark_unrecorded(conn, changed)
    return ids, changed


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
