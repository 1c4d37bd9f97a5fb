"""Entries that are new, thousands at once: columns become rows without an object for each."""

from collections.abc import Collection, Sequence
from datetime import datetime
from itertools import repeat

from sqlalchemy import insert as insert_into
from sqlalchemy import literal, select

from archiver.index import annotations, changes, counters, gone, hosts, lists, queue, tags
from archiver.index.bulk import insert_rows
from archiver.index.connection import AsyncConnection
from archiver.index.numbering import next_number
from archiver.index.schema import entry, job
from archiver.model.annotation import by_path
from archiver.model.job import State
from archiver.model.seed_columns import SeedColumns

_COLUMNS = ("id", "hash_url", "url", "host", *annotations.NAMES, "generation")
_COLUMNS += ("state", "sort_at", "brought_by", "unrecorded", "document_stale")


async def insert(
    conn: AsyncConnection,
    seeds: SeedColumns,
    now: datetime,
    import_id: int | None = None,
    *,
    is_link: bool = False,
) -> range:
    """Make entries of seeds for which there are none, each once; their row ids, in order.

    Args:
        conn: a writing connection.
        seeds: those seeds.
        now: the moment (aware, UTC).
        import_id: the import that alone brings them.
        is_link: they are kept as links, until somebody asks for more.
    """
    if not seeds:
        return range(0)
    first = await next_number(conn, entry.c.id)
    ids = range(first, first + len(seeds))
    owed = int(is_link)
    state = State.LINK if is_link else State.QUEUED
    alike = (state.value, int(now.timestamp()), import_id, owed, owed)
    own = (seeds.keys, seeds.urls, seeds.hosts, *annotations.columns(seeds.said))
    generations = await _generations(conn, seeds.keys)
    columns = (*own, generations, *map(repeat, alike))
    await insert_rows(conn, entry, _COLUMNS, [*zip(ids, *columns, strict=False)])
    await hosts.note(conn, {*seeds.hosts})
    await counters.change(conn, {counters.ENTRIES: len(seeds)})
    return ids


async def label(
    conn: AsyncConnection, ids: range, seeds: SeedColumns, now: datetime, import_id: int
) -> None:
    """Give new entries of an import their tags, and put them into their lists."""
    sort_at = int(now.timestamp())
    said = seeds.said
    tagged = {each: names for each, names in zip(ids, said["tags"], strict=True) if names}
    await tags.attach(conn, tagged, known={}, sort_at=sort_at)
    folders = zip(ids, said["folders"], said["places"], strict=True)
    given = ((each, by_path(paths, places)) for each, paths, places in folders if paths)
    await lists.put_new(conn, given, sort_at=sort_at, import_id=import_id)


async def enqueue(
    conn: AsyncConnection,
    ids: range,
    of_hosts: Collection[str],
    *,
    priority: int,
    now: datetime,
    import_id: int | None,
) -> None:
    """Make a job for each of some new entries, of these hosts: SQLite makes one of the other."""
    first = await next_number(conn, job.c.id)
    now_ms, stamp = int(now.timestamp() * 1000), await changes.next_stamp(conn, now)
    made = {
        job.c.id: entry.c.id + (first - ids.start),
        job.c.entry_id: entry.c.id,
        job.c.import_id: literal(import_id),
        job.c.host: entry.c.host,
        job.c.priority: literal(priority),
        job.c.state: literal(State.QUEUED.value),
        job.c.created_at: literal(int(now.timestamp())),
        job.c.not_before_ms: literal(now_ms),
        job.c.changed_at_ms: literal(stamp),
    }
    these = entry.c.id.between(ids.start, ids.stop - 1)
    rows = select(*made.values()).where(these).order_by(entry.c.id)
    await conn.execute(insert_into(job).from_select([*made], rows))
    await queue.wait_until(conn, [(priority, host, now_ms) for host in of_hosts])
    await counters.change(conn, {counters.QUEUED: len(ids)})


async def _generations(conn: AsyncConnection, keys: Sequence[str]) -> Sequence[int]:
    before = await gone.generations(conn, keys)
    return [before.get(key, -1) + 1 for key in keys] if before else [0] * len(keys)
