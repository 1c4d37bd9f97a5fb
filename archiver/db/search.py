"""Full-text search.

Results are read in the order of ``document.id``, which increases with time. FTS5 reads these ids in
both directions without sorting. So a search can stop at the first page of results, also for a
frequent word.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import compress
from typing import Any

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncConnection

from archiver.db.dialects import THESE, ArrayAggregate, among, is_postgresql
from archiver.db.entries import Filters, narrowed
from archiver.db.full_text import WordIndex, select_lists, with_expressions, word_index_of
from archiver.db.query_sql import SearchContext, Split, condition, has_terms, with_document
from archiver.db.schema import document, entry
from archiver.search.query_tree import EVERYTHING, Node

TOP = (1 << 62) - 1
"""Number greater than every document id."""


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """Parsed query with the filters and other values that determine its results.

    Attributes:
        tree: the parsed query.
        filters: filters that results must pass in addition to the query.
        context: the current time.
        newest_entry: highest entry id to find, so that entries saved between two pages of a list
            are left out; 0 for all.
    """

    tree: Node
    filters: Filters
    context: SearchContext
    newest_entry: int = 0

    def includes(self, entry_id: int) -> bool:
        """Return whether an entry is not newer than ``newest_entry``."""
        return not self.newest_entry or entry_id <= self.newest_entry


@dataclass(frozen=True, slots=True)
class FoundDocuments:
    """Documents that a search has read, as parallel lists, which are fast for many documents.

    Attributes:
        documents: document ids.
        entries: entry id of each document; None if the document is outdated or not a result.
        times: when the entry of each document was saved (Unix seconds); None without an entry.
    """

    documents: Sequence[int]
    entries: Sequence[int | None]
    times: Sequence[int | None]

    def where(self, chosen: Iterable[object]) -> "FoundDocuments":
        """Return the documents for which the element of ``chosen`` at the same position is true."""
        chosen = [*chosen]
        return FoundDocuments(*([*compress(each, chosen)] for each in self._columns))

    def in_order(self, *, oldest_first: bool) -> "FoundDocuments":
        """Return the documents newest first or oldest first."""
        numbers = sorted(self.documents, reverse=not oldest_first)
        if numbers == self.documents:
            return self
        position = {each: n for n, each in enumerate(self.documents)}
        order = [position[each] for each in numbers]
        return FoundDocuments(*([each[n] for n in order] for each in self._columns))

    @property
    def _columns(self) -> tuple[Sequence[Any], ...]:
        return self.documents, self.entries, self.times


async def matching_documents(
    conn: AsyncConnection,
    split_query: Split,
    request: SearchRequest,
    *,
    count: int,
    after: int | None = None,
    oldest_first: bool = False,
) -> FoundDocuments:
    """Read the next documents that match the expression of a query, and find their entries.

    If the index can't find phrases (PostgreSQL), the documents include some that have the words of
    the phrases in another order; such documents have no entry in the result.

    Args:
        conn: a connection.
        split_query: the expression and the remaining conditions.
        request: the whole query.
        count: maximum number of documents.
        after: id of a document; only documents after it in the sort order are read.
        oldest_first: whether documents are read in ascending order of their ids.
    """
    start = 0 if oldest_first else TOP
    parameters = {
        "match": split_query.match,
        "after": start if after is None else after,
        "count": count,
    }
    index = word_index_of(conn)
    tests_phrases = must_test_phrases(conn, split_query)
    if tests_phrases:
        parameters |= {"match": split_query.unordered_match, "exactly": split_query.match}
    query = _query(index, oldest_first=oldest_first, tests_phrases=tests_phrases)
    read = await _with_entries(conn, query, parameters, split_query.conditions, request)
    if request.newest_entry:
        entries = [each if each and request.includes(each) else None for each in read.entries]
        read = replace(read, entries=entries)
    return read.in_order(oldest_first=oldest_first)


async def _with_entries(
    conn: AsyncConnection,
    query: str,
    parameters: Mapping[str, Any],
    negated: Node,
    request: SearchRequest,
) -> FoundDocuments:
    """Run a query of ``_query``, and find the entries of its documents.

    ``negated`` is as in ``entries_of``.
    """
    tests_phrases = "exactly" in parameters
    if negated == EVERYTHING and request.filters == Filters():
        is_result = "found.is_match" if tests_phrases else "true"
        with_entries = _WITH_ENTRIES.format(query, is_result)
        names = ("document_id", "entry_id", "added_at")
        return FoundDocuments(*await _lists(conn, with_entries, parameters, *names))
    columns = ("document_id", *["is_match"] * tests_phrases)
    documents, *is_match = await _lists(conn, query, parameters, *columns)
    matching = [*compress(documents, is_match[0])] if tests_phrases else documents
    results = await entries_of(conn, matching, negated, request)
    pairs = [results.get(each, (None, None)) for each in documents]
    return FoundDocuments(documents, [each for each, _ in pairs], [time for _, time in pairs])


_WITH_ENTRIES = (
    "SELECT found.document_id, own.id AS entry_id, own.added_at FROM ({0}) AS found"
    " LEFT JOIN entry AS own ON own.document_id = found.document_id AND {1} AND own.id ="
    " (SELECT document.entry_id FROM document WHERE document.id = found.document_id)"
)
"""The subquery makes PostgreSQL look up each document instead of scanning all of them."""


async def _lists(
    conn: AsyncConnection, statement: str, parameters: Mapping[str, Any], *columns: str
) -> list[list[Any]]:
    """Return the values of each column of a statement, as a list per column."""
    expressions = [each for each in ("match", "exactly") if each in parameters]
    lists = select_lists(with_expressions(statement, *expressions), *columns)
    return [each or [] for each in (await conn.execute(lists, parameters)).one()]


def must_test_phrases(conn: AsyncConnection, split_query: Split) -> bool:
    """Return whether documents must be tested for phrases, because the index can't find them."""
    return bool(split_query.unordered_match) and is_postgresql(conn)


@lru_cache(8)
def _query(index: WordIndex, *, oldest_first: bool, tests_phrases: bool) -> str:
    """Return the query for the first documents that match the expression ``:match``.

    With ``tests_phrases``, it also selects whether each document matches ``:exactly``.
    """
    columns = "rowid AS document_id"
    if tests_phrases:
        columns += f", {index.matches.replace(':match', ':exactly')} AS is_match"
    sign, order = (">", "ASC") if oldest_first else ("<", "DESC")
    query = "SELECT COLUMNS FROM full_text WHERE MATCHES AND rowid {0} :after ORDER BY rowid {1}"
    query = query.format(sign, order).replace("COLUMNS", columns)
    return query.replace("MATCHES", index.matches) + " LIMIT :count"


_ENTRIES = (
    select(document.c.id, document.c.entry_id, entry.c.added_at)
    .join(entry, entry.c.id == document.c.entry_id)
    .where(document.c.id.in_(THESE), entry.c.document_id == document.c.id)
)


async def entries_of(
    conn: AsyncConnection, numbers: Sequence[int], negated: Node, request: SearchRequest
) -> dict[int, tuple[int, int]]:
    """Return the results among documents: (entry id, time of saving in Unix seconds) by document.

    Documents that are outdated, do not meet ``negated`` or do not pass the filters are left out.
    ``negated`` are the conditions of the query that its expression does not contain.
    """
    query = _ENTRIES
    if negated != EVERYTHING:
        query = query.where(condition(negated, request.context.of_documents(numbers)))
    results = narrowed(query, request.filters).subquery("results")
    lists = select(*(ArrayAggregate(each) for each in results.c))
    columns = [each or () for each in (await conn.execute(lists, {"these": numbers})).one()]
    return {document: (entry_id, at) for document, entry_id, at in zip(*columns, strict=True)}


_DOCUMENTS = select(ArrayAggregate(entry.c.document_id)).where(
    entry.c.id.in_(THESE), entry.c.document_id.is_not(None)
)


async def results_among(
    conn: AsyncConnection, entry_ids: Sequence[int], request: SearchRequest
) -> set[int]:
    """Return the ids of the entries in ``entry_ids`` that are results of a request."""
    context = request.context
    if has_terms(request.tree):
        documents = (await conn.execute(_DOCUMENTS, {"these": entry_ids})).scalar_one()
        context = context.of_documents(documents or ())
    query = with_document(select(entry.c.id).select_from(entry))
    query = query.where(entry.c.id.in_(among(entry_ids)))
    query = query.where(condition(request.tree, context))
    results = narrowed(query, request.filters).subquery("results")
    return set((await conn.execute(select(ArrayAggregate(results.c.id)))).scalar_one() or ())
