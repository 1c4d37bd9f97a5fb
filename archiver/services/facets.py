"""What a list holds as a whole: how many entries, and facets whose values are clicks."""

from dataclasses import replace
from functools import lru_cache

from archiver.errors import InvalidQuery
from archiver.index import counters, tags
from archiver.index.database import AsyncConnection
from archiver.index.entries import Filters
from archiver.index.facets import FACETS, facets_of, facets_of_all
from archiver.index.search import Question
from archiver.model.listing import Facet, FacetValue, Summary
from archiver.query.parse import fits, parse_query
from archiver.query.tree import EVERYTHING, Condition, Is, Node, conjuncts, every, write
from archiver.services.walking import Found, Walk

MOST_COUNTED = 1000
"""Entries of a list that are counted and put into facets."""


async def summary_of(
    conn: AsyncConnection, question: Question, newest: Found | None, asked: Node
) -> Summary:
    """How many entries a question finds, and what they are of; the newest, if they are many.

    Args:
        conn: a connection.
        question: what is looked for.
        newest: what it finds, newest first, where somebody has walked there already.
        asked: the query that facets narrow: what was typed, whatever was answered instead.
    """
    walked = newest or await Walk(conn, question).page(None, MOST_COUNTED)
    found = walked.first(MOST_COUNTED)
    facets = await facets_of(conn, found.entries)
    count, has_more = len(found.entries), found.beyond is not None
    if has_more and (question.tree, question.filters) == (EVERYTHING, Filters()):
        known = await counters.all_counters(conn)
        count, has_more = known.get(counters.ENTRIES, 0), False
        of_all = await facets_of_all(conn, most=MOST_COUNTED)
        best = {each.field: each for each in (*facets, *of_all) if each.values}
        facets = tuple(best[each] for each in FACETS if each in best)
    elif has_more and (known_count := await _tagged(conn, question)):
        count, has_more = known_count, False
    narrowing = tuple(_narrowing_all(each, asked) for each in facets)
    return Summary(count, has_more, narrowing, len(found.entries) if found.beyond else 0)


async def _tagged(conn: AsyncConnection, question: Question) -> int | None:
    """How many entries there are, where it is those of one tag: that is counted as it changes."""
    tree, filters = question.tree, question.filters
    if not (isinstance(tree, Is) and tree.condition is Condition.TAG):
        return None
    name = str(tree.value)
    if filters not in (Filters(), Filters(tag=name)):
        return None
    return await tags.count_of(conn, name, in_any_spelling=filters.tag is None)


def _narrowing_all(facet: Facet, tree: Node) -> Facet:
    """A facet whose values know the query that each leads to: narrower, or wider again."""
    return replace(
        facet, values=tuple(_narrowing(facet.field, each, tree) for each in facet.values)
    )


def _narrowing(field: str, value: FacetValue, tree: Node) -> FacetValue:
    node = _condition(field, value.value)
    if node is None:
        return value
    others = [each for each in conjuncts(tree) if each != node]
    is_chosen = len(others) < len(conjuncts(tree))
    wanted = every(others if is_chosen else [*others, node])
    query = write(wanted)
    return replace(value, query=query, is_chosen=is_chosen) if fits(wanted, query) else value


@lru_cache(1024)
def _condition(field: str, value: str) -> Node | None:
    """What a value of a facet asks for: the same few stand beside one list after another."""
    try:
        return parse_query(f'{field}:"{value}"')
    except InvalidQuery:
        return None
