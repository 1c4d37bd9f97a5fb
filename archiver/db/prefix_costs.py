"""Cost estimates for prefix queries.

A prefix query reads all words of a part that start with the prefix. The cost is estimated from the
positions of the first and the last such word in the index.
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
"""Maximum number of pages (4 kB) read for negated prefixes; one part is always read."""
EXPENSIVE_PAGES = 500
"""Pages of one part above which a prefix is expensive.

In a full part they hold about sixteen positions per document.
"""


async def pages_of(conn: AsyncConnection, terms: Iterable[Term], parts: Sequence[int]) -> int:
    """Estimate the pages per part that prefixes need, measured in one of the parts."""
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


async def parts_within_cost(conn: AsyncConnection, tree: Node, parts: Sequence[int]) -> int | None:
    """Return in how many parts an iteration searches, at least one; None for all.

    For wanted prefixes a few parts have enough results, unless combined with a rare word, which
    justifies reading all parts. A negated prefix never has enough.
    """
    pages = await pages_of(conn, (each for each, is_denied in _begun(tree) if is_denied), parts)
    return max(1, MOST_PAGES // pages) if pages * len(parts) > MOST_PAGES else None


def prefix_terms(tree: Node) -> list[Term]:
    """Return the prefix terms of a query, including negated ones."""
    return [each for each, _ in _begun(tree)]


def _begun(node: Node, *, is_denied: bool = False) -> Iterator[tuple[Term, bool]]:
    """Yield prefix terms, and whether each is negated."""
    if isinstance(node, Term):
        if is_open_ended(node):
            yield node, is_denied
    elif isinstance(node, Not):
        yield from _begun(node.node, is_denied=not is_denied)
    elif isinstance(node, All | Any):
        for each in node.nodes:
            yield from _begun(each, is_denied=is_denied)
