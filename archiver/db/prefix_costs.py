"""Costs of prefix queries.

Whoever looks for a beginning reads all that begins so in a part of the index, however little of it
is wanted. How much that is, is told by where the first such word lies in it and where the last.
"""

from collections.abc import Iterable, Iterator, Sequence

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from archiver.db.dialects import dialect_of
from archiver.db.query_sql import is_open_ended
from archiver.db.schema import search_table
from archiver.search.query_tree import All, Any, Node, Not, Term
from archiver.search.words import phrase_of

MOST_PAGES = 3000
"""Pages of words, of some 4 kB, that one walk reads for beginnings that must not be there; those of
one part in any case."""
DEAR_PAGES = 500
"""Pages of one part that begin so: of a part that is full, about sixteen places a document."""


async def pages_of(conn: AsyncConnection, terms: Iterable[Term], parts: Sequence[int]) -> int:
    """About how many pages of each part are read for some beginnings, by one of the parts."""
    asked = dialect_of(conn).words.pages
    begun = {phrase_of(term.text)[-1] for term in terms}
    if not (asked and begun and parts):
        return 0
    statement = text(asked.format(search_table(parts[len(parts) // 2])))
    pages = 0
    for word in sorted(begun):
        rows = await conn.execute(statement, {"first": word, "beyond": f"{word}\U0010ffff"})
        pages += rows.scalar() or 0
    return pages


async def within_reach(conn: AsyncConnection, tree: Node, parts: Sequence[int]) -> int | None:
    """In how many parts one walk looks for what matches a query, one at least; None: in all.

    Of a beginning that is wanted a walk has enough in few parts, unless a rare word stands beside
    it, and then it is worth looking everywhere. Of one that must not be there nothing is enough.
    """
    pages = await pages_of(conn, (each for each, is_denied in _begun(tree) if is_denied), parts)
    return max(1, MOST_PAGES // pages) if pages * len(parts) > MOST_PAGES else None


def begun_in(tree: Node) -> list[Term]:
    """The terms of a query that any word may go on from, those that must not be there, too."""
    return [each for each, _ in _begun(tree)]


def _begun(node: Node, *, is_denied: bool = False) -> Iterator[tuple[Term, bool]]:
    """These terms, and whether each must not be there."""
    if isinstance(node, Term):
        if is_open_ended(node):
            yield node, is_denied
    elif isinstance(node, Not):
        yield from _begun(node.node, is_denied=not is_denied)
    elif isinstance(node, All | Any):
        for each in node.nodes:
            yield from _begun(each, is_denied=is_denied)
