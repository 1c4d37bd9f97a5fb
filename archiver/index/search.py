"""Full-text search: newest first, by the words of each entry's newest document.

Rows come in the order of ``document.id``, which SQLite's FTS5 walks backwards without sorting, so
a page of a common word costs no more than one of a rare word.
"""

from collections.abc import Sequence

from sqlalchemy import select, text

from archiver.index.connection import AsyncConnection
from archiver.index.entries import Filters, narrowed
from archiver.index.schema import document, entry, entry_tag, tag

_MATCHING = """
SELECT search.rowid FROM search
WHERE search MATCH :match AND search.rowid < :below
ORDER BY search.rowid DESC LIMIT :count
"""
TOP = (1 << 62) - 1
"""Above every document."""


async def matching(conn: AsyncConnection, match: str, *, below: int, count: int) -> list[int]:
    """Documents that match an FTS5 expression, newest first."""
    rows = await conn.execute(text(_MATCHING), {"match": match, "below": below, "count": count})
    return list(rows.scalars())


async def shown(
    conn: AsyncConnection, documents: Sequence[int], filters: Filters
) -> dict[int, int]:
    """Of these documents those that are their entry's newest and pass: entry ids by document."""
    query = (
        select(document.c.id, document.c.entry_id)
        .join(entry, entry.c.id == document.c.entry_id)
        .where(document.c.id.in_(documents), entry.c.document_id == document.c.id)
    )
    if filters.tag is not None:
        query = (
            query.join(entry_tag, entry_tag.c.entry_id == entry.c.id)
            .join(tag, tag.c.id == entry_tag.c.tag_id)
            .where(tag.c.name == filters.tag)
        )
    rows = await conn.execute(narrowed(query, filters))
    return {row.id: row.entry_id for row in rows}
