"""Full-text search.

``document.id`` increases with time, FTS5 iterates over it in both directions without sorting, and
parts are ranges of it. So a page of results for a frequent word costs no more than for a rare one.

FTS5 stores each batch of writes as a segment, and a query reads all of them: about a dozen per
part. A full part no longer changes, so it is worth merging once. PostgreSQL has one index and a
pending list.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import compress
from typing import Any

from sqlalchemy import select, text
from sqlalchemy.ext.asyncio import AsyncConnection

from archiver.db import counters, search_documents
from archiver.db.dialects import THESE, Gathered, among, is_postgresql
from archiver.db.entries import Filters, narrowed
from archiver.db.full_text import WordIndex, select_lists, with_expressions, word_index_of
from archiver.db.query_sql import Setting, Split, condition, has_words_anywhere, with_document
from archiver.db.schema import document, entry, search_table
from archiver.search.query_tree import EVERYTHING, Node

TOP = (1 << 62) - 1
"""Greater than every document id."""


@dataclass(frozen=True, slots=True)
class Question:
    """Search query with its context.

    Attributes:
        tree: the parsed query.
        filters: further filters.
        setting: context of the query.
        known: newest entry to find; 0 for all.
    """

    tree: Node
    filters: Filters
    setting: Setting
    known: int = 0

    def may_be(self, entry_id: int) -> bool:
        """Return whether an entry is not newer than ``known``."""
        return not self.known or entry_id <= self.known


@dataclass(frozen=True, slots=True)
class FoundDocuments:
    """Documents found, in columns, since a page may read thousands.

    Attributes:
        documents: row ids.
        entries: entry of each, if it is current and passes the filters, else None.
        moments: when these entries were saved, in Unix seconds.
    """

    documents: Sequence[int]
    entries: Sequence[int | None]
    moments: Sequence[int | None]

    def where(self, chosen: Iterable[object]) -> "FoundDocuments":
        """Return the documents whose element of ``chosen`` is true."""
        chosen = [*chosen]
        return FoundDocuments(*([*compress(each, chosen)] for each in self._columns))

    def in_order(self, *, oldest_first: bool) -> "FoundDocuments":
        """Return the documents newest first or oldest first."""
        wanted = sorted(self.documents, reverse=not oldest_first)
        if wanted == self.documents:
            return self
        at = {each: place for place, each in enumerate(self.documents)}
        places = [at[each] for each in wanted]
        return FoundDocuments(*([each[place] for place in places] for each in self._columns))

    @property
    def _columns(self) -> tuple[Sequence[Any], ...]:
        return self.documents, self.entries, self.moments


async def found(
    conn: AsyncConnection,
    split_query: Split,
    question: Question,
    *,
    parts: Sequence[int],
    count: int,
    beyond: int | None = None,
    oldest_first: bool = False,
) -> FoundDocuments:
    """Return documents that match an expression, with their entries.

    Args:
        conn: a connection.
        split_query: the expression and remaining conditions.
        question: the whole query.
        parts: parts to search.
        count: maximum number of documents.
        beyond: start after this document.
        oldest_first: sort order.
    """
    if not parts:
        return FoundDocuments((), (), ())
    given = {"match": split_query.match, "beyond": _beyond(beyond, oldest_first), "count": count}
    is_read = must_read_documents(word_index_of(conn), split_query)
    if is_read:
        given |= {"match": split_query.apart, "exactly": split_query.match}
    union = _union(word_index_of(conn), tuple(parts), oldest_first=oldest_first, is_read=is_read)
    seen = await _seen(conn, union, given, split_query.rest, question)
    if question.known:
        entries = [each if each and question.may_be(each) else None for each in seen.entries]
        seen = replace(seen, entries=entries)
    return seen.in_order(oldest_first=oldest_first)


async def _seen(
    conn: AsyncConnection, union: str, given: Mapping[str, Any], rest: Node, question: Question
) -> FoundDocuments:
    """Return the documents read, with the entries of those that pass."""
    is_read = "exactly" in given
    if rest == EVERYTHING and question.filters == Filters():
        template = _WITH_ENTRIES_POSTGRESQL if is_postgresql(conn) else _WITH_ENTRIES
        with_entries = template.format(union, "found.is_it" if is_read else "true")
        names = ("document_id", "entry_id", "added_at")
        return FoundDocuments(*await _lists(conn, with_entries, given, *names))
    columns = ("document_id", *["is_it"] * is_read)
    documents, *told = await _lists(conn, union, given, *columns)
    matching = [*compress(documents, told[0])] if is_read else documents
    passing = await entries_of(conn, matching, rest, question)
    held = [passing.get(each, (None, None)) for each in documents]
    return FoundDocuments(documents, [each for each, _ in held], [moment for _, moment in held])


_WITH_ENTRIES = (
    "SELECT found.document_id, own.id AS entry_id, own.added_at FROM ({0}) AS found"
    " LEFT JOIN document ON document.id = found.document_id AND {1}"
    " LEFT JOIN entry AS own ON own.id = document.entry_id AND own.document_id = document.id"
)
_WITH_ENTRIES_POSTGRESQL = (
    "SELECT found.document_id, own.id AS entry_id, own.added_at FROM ({0}) AS found"
    " LEFT JOIN LATERAL (SELECT entry.id, entry.added_at FROM document"
    " JOIN entry ON entry.id = document.entry_id AND entry.document_id = document.id"
    " WHERE document.id = found.document_id AND {1} LIMIT 1) AS own ON true"
)
"""Without LIMIT, PostgreSQL may overestimate the number of rows and scan all documents."""


async def _lists(
    conn: AsyncConnection, statement: str, given: Mapping[str, Any], *columns: str
) -> list[list[Any]]:
    """Return the values of each column of a statement."""
    expressions = [each for each in ("match", "exactly") if each in given]
    lists = select_lists(with_expressions(statement, *expressions), *columns)
    return [each or [] for each in (await conn.execute(lists, given)).one()]


def must_read_documents(index: WordIndex, split_query: Split) -> bool:
    """Return whether documents must be read to decide which of them match."""
    return bool(split_query.apart) and not index.has_positions


def _beyond(document: int | None, oldest_first: bool) -> int:
    return document if document is not None else (0 if oldest_first else TOP)


@lru_cache(64)
def _union(
    index: WordIndex, parts: Sequence[int], *, oldest_first: bool, is_read: bool = False
) -> str:
    """Return the query for the first matching documents over all parts.

    If documents must be read, it selects candidates and whether each matches.
    """
    # Databases run the branches of a UNION ALL in order and stop at the limit.
    matches = index.matches
    told = f", {matches.replace(':match', ':exactly')} AS is_it" if is_read else ""
    arm = (
        "SELECT * FROM (SELECT rowid AS document_idTOLD FROM {0} WHERE MATCHES"
        " AND rowid {1} :beyond ORDER BY rowid {2} LIMIT :count) AS taken"
    )
    arm = arm.replace("MATCHES", matches).replace("TOLD", told)
    sign, order = (">", "ASC") if oldest_first else ("<", "DESC")
    inner = sorted(parts, reverse=not oldest_first)
    union = " UNION ALL ".join(arm.format(search_table(part), sign, order) for part in inner)
    return f"{union} LIMIT :count"


_ENTRIES = (
    select(document.c.id, document.c.entry_id, entry.c.added_at)
    .join(entry, entry.c.id == document.c.entry_id)
    .where(document.c.id.in_(THESE), entry.c.document_id == document.c.id)
)


async def entries_of(
    conn: AsyncConnection, found: Sequence[int], rest: Node, question: Question
) -> dict[int, tuple[int, int]]:
    """Return (entry id, time) of documents that are current and pass, by document."""
    query = _ENTRIES
    if rest != EVERYTHING:
        query = query.where(condition(rest, question.setting.of_documents(found)))
    passing = narrowed(query, question.filters).subquery("passing")
    lists = select(*(Gathered(each) for each in passing.c))
    several = [each or () for each in (await conn.execute(lists, {"these": found})).one()]
    return {document: (own, moment) for document, own, moment in zip(*several, strict=True)}


_DOCUMENTS = select(Gathered(entry.c.document_id)).where(
    entry.c.id.in_(THESE), entry.c.document_id.is_not(None)
)


async def passing(conn: AsyncConnection, entry_ids: Sequence[int], question: Question) -> set[int]:
    """Return which entries the whole query matches."""
    setting = question.setting
    if has_words_anywhere(question.tree):
        own = (await conn.execute(_DOCUMENTS, {"these": entry_ids})).scalar_one()
        setting = setting.of_documents(own or ())
    query = with_document(select(entry.c.id).select_from(entry))
    query = query.where(entry.c.id.in_(among(entry_ids)))
    query = query.where(condition(question.tree, setting))
    passing = narrowed(query, question.filters).subquery("passing")
    return set((await conn.execute(select(Gathered(passing.c.id)))).scalar_one() or ())


async def parts_of(conn: AsyncConnection) -> list[int]:
    """Return the parts of the full-text index, newest first."""
    return await search_documents.parts(conn, below=TOP)


WHOLE_BELOW = "parts whole below"
PAGES = 250
"""Pages merged in one transaction, which takes about 50 ms."""
_NOTHING_DONE = 2
"""Minimum change count of a merge that did something."""


async def part_to_merge(conn: AsyncConnection) -> int | None:
    """Return the oldest full part to be merged; None if there is none, or documents are pending."""
    if not word_index_of(conn).merge or await search_documents.pending_below(conn) is not None:
        return None
    newest = max(await search_documents.parts(conn, below=TOP), default=0)
    part = (await counters.all_counters(conn)).get(WHOLE_BELOW, 0)
    return part if part < newest else None


async def merge_part(conn: AsyncConnection, part: int) -> None:
    """Merge pages of a part; record if it was already merged."""
    words, name = word_index_of(conn), search_table(part)
    before = (await conn.execute(text(words.changes))).scalar_one()
    await conn.execute(text(words.merge.format(name)), {"pages": PAGES})
    if (await conn.execute(text(words.changes))).scalar_one() - before < _NOTHING_DONE:
        await counters.put(conn, {WHOLE_BELOW: part + 1})
