"""Prefix expansion.

A prefix query reads all words of a part that start with the prefix. If the query also has a rarer
word, that word is searched alone, and its results are tested for a few of the most frequent words
with the prefix. Only the remaining results are tested for the prefix itself, in as many parts as
one iteration may read.
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
    is_open_ended,
    is_worded,
    pages_of,
    prefix_terms,
    split,
)
from archiver.db.ranking import by_part, which_of
from archiver.db.schema import PART_SIZE, search_table
from archiver.search.query_tree import Node, Term, conjunction, conjuncts
from archiver.search.words import phrase_of

ROUNDS = (8, 24, 72)
"""Number of words tested per round, until no document is left."""


@dataclass(frozen=True, slots=True)
class LoosenedQuery:
    """Query without its expensive prefixes.

    Attributes:
        split_query: the remaining full-text query and conditions.
        prefixes: the omitted prefixes.
        match: expression of the whole query.
        pages: estimated pages per part of the prefixes.
        part: part used for the estimates.
    """

    split_query: Split
    prefixes: tuple[str, ...]
    match: str
    pages: int
    part: int


async def loosen(conn: AsyncConnection, tree: Node, parts: Sequence[int]) -> LoosenedQuery | None:
    """Remove expensive prefixes from a query; None if it has none, or nothing else to search."""
    nodes = conjuncts(tree)
    terms = [each for each in nodes if isinstance(each, Term) and _is_beginning(each)]
    others = [each for each in nodes if each not in terms]
    if not (terms and any(map(is_worded, others))) or any(map(prefix_terms, others)):
        return None
    pages = await pages_of(conn, terms, parts)
    if pages < EXPENSIVE_PAGES:
        return None
    begun = tuple(phrase_of(each.text)[0] for each in terms)
    return LoosenedQuery(
        split(conjunction(others)), begun, split(tree).match, pages, parts[len(parts) // 2]
    )


def _is_beginning(term: Term) -> bool:
    """Return whether a term is a single-word prefix in any column."""
    return is_open_ended(term) and term.column is None and len(phrase_of(term.text)) == 1


async def having(
    conn: AsyncConnection, loose: LoosenedQuery, documents: Sequence[int]
) -> tuple[set[int], set[int]]:
    """Return which results of a loosen query match the whole query.

    Args:
        conn: a connection.
        loose: the query.
        documents: results in iteration order.

    Returns:
        Matching documents, and undecided ones, which are all in later parts.
    """
    left, found = dict.fromkeys(documents), set[int]()
    words: list[list[str]] = [[] for _ in loose.prefixes]
    for count in ROUNDS:
        if not left:
            break
        for n, prefix in enumerate(loose.prefixes):
            words[n] += await _longest(conn, loose.part, prefix, count, len(words[n]))
        if not all(words):
            break
        has = await _matching(conn, f"{loose.split_query.match} AND {_any_of(words)}", left)
        found |= has
        left = dict.fromkeys(each for each in left if each not in has)
    within = [*dict.fromkeys(each // PART_SIZE for each in left)][: MAX_PAGES // loose.pages or 1]
    told = [each for each in left if each // PART_SIZE in within]
    found |= await _matching(conn, loose.match, told)
    return found, left.keys() - {*told}


async def _longest(
    conn: AsyncConnection, part: int, prefix: str, count: int, known: int
) -> list[str]:
    """Return the next most frequent words of a part with a prefix."""
    statement = text(word_index_of(conn).frequent_words.format(search_table(part)))
    given = {"first": prefix, "beyond": f"{prefix}\U0010ffff", "most": count, "known": known}
    return [word for word in (await conn.execute(statement, given)).scalars() if word]


def _any_of(words: Iterable[Collection[str]]) -> str:
    """Return an expression for one word of each group."""
    quoted = ([f'"{each}"' for each in some] for some in words)
    return " AND ".join(f"({' OR '.join(some)})" for some in quoted)


async def _matching(conn: AsyncConnection, match: str, documents: Collection[int]) -> set[int]:
    """Return which documents match."""
    (found,) = await which_of(conn, [match], by_part(documents))
    return found & {*documents}
