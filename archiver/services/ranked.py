"""The best of what a query finds: all words before some, and no more looked at than is told."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from archiver.index import ranking, search
from archiver.index.database import AsyncConnection
from archiver.index.entries import Place
from archiver.index.matching import split
from archiver.index.search import Question
from archiver.index.search_tables import PART_SIZE
from archiver.query.tree import Node, Term, conjuncts, either, every
from archiver.services.walking import Found, Walk

CANDIDATES = 1000
"""Of the newest that match, and of the newest that match in their names, so many are ranked."""
ENOUGH = 10
"""Where fewer have all words, those that have all but one follow."""
MOST_WORDS = 8


@dataclass(frozen=True, slots=True)
class Ranked:
    """What was found, the best first.

    Attributes:
        entries: row ids.
        partial: how many of them, the last ones, lack a word.
        is_cut: more match than were ranked.
    """

    entries: tuple[int, ...]
    partial: int
    is_cut: bool


async def candidates(
    conn: AsyncConnection, question: Question, beyond: Place | None = None
) -> Found:
    """The newest of what a question finds beyond a place, which are ranked."""
    return await Walk(conn, question).page(beyond, CANDIDATES)


def behind(found: Found) -> Place | None:
    """Where those begin that were not looked at, unless candidates were enough."""
    return found.beyond if len(found.entries) < CANDIDATES else None


async def best(
    conn: AsyncConnection, question: Question, newest: Found, *, is_further: bool = False
) -> Ranked:
    """Rank what a question with words finds, whose ``candidates`` are the newest.

    Those further on are ranked among themselves: what is named so came before. What lacks a word
    comes behind all that have it, so none does where more that have it may lie further on.
    """
    if is_further:
        before = await _named(conn, question, None)
        passing = {
            row: each
            for row, each in zip(newest.rows, newest.entries, strict=True)
            if row not in before
        }
        ranked = await _in_order(conn, question, passing)
        return Ranked(tuple(ranked), 0, is_cut=True)
    found = await _ranked(conn, question, newest)
    fewer = _all_but_one(question.tree)
    if len(found) >= ENOUGH or fewer is None or behind(newest):
        return Ranked(tuple(found), 0, newest.beyond is not None)
    partly = replace(question, tree=fewer)
    other = await candidates(conn, partly)
    more = await _ranked(conn, partly, other)
    added = [each for each in more if each not in found]
    is_cut = newest.beyond is not None or other.beyond is not None
    return Ranked((*found, *added), len(added), is_cut)


async def _ranked(conn: AsyncConnection, question: Question, newest: Found) -> list[int]:
    """Entries, the best first: of the newest that match, and of the newest that do in names."""
    passing = dict(zip(newest.rows, newest.entries, strict=True))
    if newest.beyond is not None:
        passing |= await _named(conn, question, behind(newest))
    return await _in_order(conn, question, passing)


async def _in_order(
    conn: AsyncConnection, question: Question, passing: Mapping[int, int]
) -> list[int]:
    """Entries by document, the best first."""
    match = split(question.tree).match
    scored = await ranking.scored(conn, match, question.tree, passing)
    return [passing[each] for each in scored]


async def _named(
    conn: AsyncConnection, question: Question, further: Place | None
) -> dict[int, int]:
    """Some of the newest documents that match in their names, and their entries.

    None of those that lie before where the candidates were cut: all of them are candidates.
    """
    match = ranking.in_names(split(question.tree).match, question.tree)
    if not match:
        return {}
    parts = await ranking.parts_of_names(conn, question.tree, question.setting.parts)
    if further and all(each * PART_SIZE >= further.row for each in parts):
        return {}
    named = replace(split(question.tree), match=match)
    found = await search.found(conn, named, question, parts=parts, count=CANDIDATES // 5)
    pairs = zip(found.documents, found.entries, strict=True)
    return {row: entry_id for row, entry_id in pairs if entry_id is not None}


def _all_but_one(tree: Node) -> Node | None:
    """What lacks one of the words; None where there are not several."""
    nodes = conjuncts(tree)
    words = [each for each in nodes if isinstance(each, Term) and each.column is None]
    if not 2 <= len(words) <= MOST_WORDS:
        return None
    others = [each for each in nodes if each not in words]
    fewer = [every([each for each in words if each is not left_out]) for left_out in words]
    return every([either(fewer), *others])
