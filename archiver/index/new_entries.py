"""Entries that are new, thousands at once: columns become rows without an object for each."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import chain, compress, count, repeat

from archiver.index import (
    annotations,
    arriving,
    changes,
    counters,
    gone,
    hosts,
    list_members,
    tags,
)
from archiver.index.bulk import insert_rows
from archiver.index.connection import AsyncConnection
from archiver.index.numbering import next_number
from archiver.index.schema import entry, job
from archiver.index.turns import to_ms
from archiver.model.annotation import by_path
from archiver.model.job import State
from archiver.model.seed_columns import SeedColumns
from archiver.values import frozen

_COLUMNS = ("id", "hash_url", "url", "host", *annotations.NAMES, "generation")
_COLUMNS += ("state", "sort_at", "brought_by", "unrecorded", "document_stale")


@frozen
class _Found:
    """What is looked up before the first row is written.

    Attributes:
        first: row of the entries.
        tags: rows, by name.
        rooms: in lists, by path.
        hosts: that nobody has noted.
        first_job, stamp: of the jobs.
    """

    first: int
    tags: Mapping[str, int]
    rooms: Mapping[str, list_members.Room]
    hosts: Sequence[str]
    first_job: int
    stamp: int


async def bring(
    conn: AsyncConnection,
    seeds: SeedColumns,
    numbers: Sequence[int],
    *,
    now: datetime,
    import_id: int,
    priority: int | None,
) -> list[bool]:
    """Make entries of those seeds of an import that are new, with all that they carry, and jobs.

    Their rows of the receipt are written as well.

    All is looked up before the first row is written: so nobody waits for what comes after it.

    Args:
        conn: a writing connection.
        seeds: those, of which any may be known, or come twice.
        numbers: their rows in the file.
        now: the moment (aware, UTC).
        import_id: the import that alone brings them.
        priority: of the jobs; where it is None none are made, and the entries are links.

    Returns:
        Of each whether it was new, the first time that it came.
    """
    is_first = _first_times(seeds.keys)
    firsts = seeds.where(is_first)
    await arriving.put_down(conn, firsts, [*compress(numbers, is_first)])
    known = await arriving.leave_known(conn)
    is_new = [place not in known for place in range(len(firsts))]
    if any(is_new):
        fresh, places = firsts.where(is_new), [*compress(count(), is_new)]
        await _bring_new(conn, fresh, places, now=now, import_id=import_id, priority=priority)
    await arriving.clear(conn)
    each = iter(is_new)
    return [first and next(each) for first in is_first]


async def _bring_new(
    conn: AsyncConnection,
    fresh: SeedColumns,
    places: Sequence[int],
    *,
    now: datetime,
    import_id: int,
    priority: int | None,
) -> None:
    """Make entries of seeds for which there are none, and which were put down at these places."""
    found = await _look_up(conn, fresh, now, import_id)
    await _make(conn, found, now, import_id, priority)
    await _label(conn, found, [found.first + place for place in places], fresh, now)
    await hosts.note(conn, found.hosts)
    counted = {counters.ENTRIES: len(fresh)}
    counted |= {} if priority is None else {counters.QUEUED: len(fresh)}
    await counters.change(conn, counted)


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
    owed = int(is_link)
    state = State.LINK if is_link else State.QUEUED
    alike = (state.value, int(now.timestamp()), by, owed, owed)
    own = (seeds.keys, seeds.urls, seeds.hosts, *annotations.columns(seeds.annotations))
    generations = await _generations(conn, seeds.keys)
    columns = (*own, generations, *map(repeat, alike))
    await insert_rows(conn, entry, _COLUMNS, [*zip(ids, *columns, strict=False)])
    await hosts.note(conn, {*seeds.hosts})
    await counters.change(conn, {counters.ENTRIES: len(seeds)})
    return ids


async def _look_up(
    conn: AsyncConnection, seeds: SeedColumns, now: datetime, import_id: int
) -> _Found:
    paths = dict.fromkeys(chain.from_iterable(seeds.annotations["folders"]))
    return _Found(
        await next_number(conn, entry.c.id),
        await tags.ids_of(conn, {*chain.from_iterable(seeds.annotations["tags"])}),
        await list_members.rooms_in(conn, paths, import_id=import_id),
        await arriving.unknown_hosts(conn),
        await next_number(conn, job.c.id),
        await changes.next_stamp(conn, now),
    )


async def _make(
    conn: AsyncConnection, found: _Found, now: datetime, import_id: int, priority: int | None
) -> None:
    """Make the entries, their jobs, and their rows of the receipt."""
    is_link = priority is None
    await arriving.make_entries(
        conn,
        found.first,
        state=State.LINK if is_link else State.QUEUED,
        sort_at=int(now.timestamp()),
        import_id=import_id,
        owed=is_link,
    )
    if priority is not None:
        await arriving.make_jobs(
            conn,
            found.first_job,
            first_entry=found.first,
            import_id=import_id,
            priority=priority,
            now_ms=to_ms(now),
            stamp=found.stamp,
        )
    await arriving.write_receipt(conn, import_id)


async def _label(
    conn: AsyncConnection, found: _Found, ids: Sequence[int], seeds: SeedColumns, now: datetime
) -> None:
    """Give new entries of an import their tags, and put them into their lists."""
    columns, rows, sort_at = seeds.annotations, found.tags, int(now.timestamp())
    tagged = [
        (each, rows[name], sort_at)
        for each, names in zip(ids, columns["tags"], strict=True)
        for name in names
    ]
    if tagged:
        await tags.insert(conn, tagged)
    folders = zip(ids, columns["folders"], columns["places"], strict=True)
    given = ((each, by_path(paths, places)) for each, paths, places in folders if paths)
    await list_members.put_new(conn, given, found.rooms, sort_at=sort_at)


async def _generations(conn: AsyncConnection, keys: Sequence[str]) -> Sequence[int]:
    before = await gone.generations(conn, keys)
    return [before.get(key, -1) + 1 for key in keys] if before else [0] * len(keys)


def _first_times(keys: Sequence[str]) -> list[bool]:
    """Whether each key comes for the first time."""
    if len({*keys}) == len(keys):
        return [True] * len(keys)
    met: set[str] = set()
    found = []
    for key in keys:
        found.append(key not in met)
        met.add(key)
    return found
