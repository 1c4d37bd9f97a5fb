"""Lists, and what lies in them: rows for what ``Annotation.folders`` says of each entry.

How many entries a list has is kept as it changes, as it is for tags, so a side bar costs one row a
list. What no entry can say (lists without entries, saved searches, the order of all) is owed a
record whenever it becomes another (``owe``).
"""

import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime

from sqlalchemy import ColumnElement, bindparam, delete, func, select, tuple_, update

from archiver.index import counters, gone, list_shares
from archiver.index.bulk import (
    THESE,
    Clash,
    among,
    among_texts,
    execute_rows,
    given,
    insert_rows,
    over,
)
from archiver.index.connection import AsyncConnection
from archiver.index.schema import counter, entry_list, in_list
from archiver.model.entry_list import (
    MOST_LISTS,
    Arrangement,
    EntryList,
    beside,
    with_more,
    with_outer,
)
from archiver.query.keys import list_key
from archiver.values import frozen
from archiver.warc.lists_record import write_arrangement

STEP = 1 << 20
"""Between two places: so often what lies between others can be halved before all are moved."""
MIDDLE = 1 << 40
"""The first place, far from 0, which is none."""
_REVISION = "lists"
_ARRANGED = "lists arranged"
_Rows = set[tuple[int, int]]
_PAIRS = given("pairs", in_list.c.entry_id, in_list.c.list_id)
_OUT = over(
    _PAIRS,
    delete(in_list).where(tuple_(in_list.c.entry_id, in_list.c.list_id).in_(select(*_PAIRS.c))),
)
_COLUMNS = ("path", "folded", "position", "query")
_WANTED = given("wanted", *(entry_list.c[name] for name in _COLUMNS))
_ARRANGE = over(
    _WANTED,
    update(entry_list)
    .where(entry_list.c.path == _WANTED.c.path)
    .values(position=_WANTED.c.position, query=_WANTED.c.query),
)


@frozen
class Room:
    """Where entries are put into a list.

    Attributes:
        list_id: its row.
        last: the greatest place in it.
    """

    list_id: int
    last: int


async def put(
    conn: AsyncConnection,
    wanted: Mapping[int, Mapping[str, int]],
    *,
    known: Mapping[int, int],
    sort_at: int = 0,
    import_id: int | None = None,
) -> set[int]:
    """Let entries lie in these lists and no others; return the ids of those that did not.

    Args:
        conn: a writing connection.
        wanted: places in lists by path, by entry; 0 is the one that it has, or the last.
        known: ``sort_at`` of entries that may lie in lists already.
        sort_at: of all others.
        import_id: the import that says so; a person, where there is none.
    """
    before = await of_entries(conn, wanted.keys() & known.keys())
    lost = {
        (entry_id, path)
        for entry_id, lists in before.items()
        for path in lists
        if path not in wanted[entry_id]
    }
    gained = {
        (entry_id, path): place
        for entry_id, lists in wanted.items()
        for path, place in lists.items()
        if entry_id not in before or _is_new(path, place, before[entry_id])
    }
    if not lost and not gained:
        return set()
    await _take_out_of(conn, lost)
    ids = await _ids_to_fill(conn, {path: None for _, path in gained}, import_id)
    fresh = (ids[path] for each, path in gained if path not in before.get(each, {}))
    places = gained.items()
    rows = [(each, ids[path], at, known.get(each, sort_at)) for (each, path), at in places]
    last = await _last_places(conn, {list_id for _, list_id, place, _ in rows if not place})
    await _put_in(conn, rows, last, fresh=Counter(fresh))
    return {entry_id for entry_id, _ in (*lost, *gained)}


async def _take_out_of(conn: AsyncConnection, lost: Collection[tuple[int, str]]) -> None:
    """Take entries out of lists: (entry, path)."""
    ids = await _ids(conn, dict.fromkeys(path for _, path in lost))
    await _take_out(conn, {(entry_id, ids[path]) for entry_id, path in lost})


async def rooms_in(
    conn: AsyncConnection, paths: Collection[str], *, import_id: int | None
) -> dict[str, Room]:
    """Where entries that lie nowhere yet can be put, by path; lists are made where there are none.

    ``import_id`` is the import that says so; a person, where there is none.
    """
    ids = await _ids_to_fill(conn, dict.fromkeys(paths), import_id)
    last = await _last_places(conn, {ids[path] for path in paths}) if paths else {}
    return {path: Room(ids[path], last[ids[path]]) for path in paths}


async def put_new(
    conn: AsyncConnection,
    wanted: Iterable[tuple[int, Mapping[str, int]]],
    rooms: Mapping[str, Room],
    *,
    sort_at: int,
) -> None:
    """Let entries that lie nowhere yet lie in lists: places by path, by entry, as for ``put``."""
    last = {room.list_id: room.last for room in rooms.values()}
    rows = [
        (each, rooms[path].list_id, place, sort_at)
        for each, lists in wanted
        for path, place in lists.items()
    ]
    if rows:
        await _put_in(conn, rows, last, fresh=Counter(list_id for _, list_id, _, _ in rows))


def _is_new(path: str, place: int, before: Mapping[str, int]) -> bool:
    """Whether an entry that lies in these lists is to lie in this one, or elsewhere in it."""
    return before.get(path) != place if place else path not in before


async def take_out_all(conn: AsyncConnection, entry_ids: Collection[int]) -> None:
    """Take entries out of all lists."""
    rows = await conn.execute(
        select(in_list.c.entry_id, in_list.c.list_id).where(
            in_list.c.entry_id.in_(among(entry_ids))
        )
    )
    await _take_out(conn, {(row.entry_id, row.list_id) for row in rows})


_OF_ENTRIES = (
    select(in_list.c.entry_id, entry_list.c.path, in_list.c.place)
    .join(entry_list, entry_list.c.id == in_list.c.list_id)
    .where(in_list.c.entry_id.in_(THESE))
)


async def of_entries(
    conn: AsyncConnection, entry_ids: Collection[int]
) -> dict[int, dict[str, int]]:
    """The place in each list, by path and in the order of paths, of entries that lie in some."""
    if not entry_ids:
        return {}
    rows = await conn.execute(_OF_ENTRIES, {"these": entry_ids})
    found: dict[int, dict[str, int]] = {}
    for entry_id, path, place in sorted((row.entry_id, row.path, row.place) for row in rows):
        found.setdefault(entry_id, {})[path] = place
    return found


async def all_of_them(conn: AsyncConnection) -> list[EntryList]:
    """Every list, in order, with the number of entries that lie in it; of searches none."""
    rows = await conn.execute(
        select(entry_list.c.path, entry_list.c.query, entry_list.c.entry_count)
        .order_by(entry_list.c.position, entry_list.c.id)
        .limit(MOST_LISTS)
    )
    return [EntryList(path, query, None if query else count) for path, query, count in rows]


async def id_of(conn: AsyncConnection, path: str) -> int | None:
    """The row of the list of that path, in whatever case; None if there is none, or several."""
    rows = await conn.execute(
        select(entry_list.c.id).where(entry_list.c.folded == list_key(path)).limit(2)
    )
    found = list(rows.scalars())
    return found[0] if len(found) == 1 else None


async def in_order(conn: AsyncConnection, path: str) -> list[tuple[int, int]]:
    """(row, place) of all that lies in a list, in its order."""
    rows = await conn.execute(
        select(in_list.c.entry_id, in_list.c.place)
        .join(entry_list, entry_list.c.id == in_list.c.list_id)
        .where(entry_list.c.path == path)
        .order_by(in_list.c.place, in_list.c.entry_id)
    )
    return [(row.entry_id, row.place) for row in rows]


async def arrange(conn: AsyncConnection, lists: Sequence[EntryList]) -> None:
    """Let there be these lists in this order, and behind them others that have entries."""
    rows = [(each.path, list_key(each.path), n, each.query) for n, each in enumerate(lists, 1)]
    await execute_rows(conn, _ARRANGE, rows)
    await insert_rows(conn, entry_list, _COLUMNS, rows, Clash.STAYS)
    others = entry_list.c.path.not_in(among_texts(each.path for each in lists))
    await conn.execute(delete(entry_list).where(others, entry_list.c.entry_count == 0))
    await conn.execute(
        update(entry_list).where(others).values(position=len(lists) + entry_list.c.id)
    )
    await _part_from_searches(conn, entry_list.c.entry_count > 0)
    await list_shares.forget_gone(conn)


async def add(conn: AsyncConnection, given: Sequence[EntryList], *, import_id: int) -> int:
    """Let there be the lists of a file too, behind all others; for how many there is no room."""
    if not given:
        return 0
    known = await all_of_them(conn)
    wanted, left_out = with_more(known, given)
    if len(wanted) > len(known):
        await arrange(conn, wanted)
        await owe(conn)
    fresh = {each.path for each in wanted} - {each.path for each in known}
    named = _with_outer(each.path for each in given)
    await list_shares.note(conn, import_id, named, fresh=fresh)
    return len(left_out)


async def note_named(conn: AsyncConnection, import_id: int, paths: Collection[str]) -> None:
    """Note that an import names lists that are there, whether it puts anything into them or not."""
    if paths:
        await list_shares.note(conn, import_id, _with_outer(paths), fresh=())


async def owe(conn: AsyncConnection) -> None:
    """Note that which lists there are, and in which order, is to be written down."""
    await counters.change(conn, {_REVISION: 1})
    lists = tuple(await all_of_them(conn))
    now = datetime.now(UTC).replace(microsecond=0)
    arrangement = Arrangement(await _counted(conn, _REVISION), now, lists)
    await gone.owe(conn, json.dumps(write_arrangement(arrangement), ensure_ascii=False))


async def note(conn: AsyncConnection, found: Sequence[Arrangement]) -> None:
    """Take over what records say, if it is newer than what is known here."""
    known = await _counted(conn, _REVISION)
    newest = max(found, key=lambda each: each.revision, default=None)
    if newest and newest.revision > known:
        await arrange(conn, with_outer(newest.lists))
        arranged = await _counted(conn, _ARRANGED)
        await counters.change(
            conn,
            {
                _REVISION: newest.revision - known,
                _ARRANGED: len(with_outer(newest.lists)) - arranged,
            },
        )


async def sweep(conn: AsyncConnection) -> None:
    """Take out what older records put entries into, and no later one knows, once all are read."""
    full = await conn.execute(select(entry_list.c.path).where(entry_list.c.entry_count > 0))
    kept = [each.path for each in with_outer(map(EntryList, full.scalars()))]
    await conn.execute(
        delete(entry_list).where(
            entry_list.c.position > await _counted(conn, _ARRANGED),
            entry_list.c.path.not_in(among_texts(kept)),
        )
    )


async def _counted(conn: AsyncConnection, name: str) -> int:
    known = await conn.execute(select(counter.c.value).where(counter.c.name == name))
    return known.scalar() or 0


async def _ids_to_fill(
    conn: AsyncConnection, paths: Collection[str], import_id: int | None
) -> dict[str, int]:
    """The rows of lists into which something is put, which are made where there are none."""
    if not paths:
        return {}
    before = await _known(conn, _with_outer(paths))
    if await _part_from_searches(conn, entry_list.c.path.in_(among_texts(paths))):
        await owe(conn)
    ids = await _ids(conn, paths)
    await list_shares.note(conn, import_id, ids, fresh=ids.keys() - before.keys())
    return ids


async def _ids(conn: AsyncConnection, paths: Iterable[str]) -> dict[str, int]:
    """The rows of lists; those that there are not are made, behind all others."""
    wanted = _with_outer(paths)
    known = await _known(conn, wanted)
    fresh = [path for path in wanted if path not in known]
    if not fresh:
        return known
    last = (await conn.execute(select(func.max(entry_list.c.position)))).scalar() or 0
    rows = [(path, list_key(path), last + n) for n, path in enumerate(fresh, 1)]
    await insert_rows(conn, entry_list, ("path", "folded", "position"), rows)
    if last < MOST_LISTS:
        await owe(conn)
    return await _known(conn, wanted)


def _with_outer(paths: Iterable[str]) -> list[str]:
    return [each.path for each in with_outer(map(EntryList, paths))]


async def _part_from_searches(conn: AsyncConnection, which: ColumnElement[bool]) -> bool:
    """Let saved searches be called otherwise, where their names are those of lists with entries.

    Nobody would see those entries: a search shows what it finds, and not what lies in it.
    """
    found = await conn.execute(select(entry_list).where(which, entry_list.c.query != ""))
    searches = found.all()
    if searches:
        taken = {*(await conn.execute(select(entry_list.c.path))).scalars()}
        rows = []
        for each in searches:
            path = beside(each.path, taken)
            taken.add(path)
            rows.append((path, list_key(path), each.position, each.query))
        await insert_rows(conn, entry_list, _COLUMNS, rows)
        ids = among(each.id for each in searches)
        await conn.execute(update(entry_list).where(entry_list.c.id.in_(ids)).values(query=""))
    return bool(searches)


async def _known(conn: AsyncConnection, paths: Iterable[str]) -> dict[str, int]:
    rows = await conn.execute(
        select(entry_list.c.path, entry_list.c.id).where(entry_list.c.path.in_(among_texts(paths)))
    )
    return dict(rows.all())


async def _put_in(
    conn: AsyncConnection,
    rows: Sequence[tuple[int, int, int, int]],
    last: dict[int, int],
    *,
    fresh: Mapping[int, int],
) -> None:
    """Put entries into lists: (entry, list, place, ``sort_at``), 0 behind the last places."""
    placed = []
    for entry_id, list_id, place, sort_at in rows:
        if not place:
            last[list_id] += STEP
        placed.append((entry_id, list_id, place or last[list_id], sort_at))
    names = ("entry_id", "list_id", "place", "sort_at")
    await insert_rows(conn, in_list, names, placed, Clash.GOES)
    await _count(conn, fresh)


async def _last_places(conn: AsyncConnection, list_ids: Collection[int]) -> dict[int, int]:
    # A subquery for each list looks at the end of its index; a GROUP BY would walk all of it.
    last = select(func.max(in_list.c.place)).where(in_list.c.list_id == entry_list.c.id)
    rows = await conn.execute(
        select(entry_list.c.id, func.coalesce(last.scalar_subquery(), MIDDLE)).where(
            entry_list.c.id.in_(among(list_ids))
        )
    )
    return dict(rows.all())


async def _take_out(conn: AsyncConnection, rows: _Rows) -> None:
    if rows:
        await execute_rows(conn, _OUT, sorted(rows))
        await _count(conn, {each: -n for each, n in Counter(one for _, one in rows).items()})


async def _count(conn: AsyncConnection, more: Mapping[int, int]) -> None:
    if more:
        await conn.tell(
            update(entry_list)
            .where(entry_list.c.id == bindparam("list_id"))
            .values(entry_count=entry_list.c.entry_count + bindparam("more")),
            [{"list_id": list_id, "more": by} for list_id, by in more.items()],
        )
