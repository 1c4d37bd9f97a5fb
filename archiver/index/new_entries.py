"""Entries that are new, thousands at once: columns become rows without an object for each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain, compress, count, repeat

from sqlalchemy.ext.asyncio import AsyncConnection

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
from archiver.index.numbering import next_number
from archiver.index.schema import entry, job
from archiver.index.turns import make_ready, to_ms
from archiver.model.annotation import by_path
from archiver.model.job import State
from archiver.model.seed_columns import SeedColumns

MOST_MET = 50_000
"""Hosts, and tags, that are remembered of a transaction."""
_COLUMNS = ("id", "hash_url", "url", "host", *annotations.NAMES, "generation")
_COLUMNS += ("state", "sort_at", "brought_by", "unrecorded", "document_stale")


@dataclass(slots=True)
class Met:
    """What one transaction has seen to, so that it is not looked for again.

    Attributes:
        hosts: noted, and given their turn, by the priority of their jobs, or by None without any.
        tags: rows, by name.
        rooms: in lists, by path; they hold as long as nothing else is put there.
        numbers: of the next group, as long as nobody else makes entries or jobs.
    """

    hosts: dict[int | None, set[str]] = field(default_factory=dict)
    tags: dict[str, int] = field(default_factory=dict)
    rooms: dict[str, list_members.Room] = field(default_factory=dict)
    numbers: "_Numbers | None" = None

    def forget_places(self) -> None:
        """Look anew for what comes next: links that are known were taken in meanwhile."""
        self.rooms.clear()
        self.numbers = None


@dataclass(frozen=True, slots=True)
class _Numbers:
    """What new rows are numbered with.

    Attributes:
        entry, job: the first of them.
        stamp: of the jobs (``changes``).
        is_any_gone: whether any entry was thrown away before.
    """

    entry: int
    job: int
    stamp: int
    is_any_gone: bool


@dataclass(frozen=True, slots=True)
class _Group:
    """What holds of all new entries of a group.

    Attributes:
        now, import_id, priority: as for ``bring``.
        numbers: of what stands at place 0.
    """

    now: datetime
    import_id: int
    priority: int | None
    numbers: _Numbers


async def bring(
    conn: AsyncConnection,
    seeds: SeedColumns,
    numbers: Sequence[int],
    *,
    now: datetime,
    import_id: int,
    priority: int | None,
    met: Met,
) -> list[bool]:
    """Make entries of new seeds of an import, with all they carry, jobs, and rows of the receipt.

    What has to be looked up is asked for before the engine is given what takes it long: it goes on
    with that while the rest is put together.

    Args:
        conn: a writing connection.
        seeds: those, of which any may be known, or come twice.
        numbers: their rows in the file.
        now: the moment (aware, UTC).
        import_id: the import that alone brings them.
        priority: of the jobs; where it is None none are made, and the entries are links.
        met: what this transaction has seen to; more is added.

    Returns:
        Of each whether it was new, the first time that it came.
    """
    is_first = _first_times(seeds.keys)
    firsts = seeds.where(is_first)
    group = _Group(now, import_id, priority, await _next_numbers(conn, met, now))
    await arriving.put_down(conn, firsts, [*compress(numbers, is_first)])
    tag_rows = await _tag_rows(conn, firsts, met)
    await _find_rooms(conn, firsts, met, import_id)
    known = {*await arriving.take_out_known(conn)}
    await _make(conn, group)
    is_new = [place not in known for place in range(len(firsts))]
    await _carry(conn, firsts, is_new, group, tag_rows, met)
    each = iter(is_new)
    return [first and next(each) for first in is_first]


async def _carry(
    conn: AsyncConnection,
    firsts: SeedColumns,
    is_new: Sequence[bool],
    group: _Group,
    tag_rows: Mapping[str, int],
    met: Met,
) -> None:
    """See to what belongs to entries that were made: labels, hosts, and that they are counted."""
    if not any(is_new):
        return
    ids = [*compress(count(group.numbers.entry), is_new)]
    fresh = firsts.where(is_new)
    await _label(conn, tag_rows, met, ids, fresh)
    await _see_to_hosts(conn, {*fresh.hosts}, met, group.now, group.priority)
    await _count(conn, len(fresh), group.priority)
    met.numbers = _behind(group, len(firsts))


async def _count(conn: AsyncConnection, fresh: int, priority: int | None) -> None:
    """Count entries, and their jobs."""
    counted = {counters.ENTRIES: fresh}
    counted |= {} if priority is None else {counters.QUEUED: fresh}
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


async def _next_numbers(conn: AsyncConnection, met: Met, now: datetime) -> _Numbers:
    """What the next rows are numbered with; it is asked for once in a transaction."""
    if met.numbers is None:
        met.numbers = _Numbers(
            await next_number(conn, entry.c.id),
            await next_number(conn, job.c.id),
            await changes.next_stamp(conn, now),
            await gone.count(conn) > 0,
        )
    return met.numbers


def _behind(group: _Group, size: int) -> _Numbers:
    """What comes behind the numbers of a group of so many places."""
    had = group.numbers
    jobs = 0 if group.priority is None else size
    stamp = max(had.stamp + 1, to_ms(group.now))
    return _Numbers(had.entry + size, had.job + jobs, stamp, had.is_any_gone)


async def _tag_rows(conn: AsyncConnection, seeds: SeedColumns, met: Met) -> Mapping[str, int]:
    """The rows of the tags that seeds have, by name."""
    names = {*chain.from_iterable(seeds.annotations["tags"])}
    found = await tags.ids_of(conn, names - met.tags.keys())
    rows = {name: met.tags[name] for name in names & met.tags.keys()} | found
    if len(met.tags) > MOST_MET:
        met.tags.clear()
    met.tags |= found
    return rows


async def _make(conn: AsyncConnection, group: _Group) -> None:
    """Make the entries, their jobs, and their rows of the receipt, of what is left to be made."""
    is_link, numbers = group.priority is None, group.numbers
    await arriving.make_entries(
        conn,
        numbers.entry,
        state=State.LINK if is_link else State.QUEUED,
        sort_at=int(group.now.timestamp()),
        import_id=group.import_id,
        owed=is_link,
        is_any_gone=numbers.is_any_gone,
    )
    if group.priority is not None:
        await arriving.make_jobs(
            conn,
            numbers.job,
            first_entry=numbers.entry,
            import_id=group.import_id,
            priority=group.priority,
            now_ms=to_ms(group.now),
            stamp=numbers.stamp,
        )
    await arriving.write_receipt(conn, group.import_id)
    await arriving.clear(conn)


async def _find_rooms(conn: AsyncConnection, seeds: SeedColumns, met: Met, import_id: int) -> None:
    """Find room in the lists that seeds are to lie in."""
    paths = dict.fromkeys(chain.from_iterable(seeds.annotations["folders"]))
    if len(met.rooms) > MOST_MET:
        met.rooms.clear()
    unmet = [path for path in paths if path not in met.rooms]
    met.rooms |= await list_members.rooms_in(conn, unmet, import_id=import_id)


async def _label(
    conn: AsyncConnection,
    tag_rows: Mapping[str, int],
    met: Met,
    ids: Sequence[int],
    seeds: SeedColumns,
) -> None:
    """Give new entries their tags, of which these are the rows, and put them into their lists."""
    columns = seeds.annotations
    tagged = [
        (each, tag_rows[name], added_at)
        for each, names, added_at in zip(ids, columns["tags"], columns["added_at"], strict=True)
        for name in names
    ]
    if tagged:
        await tags.insert(conn, tagged)
    folders = zip(ids, columns["folders"], columns["places"], strict=True)
    given = ((each, by_path(paths, places)) for each, paths, places in folders if paths)
    added = dict(zip(ids, columns["added_at"], strict=True))
    met.rooms = await list_members.put_new(conn, given, met.rooms, added=added)


async def _see_to_hosts(
    conn: AsyncConnection, names: set[str], met: Met, now: datetime, priority: int | None
) -> None:
    """Note hosts, and give them their turn where they have jobs, once in a transaction."""
    known = met.hosts.setdefault(priority, set())
    fresh = names - known
    await hosts.note(conn, fresh)
    if priority is not None:
        due = to_ms(now)
        await make_ready(conn, {(priority, name): due for name in fresh})
    if len(known) > MOST_MET:
        known.clear()
    known |= fresh


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
