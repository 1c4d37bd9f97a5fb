"""How dear beginnings of words are.

Whoever looks for a beginning reads all that begins so in a part of the index, however little of it
is wanted. How much that is, is told by where the first such word lies in it and where the last.
"""

from collections.abc import Iterator, Sequence

from sqlalchemy import text

from archiver.index.connection import AsyncConnection
from archiver.index.matching import is_open_ended
from archiver.index.search_tables import search_table
from archiver.query.tree import All, Any, Node, Not, Term
from archiver.query.words import phrase_of

MOST_PAGES = 3000
"""Pages of words, of some 4 kB, that one walk reads for beginnings; those of one part in any case.
"""
DEAR_PAGES = 500
"""Pages of one part that begin so: of a part that is full, about sixteen places a document."""


async def pages_of(conn: AsyncConnection, tree: Node, parts: Sequence[int]) -> int:
    """About how many pages of each part are read for the beginnings in a query, by one of them."""
    asked = conn.dialect.words.pages
    begun = {phrase_of(term.text)[-1] for term in begun_in(tree)}
    if not (asked and begun and parts):
        return 0
    statement = text(asked.format(search_table(parts[len(parts) // 2])))
    pages = 0
    for word in sorted(begun):
        rows = await conn.execute(statement, {"first": word, "beyond": f"{word}\U0010ffff"})
        pages += rows.scalar() or 0
    return pages


async def within_reach(conn: AsyncConnection, tree: Node, parts: Sequence[int]) -> int | None:
    """In how many parts one walk looks for what matches a query, one at least; None: in all."""
    pages = await pages_of(conn, tree, parts)
    return max(1, MOST_PAGES // pages) if pages * len(parts) > MOST_PAGES else None


def begun_in(tree: Node) -> list[Term]:
    """The terms of a query that any word may go on from, those that must not be there, too."""
    return [*filter(is_open_ended, _terms(tree))]


def _terms(node: Node) -> Iterator[Term]:
    """All that is looked for, and all that must not be there."""
    if isinstance(node, Term):
        yield node
    elif isinstance(node, Not):
        yield from _terms(node.node)
    elif isinstance(node, All | Any):
        for each in node.nodes:
            yield from _terms(each)
