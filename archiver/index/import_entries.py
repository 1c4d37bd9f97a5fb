"""Entries that only one import created: undoing the import deletes them.

`entry.brought_by` is the import that created an entry. It becomes NULL when a person saves or
changes the entry. If the file of another import has the entry too, it is handed over to that import
when the first one is undone; the receipts (`import_row`) tell which imports those are.
"""

from collections.abc import Collection, Sequence

from sqlalchemy import Select, bindparam, func, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from archiver.index.bulk import among, among_texts
from archiver.index.schema import entry, entry_table, import_row, imports
from archiver.model.capture import HashUrl


async def mark_touched(conn: AsyncConnection, entry_ids: Collection[int]) -> None:
    """Note that a person saved or changed entries: no undo deletes them."""
    if entry_ids:
        await conn.execute(
            update(entry_table)
            .where(entry_table.c.id.in_(among(entry_ids)), entry_table.c.brought_by.is_not(None))
            .values(brought_by=None)
        )


async def has_created_any(conn: AsyncConnection, import_id: int) -> bool:
    """Return whether there is an entry that an import created and no person touched."""
    rows = await conn.execute(select(entry.c.id).where(entry.c.brought_by == import_id).limit(1))
    return rows.first() is not None


async def count_to_delete(conn: AsyncConnection, import_id: int) -> int:
    """Return how many entries the undo of an import deletes: those that no other import has."""
    mine = select(func.count(entry.c.id)).where(entry.c.brought_by == import_id)
    others = await _others(conn, import_id)
    if others:
        mine = mine.where(entry.c.hash_url.not_in(_named_by(others).with_only_columns(_KEY)))
    return int((await conn.execute(mine)).scalar_one())


async def hand_over(conn: AsyncConnection, import_id: int) -> None:
    """Give entries that an import created to the first other import that has them in its file."""
    others = await _others(conn, import_id)
    if others:
        heir = _named_by(others).subquery()
        await conn.execute(
            update(entry_table)
            .where(entry_table.c.brought_by == import_id, entry_table.c.hash_url == heir.c.hash_url)
            .values(brought_by=heir.c.import_id)
        )


async def created_by(conn: AsyncConnection, import_id: int, *, limit: int) -> list[int]:
    """Return the row ids of some entries that an import created."""
    rows = await conn.execute(
        select(entry.c.id).where(entry.c.brought_by == import_id).order_by(entry.c.id).limit(limit)
    )
    return list(rows.scalars())


async def creators_after(
    conn: AsyncConnection, after: int, *, limit: int
) -> tuple[list[tuple[HashUrl, int]], int]:
    """Return a page of (hash_url, import) after an entry's row id, and the last row id of it."""
    rows = (
        await conn.execute(
            select(entry.c.id, entry.c.hash_url, entry.c.brought_by)
            .where(entry.c.brought_by.is_not(None), entry.c.id > after)
            .order_by(entry.c.id)
            .limit(limit)
        )
    ).all()
    found = [(HashUrl(row.hash_url), row.brought_by) for row in rows]
    return found, rows[-1].id if rows else after


async def restore_creators(conn: AsyncConnection, creators: Sequence[tuple[HashUrl, int]]) -> None:
    """Copy (hash_url, import) pairs from another index, where both exist in this one."""
    known = {*(await conn.execute(select(imports.c.id))).scalars()}
    found = await conn.execute(
        select(entry.c.hash_url, entry.c.id).where(
            entry.c.hash_url.in_(among_texts(key for key, _ in creators))
        )
    )
    ids: dict[str, int] = dict(found.all())
    rows = [
        {"entry_id": ids[key], "creator": number}
        for key, number in creators
        if key in ids and number in known
    ]
    if rows:
        statement = update(entry_table).where(entry_table.c.id == bindparam("entry_id"))
        await conn.execute(statement.values(brought_by=bindparam("creator")), rows)


_KEY = import_row.c.hash_url


def _named_by(import_ids: Collection[int]) -> Select[str | None, int]:
    """Select the entries in the files of imports, each with the first of these imports."""
    return (
        select(_KEY, func.min(import_row.c.import_id).label("import_id"))
        .where(import_row.c.import_id.in_(among(import_ids)), _KEY.is_not(None))
        .group_by(_KEY)
    )


async def _others(conn: AsyncConnection, import_id: int) -> list[int]:
    """Return the other imports, without those that are undone."""
    rows = await conn.execute(
        select(imports.c.id, imports.c.undone).where(imports.c.id != import_id)
    )
    return [row.id for row in rows.all() if not row.undone or await has_created_any(conn, row.id)]
