"""Entries that are new, thousands at once: columns become rows without an object for each."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain, repeat

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


@dataclass(frozen=True, slots=True)
class _Found:
    """What is looked up before the first row is written.

    Attributes:
        ids: of the entries.
        generations: of the entries.
        tags: rows, by name.
        rooms: in lists, by path.
        first_job, stamp: of the jobs.
    """

    ids: range
    generations: Sequence[int]
    tags: Mapping[str, int]
    rooms: Mapping[str, lists.Room]
    first_job: int
    stamp: int


async def bring(
    conn: AsyncConnection,
    seeds: SeedColumns,
    *,
    now: datetime,
    import_id: int,
    priority: int | None,
) -> None:
    """Make entries of the seeds of an import, with all that they carry, and jobs.

    All is looked up before the first row is written: so nobody waits for what comes after it.

    Args:
        conn: a writing connection.
        seeds: those, for which there are no entries, each once.
        now: the moment (aware, UTC).
        import_id: the import that alone brings them.
        priority: of the jobs; none are made where it is None, but entries that are links.
    """
    if not seeds:
        return
    found = await _look_up(conn, seeds, now, import_id)
    is_link = priority is None
    await _insert(conn, found.ids, found.generations, seeds, now, import_id, is_link=is_link)
    await _label(conn, found, seeds, int(now.timestamp()))
    if priority is not None:
        await _enqueue(conn, found, {*seeds.hosts}, priority, now, import_id)


async def insert(
    conn: AsyncConnection,
    seeds: SeedColumns,
    now: datetime,
    *,
    by: int | None = None,
    is_link: bool = False,
) -> range:
    """Make entries of seeds for which there are none, each once; their row ids, in order.

    Args:
        conn: a writing connection.
        seeds: those seeds.
        now: the moment (aware, UTC).
        by: the import that alone brings them.
        is_link: they are kept as links, until somebody asks for more.
    """
    if not seeds:
        return range(0)
    first = await next_number(conn, entry.c.id)
    ids = range(first, first + len(seeds))
    generations = await _generations(conn, seeds.keys)
    await _insert(conn, ids, generations, seeds, now, by, is_link=is_link)
    return ids


async def _look_up(
    conn: AsyncConnection, seeds: SeedColumns, now: datetime, import_id: int
) -> _Found:
    first = await next_number(conn, entry.c.id)
    paths = dict.fromkeys(chain.from_iterable(seeds.said["folders"]))
    return _Found(
        range(first, first + len(seeds)),
        await _generations(conn, seeds.keys),
        await tags.ids_of(conn, {*chain.from_iterable(seeds.said["tags"])}),
        await lists.rooms_in(conn, paths, import_id=import_id),
        await next_number(conn, job.c.id),
        await changes.next_stamp(conn, now),
    )


async def _insert(
    conn: AsyncConnection,
    ids: range,
    generations: Sequence[int],
    seeds: SeedColumns,
    now: datetime,
    import_id: int | None,
    *,
    is_link: bool,
) -> None:
    owed = int(is_link)
    state = State.LINK if is_link else State.QUEUED
    alike = (state.value, int(now.timestamp()), import_id, owed, owed)
    own = (seeds.keys, seeds.urls, seeds.hosts, *annotations.columns(seeds.said))
    columns = (*own, generations, *map(repeat, alike))
    await insert_rows(conn, entry, _COLUMNS, [*zip(ids, *columns, strict=False)])
    await hosts.note(conn, {*seeds.hosts})
    await counters.change(conn, {counters.ENTRIES: len(seeds)})


async def _label(conn: AsyncConnection, found: _Found, seeds: SeedColumns, sort_at: int) -> None:
    """Give new entries of an import their tags, and put them into their lists."""
    said, ids = seeds.said, found.tags
    tagged = [
        (each, ids[name], sort_at)
        for each, names in zip(found.ids, said["tags"], strict=True)
        for name in names
    ]
    if tagged:
        await tags.insert(conn, tagged)
    folders = zip(found.ids, said["folders"], said["places"], strict=True)
    given = ((each, by_path(paths, places)) for each, paths, places in folders if paths)
    await lists.put_new(conn, given, found.rooms, sort_at=sort_at)


async def _enqueue(
    conn: AsyncConnection,
    found: _Found,
    of_hosts: Collection[str],
    priority: int,
    now: datetime,
    import_id: int,
) -> None:
    """Make a job for each of some new entries, of these hosts: SQLite makes one of the other."""
    ids, now_ms = found.ids, int(now.timestamp() * 1000)
    made = {
        job.c.id: entry.c.id + (found.first_job - ids.start),
        job.c.entry_id: entry.c.id,
        job.c.import_id: literal(import_id),
        job.c.host: entry.c.host,
        job.c.priority: literal(priority),
        job.c.state: literal(State.QUEUED.value),
        job.c.created_at: literal(int(now.timestamp())),
        job.c.not_before_ms: literal(now_ms),
        job.c.changed_at_ms: literal(found.stamp),
    }
    these = entry.c.id.between(ids.start, ids.stop - 1)
    rows = select(*made.values()).where(these).order_by(entry.c.id)
    await conn.tell(insert_into(job).from_select([*made], rows))
    await queue.wait_until(conn, [(priority, host, now_ms) for host in of_hosts])
    await counters.change(conn, {counters.QUEUED: len(ids)})


async def _generations(conn: AsyncConnection, keys: Sequence[str]) -> Sequence[int]:
    before = await gone.generations(conn, keys)
    return [before.get(key, -1) + 1 for key in keys] if before else [0] * len(keys)
