"""What lies in lists: rows for what ``Annotation.folders`` says of each entry, in its place.

How many entries a list has is kept as it changes, as it is for tags, so a side bar costs one row a
list.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from sqlalchemy import bindparam, delete, func, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from archiver.index import lists
from archiver.index.bulk import (
    THESE,
    Clash,
    among,
    execute_rows,
    insert_rows,
)
from archiver.index.schema import entry_list, in_list

STEP = 1 << 20
"""Between two places: so often what lies between others can be halved before all are moved."""
MIDDLE = 1 << 40
"""The first place, far from 0, which is none."""
_Rows = set[tuple[int, int]]
_TAKE_OUT = delete(in_list).where(
    in_list.c.entry_id == bindparam("of_entry"), in_list.c.list_id == bindparam("of_list")
)


async def put(
    conn: AsyncConnection,
    wanted: Mapping[int, Mapping[str, int]],
    *,
    known: Collection[int],
    added: Mapping[int, int],
    import_id: int | None = None,
) -> set[int]:
    """Let entries lie in these lists and no others; return the ids of those that did not.

    Args:
        conn: a writing connection.
        wanted: places in lists by path, by entry; 0 is the one that it has, or the last.
        known: entries that may lie in lists already.
        added: ``added_at`` of all.
        import_id: the import that says so; a person, where there is none.
    """
    before = await of_entries(conn, wanted.keys() & {*known})
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
    ids = await lists.ids_to_fill(conn, {path: None for _, path in gained}, import_id)
    fresh = (ids[path] for each, path in gained if path not in before.get(each, {}))
    places = gained.items()
    rows = [(each, ids[path], at, added[each]) for (each, path), at in places]
    last = await _last_places(conn, {list_id for _, list_id, place, _ in rows if not place})
    await _put_in(conn, rows, last, fresh=Counter(fresh))
    return {entry_id for entry_id, _ in (*lost, *gained)}


async def _take_out_of(conn: AsyncConnection, lost: Collection[tuple[int, str]]) -> None:
    """Take entries out of lists: (entry, path)."""
    ids = await lists.ids_of(conn, dict.fromkeys(path for _, path in lost))
    await _take_out(conn, {(entry_id, ids[path]) for entry_id, path in lost})


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


async def in_order(conn: AsyncConnection, path: str) -> list[tuple[int, int]]:
    """(row, place) of all that lies in a list, in its order."""
    rows = await conn.execute(
        select(in_list.c.entry_id, in_list.c.place)
        .join(entry_list, entry_list.c.id == in_list.c.list_id)
        .where(entry_list.c.path == path)
        .order_by(in_list.c.place, in_list.c.entry_id)
    )
    return [(row.entry_id, row.place) for row in rows]


async def _put_in(
    conn: AsyncConnection,
    rows: Sequence[tuple[int, int, int, int]],
    last: dict[int, int],
    *,
    fresh: Mapping[int, int],
) -> None:
    """Put entries into lists: (entry, list, place, ``added_at``), 0 behind the last places."""
    placed = []
    for entry_id, list_id, place, added_at in rows:
        if not place:
            last[list_id] += STEP
        placed.append((entry_id, list_id, place or last[list_id], added_at))
    names = ("entry_id", "list_id", "place", "added_at")
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
        await execute_rows(conn, _TAKE_OUT, ("of_entry", "of_list"), sorted(rows))
        await _count(conn, {each: -n for each, n in Counter(one for _, one in rows).items()})


async def _count(conn: AsyncConnection, more: Mapping[int, int]) -> None:
    if more:
        await conn.execute(
            update(entry_list)
            .where(entry_list.c.id == bindparam("list_id"))
            .values(entry_count=entry_list.c.entry_count + bindparam("more")),
            [{"list_id": list_id, "more": by} for list_id, by in more.items()],
        )
