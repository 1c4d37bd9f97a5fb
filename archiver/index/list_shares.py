"""Which lists imports alone have brought: what undoing them takes, once nothing lies in those.

A list is an import's as long as no person has made it or put anything into it. Each import that
names it has a share in it, so it goes with the last of them.
"""

from collections.abc import Collection, Sequence

from sqlalchemy import delete, exists, select

from archiver.index.bulk import Clash, among_texts, insert_rows
from archiver.index.connection import AsyncConnection
from archiver.index.schema import brought_list, entry_list, imports
from archiver.model.folder_path import folders_above

_COLUMNS = ("path", "import_id")


async def note(
    conn: AsyncConnection, import_id: int | None, paths: Collection[str], *, fresh: Collection[str]
) -> None:
    """Note who names lists: an import, or a person where none is named; ``fresh`` are new ones."""
    named = brought_list.c.path.in_(among_texts(paths))
    if import_id is None:
        await conn.execute(delete(brought_list).where(named))
        return
    known = await conn.execute(select(brought_list.c.path).where(named).distinct())
    rows = [(path, import_id) for path in sorted({*fresh, *known.scalars()})]
    await insert_rows(conn, brought_list, _COLUMNS, rows, Clash.STAYS)


async def forget_gone(conn: AsyncConnection) -> None:
    """Forget who has brought lists that there are not any more."""
    there = exists().where(entry_list.c.path == brought_list.c.path)
    await conn.execute(delete(brought_list).where(~there))


async def own_lists(conn: AsyncConnection, import_id: int) -> set[str]:
    """Paths of lists that an import has brought, and no other has named."""
    mine, others = brought_list.alias(), brought_list.alias()
    named_too = exists().where(others.c.path == mine.c.path, others.c.import_id != import_id)
    rows = await conn.execute(select(mine.c.path).where(mine.c.import_id == import_id, ~named_too))
    return {*rows.scalars()}


async def take_back(conn: AsyncConnection, import_id: int) -> bool:
    """Take away what an import alone has brought, and is empty; whether anything was."""
    paths = await own_lists(conn, import_id)
    await conn.execute(delete(brought_list).where(brought_list.c.import_id == import_id))
    full = await conn.execute(
        select(entry_list.c.path).where(
            (entry_list.c.entry_count > 0) | entry_list.c.path.not_in(among_texts(paths))
        )
    )
    around = {outer for path in full.scalars() for outer in (path, *folders_above(path))}
    gone = paths - around
    await conn.execute(delete(entry_list).where(entry_list.c.path.in_(among_texts(gone))))
    return bool(gone)


async def all_of_them(conn: AsyncConnection) -> Sequence[tuple[str, int]]:
    """(path, import) of all that imports have brought."""
    rows = await conn.execute(select(brought_list.c.path, brought_list.c.import_id))
    return [(path, number) for path, number in rows]


async def restore(conn: AsyncConnection, rows: Sequence[tuple[str, int]]) -> None:
    """Take over from another index who has brought lists, where those are there."""
    known = {*(await conn.execute(select(imports.c.id))).scalars()}
    kept = [(path, number) for path, number in rows if number in known]
    await insert_rows(conn, brought_list, _COLUMNS, kept, Clash.STAYS)
    await forget_gone(conn)
