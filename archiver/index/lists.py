"""Lists: which there are, and in which order; what lies in them is in ``list_members``.

What no entry can say (lists without entries, saved searches, the order of all) is owed a
record whenever it becomes another (``owe``).
"""

import json
from collections.abc import Collection, Iterable, Sequence
from datetime import UTC, datetime

from sqlalchemy import ColumnElement, bindparam, delete, func, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from archiver.index import counters, tombstones
from archiver.index.bulk import (
    Clash,
    among,
    among_texts,
    execute_rows,
    insert_rows,
)
from archiver.index.schema import counter, entry_list, imports
from archiver.model.entry_list import (
    MOST_LISTS,
    Arrangement,
    EntryList,
    beside,
    with_more,
    with_outer,
)
from archiver.model.folder_path import folders_above
from archiver.query.keys import list_key
from archiver.warc.lists_record import write_arrangement

_REVISION = "lists"
_ARRANGED = "lists arranged"
_COLUMNS = ("path", "folded", "position", "query")
_ARRANGE = (
    update(entry_list)
    .where(entry_list.c.path == bindparam("of_path"))
    .values(position=bindparam("new_position"), query=bindparam("new_query"))
)


async def all_of_them(conn: AsyncConnection) -> list[EntryList]:
    """Every list, in order, with the number of entries that lie in it; of searches none."""
    rows = await conn.execute(
        select(entry_list.c.path, entry_list.c.query, entry_list.c.entry_count)
        .order_by(entry_list.c.position, entry_list.c.id)
        .limit(MOST_LISTS)
    )
    return [EntryList(path, query, None if query else count) for path, query, count in rows]


async def arrange(conn: AsyncConnection, lists: Sequence[EntryList]) -> None:
    """Let there be these lists in this order, and behind them others that have entries."""
    rows = [(each.path, list_key(each.path), n, each.query) for n, each in enumerate(lists, 1)]
    moved = [(path, position, query) for path, _, position, query in rows]
    await execute_rows(conn, _ARRANGE, ("of_path", "new_position", "new_query"), moved)
    await insert_rows(conn, entry_list, _COLUMNS, rows, Clash.STAYS)
    others = entry_list.c.path.not_in(among_texts(each.path for each in lists))
    await conn.execute(delete(entry_list).where(others, entry_list.c.entry_count == 0))
    await conn.execute(
        update(entry_list).where(others).values(position=len(lists) + entry_list.c.id)
    )
    await _part_from_searches(conn, entry_list.c.entry_count > 0)


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
    await note_creator(conn, import_id, fresh)
    return len(left_out)


async def owe(conn: AsyncConnection) -> None:
    """Note that which lists there are, and in which order, is to be written down."""
    await counters.change(conn, {_REVISION: 1})
    lists = tuple(await all_of_them(conn))
    now = datetime.now(UTC).replace(microsecond=0)
    arrangement = Arrangement(await _counted(conn, _REVISION), now, lists)
    await tombstones.owe(conn, json.dumps(write_arrangement(arrangement), ensure_ascii=False))


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


async def ids_to_fill(
    conn: AsyncConnection, paths: Collection[str], import_id: int | None
) -> dict[str, int]:
    """The rows of lists into which something is put, which are made where there are none."""
    if not paths:
        return {}
    before = await _known(conn, _with_outer(paths))
    if await _part_from_searches(conn, entry_list.c.path.in_(among_texts(paths))):
        await owe(conn)
    ids = await ids_of(conn, paths)
    created = ids.keys() - before.keys()
    await note_creator(conn, import_id, ids if import_id is None else created)
    return ids


async def ids_of(conn: AsyncConnection, paths: Iterable[str]) -> dict[str, int]:
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


async def note_creator(
    conn: AsyncConnection, import_id: int | None, paths: Collection[str]
) -> None:
    """Note that an import created lists, or that a person named them (`import_id` is None)."""
    if paths:
        await conn.execute(
            update(entry_list)
            .where(entry_list.c.path.in_(among_texts(paths)))
            .values(created_by_import=import_id)
        )


async def count_created(conn: AsyncConnection, import_id: int) -> int:
    """Return how many lists only an import created."""
    mine = entry_list.c.created_by_import == import_id
    return int((await conn.execute(select(func.count(entry_list.c.id)).where(mine))).scalar_one())


async def creators(conn: AsyncConnection) -> Sequence[tuple[str, int]]:
    """Return (path, import) of all lists that only one import created."""
    column = entry_list.c.created_by_import
    rows = await conn.execute(select(entry_list.c.path, column).where(column.is_not(None)))
    return [(path, number) for path, number in rows]


async def restore_creators(conn: AsyncConnection, rows: Sequence[tuple[str, int]]) -> None:
    """Copy (path, import) pairs from another index."""
    if rows:
        await conn.execute(
            update(entry_list)
            .where(entry_list.c.path == bindparam("named"))
            .values(created_by_import=bindparam("creator")),
            [{"named": path, "creator": number} for path, number in rows],
        )


async def delete_empty(conn: AsyncConnection) -> bool:
    """Delete the empty lists that only undone imports created; return whether there were any."""
    column = entry_list.c.created_by_import
    rows = (await conn.execute(select(entry_list.c.path, entry_list.c.entry_count, column))).all()
    undone = {*(await conn.execute(select(imports.c.id).where(imports.c.undone != ""))).scalars()}
    kept = {row.path for row in rows if row.entry_count or row.created_by_import not in undone}
    kept |= {outer for path in kept for outer in folders_above(path)}
    empty = [row.path for row in rows if row.path not in kept]
    if empty:
        await conn.execute(delete(entry_list).where(entry_list.c.path.in_(among_texts(empty))))
    return bool(empty)


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
