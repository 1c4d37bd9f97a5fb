"""Full-text search: which entries match a query, newest first, oldest first, or the best of them.

``document.id`` grows as documents are made, FTS5 walks it either way without sorting, and parts
hold stretches of it; so a page of a common word costs no more than one of a rare word.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import select

from archiver.index import documents
from archiver.index.bulk import THESE, among
from archiver.index.conditions import Setting, condition, with_document
from archiver.index.connection import AsyncConnection
from archiver.index.dialect.asked import asking
from archiver.index.entries import Filters, narrowed
from archiver.index.schema import document, entry
from archiver.index.search_tables import search_table
from archiver.query.tree import EVERYTHING, Node

TOP = (1 << 62) - 1
"""Above every document."""


@dataclass(frozen=True, slots=True)
class Question:
    """What is looked for.

    Attributes:
        tree: of the query.
        filters: what it is narrowed to besides.
        setting: what it is read against.
    """

    tree: Node
    filters: Filters
    setting: Setting


async def matching(
    conn: AsyncConnection,
    match: str,
    parts: Sequence[int],
    *,
    beyond: int | None = None,
    count: int,
    oldest_first: bool = False,
) -> list[int]:
    """Documents that match an expression, newest first or oldest first, beyond one of them."""
    # SQLite runs the arms of a UNION ALL one after the other, and stops at the limit.
    arm = (
        "SELECT * FROM (SELECT rowid FROM {0} WHERE MATCHES AND rowid {1} :beyond"
        " ORDER BY rowid {2} LIMIT :count) AS taken"
    ).replace("MATCHES", conn.dialect.words.matches)
    sign, order = (">", "ASC") if oldest_first else ("<", "DESC")
    inner = sorted(parts, reverse=not oldest_first)
    if not inner:
        return []
    beyond = beyond if beyond is not None else (0 if oldest_first else TOP)
    union = " UNION ALL ".join(arm.format(search_table(part), sign, order) for part in inner)
    rows = await conn.execute(
        asking(f"{union} LIMIT :count"), {"match": match, "beyond": beyond, "count": count}
    )
    return sorted(rows.scalars(), reverse=not oldest_first)


_ENTRIES = (
    select(document.c.id, document.c.entry_id)
    .join(entry, entry.c.id == document.c.entry_id)
    .where(document.c.id.in_(THESE), entry.c.document_id == document.c.id)
)


async def entries_of(
    conn: AsyncConnection, found: Sequence[int], rest: Node, question: Question
) -> dict[int, int]:
    """Of these documents those that are their entry's newest and pass: entry ids by document."""
    query = _ENTRIES
    if rest != EVERYTHING:
        query = query.where(condition(rest, question.setting))
    rows = await conn.execute(narrowed(query, question.filters), {"these": found})
    return dict(rows.all())


async def passing(conn: AsyncConnection, entry_ids: Sequence[int], question: Question) -> set[int]:
    """Which of these entries the whole query matches."""
    query = with_document(select(entry.c.id).select_from(entry))
    query = query.where(entry.c.id.in_(among(entry_ids)))
    query = query.where(condition(question.tree, question.setting))
    rows = await conn.execute(narrowed(query, question.filters))
    return set(rows.scalars())


async def parts_of(conn: AsyncConnection) -> list[int]:
    """The parts of the words' index, newest first."""
    return await documents.parts(conn, below=TOP)
