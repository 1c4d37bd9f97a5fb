"""Searches for prefixes that start many words.

The full-text index is divided into tables (parts). To search for a prefix, the database reads all
words of a part that start with the prefix, which is expensive if there are many. If the query also
has other words, only these are searched at first. Their results are tested for the most frequent
words with the prefix. Only results that contain none of these are tested for the prefix itself.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from archiver.db.full_text import word_index_of
from archiver.db.query_sql import (
    EXPENSIVE_PAGES,
    MAX_PAGES,
    Split,
    is_full_text,
    is_open_ended,
    prefix_pages,
    prefix_terms,
    split,
)
from archiver.db.ranking import by_part, matches_among
from archiver.db.schema import PART_SIZE, search_table
from archiver.search.query_tree import Node, Term, conjunction, conjuncts
from archiver.search.words import phrase_of

ROUNDS = (8, 24, 72)
"""Number of words with the prefix that are added in each round of tests."""


@dataclass(frozen=True, slots=True)
class LoosenedQuery:
    """Query without its expensive prefixes.

    Attributes:
        split_query: the query without the expensive prefixes.
        prefixes: the expensive prefixes.
        match: FTS5 expression of the whole query.
        pages: estimated number of index pages that a search for the prefixes reads in one part.
        part: number of the part from which the most frequent words are read.
    """

    split_query: Split
    prefixes: tuple[str, ...]
    match: str
    pages: int
    part: int


async def without_expensive_prefixes(
    conn: AsyncConnection, tree: Node, parts: Sequence[int]
) -> LoosenedQuery | None:
    """Return a query without its expensive prefixes.

    The result is None if the query has no expensive prefixes, or no other words.
    """
    nodes = conjuncts(tree)
    terms = [each for each in nodes if isinstance(each, Term) and _is_simple_prefix(each)]
    others = [each for each in nodes if each not in terms]
    if not (terms and any(map(is_full_text, others))) or any(map(prefix_terms, others)):
        return None
    pages = await prefix_pages(conn, terms, parts)
    if pages < EXPENSIVE_PAGES:
        return None
    prefixes = tuple(phrase_of(each.text)[0] for each in terms)
    part = parts[len(parts) // 2]
    return LoosenedQuery(split(conjunction(others)), prefixes, split(tree).match, pages, part)


def _is_simple_prefix(term: Term) -> bool:
    """Return whether a term is a prefix of one word, in any column."""
    return is_open_ended(term) and term.column is None and len(phrase_of(term.text)) == 1


async def test_for_prefixes(
    conn: AsyncConnection, loose: LoosenedQuery, documents: Sequence[int]
) -> tuple[set[int], set[int]]:
    """Find the results of a loosened query that match the whole query.

    Args:
        conn: a connection.
        loose: the loosened query.
        documents: ids of the results of the loosened query, in the order of the search.

    Returns:
        The documents that match, and the documents that were left untested. To limit the cost,
        documents in the last parts may be left untested.
    """
    left, found = dict.fromkeys(documents), set[int]()
    words: list[list[str]] = [[] for _ in loose.prefixes]
    for count in ROUNDS:
        if not left:
            break
        for n, prefix in enumerate(loose.prefixes):
            words[n] += await _frequent_words(conn, loose.part, prefix, count, len(words[n]))
        if not all(words):
            break
        matching = await _matching(conn, f"{loose.split_query.match} AND {_any_of(words)}", left)
        found |= matching
        left = dict.fromkeys(each for each in left if each not in matching)
    first_parts = [*dict.fromkeys(each // PART_SIZE for each in left)]
    first_parts = first_parts[: MAX_PAGES // loose.pages or 1]
    tested = [each for each in left if each // PART_SIZE in first_parts]
    found |= await _matching(conn, loose.match, tested)
    return found, left.keys() - {*tested}


async def _frequent_words(
    conn: AsyncConnection, part: int, prefix: str, count: int, known: int
) -> list[str]:
    """Return the most frequent words with a prefix: ``count`` words after the first ``known``."""
    statement = text(word_index_of(conn).frequent_words.format(search_table(part)))
    given = {"first": prefix, "beyond": f"{prefix}\U0010ffff", "most": count, "known": known}
    return [word for word in (await conn.execute(statement, given)).scalars() if word]


def _any_of(words: Iterable[Collection[str]]) -> str:
    """Return an FTS5 expression for at least one word of each group."""
    quoted = ([f'"{each}"' for each in some] for some in words)
    return " AND ".join(f"({' OR '.join(some)})" for some in quoted)


async def _matching(conn: AsyncConnection, match: str, documents: Collection[int]) -> set[int]:
    """Return those of ``documents`` that match an FTS5 expression."""
    (found,) = await matches_among(conn, [match], by_part(documents))
    return found & {*documents}
