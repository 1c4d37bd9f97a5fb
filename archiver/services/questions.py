"""What a list asks for: its query as a tree, what it is narrowed to besides, and its order."""

from datetime import UTC, datetime

from archiver.errors import InputError, InvalidQuery
from archiver.index import search
from archiver.index.conditions import Setting
from archiver.index.database import AsyncConnection
from archiver.index.entries import Filters
from archiver.index.matching import is_worded
from archiver.index.search import Question
from archiver.model.job import State
from archiver.model.listing import ListingQuery, Sort
from archiver.query.parse import parse_query
from archiver.query.tree import Condition, Is, Node, conjuncts, every
from archiver.wire.text import well_formed


def tree_of(query: ListingQuery) -> Node:
    """What is asked for.

    Raises:
        InvalidQuery: it can't be read, or nothing in it can be looked for.
    """
    tree = parse_query(well_formed(query.q))
    if tree == every([]) and query.q.strip():
        raise InvalidQuery(
            "There is nothing to look for in this: words have letters or digits.",
            at=0,
            length=len(query.q),
        )
    return tree


async def question_of(conn: AsyncConnection, tree: Node, query: ListingQuery) -> Question:
    """What is looked for.

    Raises:
        InputError: the status is none.
    """
    filters = _filters(query)
    if filters.tag is not None:
        tree = every([tree, Is(Condition.TAG, filters.tag)])
    return Question(tree, filters, Setting(datetime.now(UTC), await search.parts_of(conn)))


def sort_of(query: ListingQuery, tree: Node) -> Sort:
    """What comes first, where nobody says so what fits best.

    Raises:
        InputError: there is no such order.
    """
    has_words = any(map(is_worded, conjuncts(tree)))
    if has_words and not query.sort:
        return Sort.BEST
    if query.sort == Sort.LIST or (query.sort in ("", Sort.BEST) and not has_words):
        return Sort.LIST if _the_list(tree) and not has_words else Sort.NEWEST
    try:
        return Sort(query.sort)
    except ValueError as error:
        raise InputError("sort is one of {known}.", known=", ".join(Sort)) from error


def _the_list(tree: Node) -> str:
    """The one list that is asked for, so that its order can be kept to; empty if there is none."""
    named = [
        each.value
        for each in conjuncts(tree)
        if isinstance(each, Is) and each.condition is Condition.LIST
    ]
    if len(named) != 1 or not isinstance(named[0], str) or named[0].endswith("/"):
        return ""
    return named[0]


def _filters(query: ListingQuery) -> Filters:
    state = status = None
    if query.status.isdecimal():
        status = int(query.status[:4])
    elif query.status:
        if query.status not in (State.SAVED, State.FAILED, State.QUEUED, State.LINK):
            raise InputError("status is saved, failed, queued, link, or an HTTP status, as 404.")
        state = State(query.status)
    tag, host = well_formed(query.tag), well_formed(query.host)
    return Filters(tag or None, host or None, state, status)
