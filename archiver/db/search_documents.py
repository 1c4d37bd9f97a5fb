"""Search documents of entries in the full-text index.

An entry gets a new document whenever its text or metadata changes; ``entry.document_id`` is the id
of its current document.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from sqlalchemy import (
    Column,
    MetaData,
    Table,
    bindparam,
    case,
    func,
    or_,
    select,
    update,
)
from sqlalchemy.ext.asyncio import AsyncConnection

from archiver.db.counters import next_id
from archiver.db.dialects import THESE, among
from archiver.db.full_text import IndexRow, WordIndex, word_index_of
from archiver.db.schema import (
    FULL_TEXT,
    document,
    entry,
    entry_table,
)
from archiver.db.statements import insert_rows
from archiver.model.listing import SearchDocument

_IS_STALE = entry_table.c.revision != bindparam("of_revision")
_MARK = (
    update(entry_table)
    .values(document_stale=case((_IS_STALE, 1), else_=0))
    .where(
        entry_table.c.id.in_(THESE),
        or_(entry_table.c.document_stale == 1, _IS_STALE),
    )
)


@dataclass(frozen=True, slots=True)
class NewDocument:
    """New search document of an entry.

    Attributes:
        entry_id: row id of the entry.
        snapshot_id: row id of the snapshot with the article; None if the entry has no snapshot.
        search_document: content of the document.
        words: row for the full-text index, if it was computed before the transaction; else None.
    """

    entry_id: int
    snapshot_id: int | None
    search_document: SearchDocument
    words: IndexRow | None = None


@dataclass(frozen=True, slots=True)
class PendingDocument:
    """Document that must be built again."""

    document_id: int
    entry_id: int
    snapshot_id: int | None


async def insert_all(
    conn: AsyncConnection,
    documents: Sequence[NewDocument],
) -> dict[int, int]:
    """Insert search documents; return document ids by entry id.

    The caller stores these ids in the entries. If the annotation of an entry has changed since its
    document was built, the document is marked as outdated.
    """
    if not documents:
        return {}
    first = await next_id(conn, document.c.id)
    await insert_rows(
        conn,
        document,
        [
            {
                "id": first + n,
                "entry_id": each.entry_id,
                "snapshot_id": each.snapshot_id,
                "word_count": each.search_document.word_count,
                "language": each.search_document.language,
                "published": each.search_document.published,
                "kind": str(each.search_document.kind),
            }
            for n, each in enumerate(documents)
        ],
    )
    words_of = word_index_of(conn).row
    rows = [each.words or words_of(each.search_document) for each in documents]
    full_text = _table(word_index_of(conn))
    names = full_text.columns.keys()
    await insert_rows(
        conn,
        full_text,
        [dict(zip(names, (first + n, *words), strict=True)) for n, words in enumerate(rows)],
    )
    await _mark_outdated(conn, documents)
    return {each.entry_id: first + n for n, each in enumerate(documents)}


_WORD_COUNTS = (
    select(entry.c.id, document.c.word_count)
    .join(document, document.c.id == entry.c.document_id)
    .where(entry.c.id.in_(THESE), document.c.word_count > 0)
)


async def word_counts(conn: AsyncConnection, entry_ids: Sequence[int]) -> dict[int, int]:
    """Return the word counts of articles by entry id; entries without words are left out."""
    rows = await conn.execute(_WORD_COUNTS, {"these": entry_ids})
    return {row.id: row.word_count for row in rows}


async def stale(conn: AsyncConnection, *, limit: int) -> list[PendingDocument]:
    """Return the outdated documents of entries; the id is 0 if an entry has no document yet."""
    rows = await conn.execute(
        select(func.coalesce(document.c.id, 0), entry.c.id, document.c.snapshot_id)
        .select_from(entry.outerjoin(document, document.c.id == entry.c.document_id))
        .where(entry.c.document_stale == 1)
        .order_by(entry.c.id)
        .limit(limit)
    )
    return [PendingDocument(*row) for row in rows]


async def mark_stale_of(conn: AsyncConnection, snapshot_ids: Sequence[int]) -> None:
    """Mark documents as outdated that were built from these snapshots.

    A rebuild may build the document of a snapshot before it finds the article that the snapshot
    shares with an older one. Then the document lacks the article.
    """
    if snapshot_ids:
        of_these = select(document.c.id).where(document.c.snapshot_id.in_(among(snapshot_ids)))
        await conn.execute(
            update(entry_table)
            .where(entry_table.c.document_id.in_(of_these))
            .values(document_stale=1)
        )


@lru_cache(2)
def _table(words: WordIndex) -> Table:
    """Return the full-text table, with the columns that inserts need."""
    rowid = Column("rowid", document.c.id.type)
    columns = (Column(each.name, each.type) for each in words.columns)
    return Table(FULL_TEXT, MetaData(), rowid, *columns)


async def _mark_outdated(conn: AsyncConnection, documents: Sequence[NewDocument]) -> None:
    """Mark documents as outdated if the annotation of their entry now has another revision."""
    entry_ids: dict[int, list[int]] = {}
    for each in documents:
        entry_ids.setdefault(each.search_document.revision, []).append(each.entry_id)
    for revision, these in entry_ids.items():
        await conn.execute(_MARK, {"these": these, "of_revision": revision})
