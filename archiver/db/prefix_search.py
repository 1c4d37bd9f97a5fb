"""Prefix expansion.

Whoever looks for a beginning reads all that begins so in a part of the index. Where another word
stands beside it that fewer have, it is looked for alone, and what it finds is asked for a few of
the most frequent words that begin so: a document with one of them has the beginning. Those few that
have none are looked for by the beginning itself, in as many parts as one walk reads.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from archiver.db.dialects import dialect_of
from archiver.db.prefix_costs import DEAR_PAGES, MOST_PAGES, begun_in, pages_of
from archiver.db.query_sql import Split, is_open_ended, is_worded, split
from archiver.db.ranking import by_part, which_of
from archiver.db.schema import PART_SIZE, search_table
from archiver.search.query_tree import Node, Term, conjuncts, every
from archiver.search.words import phrase_of

ROUNDS = (8, 24, 72)
"""So many words are asked for, one round after the other, until no document is left."""


@dataclass(frozen=True, slots=True)
class Loose:
    """A query without its dear beginnings.

    Attributes:
        parted: what is looked for, and what else entries must be.
        beginnings: what was left out.
        match: what finds all that the whole query finds.
        pages: of words that one part has which begin so.
        part: which tells what begins so.
    """

    parted: Split
    beginnings: tuple[str, ...]
    match: str
    pages: int
    part: int


async def loosened(conn: AsyncConnection, tree: Node, parts: Sequence[int]) -> Loose | None:
    """A query without its dear beginnings; None if it has none, or nothing else is looked for."""
    nodes = conjuncts(tree)
    terms = [each for each in nodes if isinstance(each, Term) and _is_beginning(each)]
    others = [each for each in nodes if each not in terms]
    if not (terms and any(map(is_worded, others))) or any(map(begun_in, others)):
        return None
    pages = await pages_of(conn, terms, parts)
    if pages < DEAR_PAGES:
        return None
    begun = tuple(phrase_of(each.text)[0] for each in terms)
    return Loose(split(every(others)), begun, split(tree).match, pages, parts[len(parts) // 2])


def _is_beginning(term: Term) -> bool:
    """Whether any word that begins so will do, wherever it stands."""
    return is_open_ended(term) and term.column is None and len(phrase_of(term.text)) == 1


async def having(
    conn: AsyncConnection, loose: Loose, documents: Sequence[int]
) -> tuple[set[int], set[int]]:
    """Of documents that a loose query finds those that the whole one does.

    Args:
        conn: a connection.
        loose: the query.
        documents: in the order in which they are walked through.

    Returns:
        Those that do; and those of which that was not found out, all in other parts than the first
        of which it was not told at once.
    """
    left, found = dict.fromkeys(documents), set[int]()
    words: list[list[str]] = [[] for _ in loose.beginnings]
    for count in ROUNDS:
        if not left:
            break
        for n, beginning in enumerate(loose.beginnings):
            words[n] += await _longest(conn, loose.part, beginning, count, len(words[n]))
        if not all(words):
            break
        has = await _matching(conn, f"{loose.parted.match} AND {_any_of(words)}", left)
        found |= has
        left = dict.fromkeys(each for each in left if each not in has)
    within = [*dict.fromkeys(each // PART_SIZE for each in left)][: MOST_PAGES // loose.pages or 1]
    told = [each for each in left if each // PART_SIZE in within]
    found |= await _matching(conn, loose.match, told)
    return found, left.keys() - {*told}


async def _longest(
    conn: AsyncConnection, part: int, beginning: str, count: int, known: int
) -> list[str]:
    """The next of the words that begin so, of those that take most room in a part."""
    statement = text(dialect_of(conn).words.longest.format(search_table(part)))
    given = {"first": beginning, "beyond": f"{beginning}\U0010ffff", "most": count, "known": known}
    return [word for word in (await conn.execute(statement, given)).scalars() if word]


def _any_of(words: Iterable[Collection[str]]) -> str:
    """An expression of what has one word of each."""
    quoted = ([f'"{each}"' for each in some] for some in words)
    return " AND ".join(f"({' OR '.join(some)})" for some in quoted)


async def _matching(conn: AsyncConnection, match: str, documents: Collection[int]) -> set[int]:
    """Which of some documents match."""
    (found,) = await which_of(conn, [match], by_part(documents))
    return found & {*documents}
