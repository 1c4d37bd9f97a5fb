"""Search documents of entries, and the parts (partitions) of the full-text index that store them.

An entry gets a new document whenever its text or metadata changes; ``entry.document_id`` is the id
of its current document. Each part of the full-text index contains the documents with ids in a range
of ``PART_SIZE``. A query reads the newest part first and stops when it has enough results.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from sqlalchemy import (
    Row,
    bindparam,
    case,
    column,
    delete,
    func,
    insert,
    or_,
    select,
    table,
    text,
    update,
)
from sqlalchemy.ext.asyncio import AsyncConnection

from archiver.db import counters
from archiver.db.counters import next_id
from archiver.db.dialects import THESE, among
from archiver.db.full_text import IndexRow, word_index_of
from archiver.db.schema import (
    PART_SIZE,
    counter,
    document,
    entry,
    entry_table,
    search_part,
    search_table,
)
from archiver.db.statements import execute_rows, insert_rows
from archiver.model.listing import SearchDocument

PENDING_BELOW = "documents owed below"
"""Name of the counter with the id below which documents are missing in the full-text index."""
_DESCRIBED = ("word_count", "language", "published", "kind")
_DESCRIBE = (
    update(document)
    .values({name: bindparam(f"new_{name}") for name in _DESCRIBED})
    .where(document.c.id == bindparam("document_id"))
)
_DESCRIBE_PARAMETERS = ("document_id", *(f"new_{name}" for name in _DESCRIBED))
_IS_STALE = entry_table.c.revision != bindparam("of_revision")
_MARK = (
    update(entry_table)
    .values(document_stale=case((_IS_STALE, 1), else_=0))
    .where(
        entry_table.c.id == bindparam("entry_id"),
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
class NextDocument:
    """Id of the next new document, and the numbers of the existing index parts."""

    first: int
    parts: frozenset[int]


@dataclass(frozen=True, slots=True)
class PendingDocument:
    """Document that must be built: it is outdated or missing in the full-text index."""

    document_id: int
    entry_id: int
    snapshot_id: int | None


async def next_document(conn: AsyncConnection) -> NextDocument:
    """Return the id of the next new document, and the existing index parts."""
    first = await next_id(conn, document.c.id)
    there = await conn.execute(select(search_part.c.number))
    return NextDocument(first, frozenset(there.scalars()))


async def insert_all(
    conn: AsyncConnection,
    made: Sequence[NewDocument],
    place: NextDocument | None = None,
    unchanged: Collection[int] = (),
) -> dict[int, int]:
    """Insert search documents; return document ids by entry id.

    The caller stores these ids in the entries. If the annotation of an entry has changed since its
    document was built, the document is marked as outdated.

    Args:
        conn: a writing connection.
        made: documents to insert.
        place: result of ``next_document``, if this transaction has called it.
        unchanged: ids of entries whose annotation is known to be unchanged.
    """
    if not made:
        return {}
    place = place or await next_document(conn)
    first = place.first
    await insert_rows(
        conn,
        document,
        ("id", "entry_id", "snapshot_id", *_DESCRIBED),
        [
            (first + n, each.entry_id, each.snapshot_id, *_properties(each.search_document))
            for n, each in enumerate(made)
        ],
    )
    words_of = word_index_of(conn).row
    rows = [each.words or words_of(each.search_document) for each in made]
    await _index(conn, [(first + n, words) for n, words in enumerate(rows)], place.parts)
    await _mark_outdated(conn, [each for each in made if each.entry_id not in unchanged])
    return {each.entry_id: first + n for n, each in enumerate(made)}


_WORD_COUNTS = (
    select(entry.c.id, document.c.word_count)
    .join(document, document.c.id == entry.c.document_id)
    .where(entry.c.id.in_(THESE), document.c.word_count > 0)
)


async def word_counts(conn: AsyncConnection, entry_ids: Sequence[int]) -> dict[int, int]:
    """Return the word counts of articles by entry id; entries without words are left out."""
    rows = await conn.execute(_WORD_COUNTS, {"these": entry_ids})
    return {row.id: row.word_count for row in rows}


async def parts(conn: AsyncConnection, *, below: int, newest_first: bool = True) -> list[int]:
    """Return the numbers of the index parts that contain documents with ids below ``below``."""
    number = search_part.c.number
    rows = await conn.execute(
        select(number)
        .where(number <= (below - 1) // PART_SIZE)
        .order_by(number.desc() if newest_first else number)
    )
    return list(rows.scalars())


async def pending(
    conn: AsyncConnection, before: int, *, limit: int
) -> tuple[list[PendingDocument], int]:
    """Return pending documents with ids below ``before``, in ascending order.

    Up to ``limit`` documents are read, from ``before`` downwards. Only the current documents of
    entries are returned.

    Returns:
        The documents, and the id below which to continue; 0 if all documents were read.
    """
    query = select(document.c.id, document.c.entry_id, document.c.snapshot_id)
    query = query.where(document.c.id < before).order_by(document.c.id.desc()).limit(limit)
    rows = (await conn.execute(query)).all()
    current = await _current(conn, rows)
    found = [PendingDocument(*row) for row in reversed(rows) if row.id in current]
    return found, rows[-1].id if len(rows) == limit else 0


async def pending_below(conn: AsyncConnection) -> int | None:
    """Return the id below which documents may be missing in the index; None if none is missing."""
    return await counters.get(conn, PENDING_BELOW)


async def index_pending(
    conn: AsyncConnection,
    made: Sequence[tuple[PendingDocument, SearchDocument]],
    *,
    before: int,
    below: int,
) -> None:
    """Insert pending documents into the full-text index.

    Args:
        conn: a writing connection.
        made: the documents that ``pending`` returned, each with its content.
        before: argument of the call of ``pending``. If it differs from the stored counter, another
            process has already inserted these documents, and nothing is inserted.
        below: the id that ``pending`` returned, at which the next call continues; 0 at the end.
    """
    own = counter.c.name == PENDING_BELOW
    changed = delete(counter) if not below else update(counter).values(value=below)
    if (await conn.execute(changed.where(own, counter.c.value == before))).rowcount:
        rows = [(each.document_id, *_properties(search_document)) for each, search_document in made]
        await execute_rows(conn, _DESCRIBE, _DESCRIBE_PARAMETERS, rows)
        words_of = word_index_of(conn).row
        await _index(
            conn, [(each.document_id, words_of(search_document)) for each, search_document in made]
        )


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


async def _current(conn: AsyncConnection, rows: Sequence[Row[*tuple[Any, ...]]]) -> set[int]:
    """Return the ids of those documents that are the current documents of their entries."""
    found = await conn.execute(
        select(entry.c.document_id).where(entry.c.id.in_(among(row.entry_id for row in rows)))
    )
    return set(found.scalars())


async def _index(
    conn: AsyncConnection, made: Sequence[tuple[int, IndexRow]], there: Collection[int] = ()
) -> None:
    """Insert documents into their parts.

    Ids must ascend, because FTS5 writes its buffer to the disk before it inserts a smaller id.
    """
    for part, some in groupby(made, key=lambda each: each[0] // PART_SIZE):
        if part not in there:
            await ensure_part(conn, part)
        own = word_index_of(conn).columns
        columns = [
            column("rowid", document.c.id.type),
            *(column(each.name, each.type) for each in own),
        ]
        names = [each.name for each in columns]
        statement = insert(table(search_table(part), *columns)).inline()
        await execute_rows(conn, statement, names, [(row_id, *words) for row_id, words in some])


async def ensure_part(conn: AsyncConnection, part: int) -> None:
    """Create the tables of an index part if they do not exist."""
    there = await conn.execute(select(search_part.c.number).where(search_part.c.number == part))
    if there.scalar() is None:
        await insert_rows(conn, search_part, ("number",), [(part,)])
        for statement in word_index_of(conn).ddl(part):
            await conn.execute(text(statement))


async def _mark_outdated(conn: AsyncConnection, made: Sequence[NewDocument]) -> None:
    """Mark documents as outdated if the annotation of their entry now has another revision."""
    rows = [(each.entry_id, each.search_document.revision) for each in made]
    await execute_rows(conn, _MARK, ("entry_id", "of_revision"), rows)


def _properties(search_document: SearchDocument) -> tuple[int, str, int | None, str]:
    return (
        search_document.word_count,
        search_document.language,
        search_document.published,
        str(search_document.kind),
    )


async def pending_share(conn: AsyncConnection) -> float:
    """Return the share of documents that are still missing in the full-text index, from 0 to 1."""
    below = await pending_below(conn)
    if below is None:
        return 0
    last = (await conn.execute(select(func.max(document.c.id)))).scalar() or 1
    return below / (last + 1)
