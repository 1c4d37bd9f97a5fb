"""Did you mean: a query whose words or names are not in the archive, with the nearest that are."""

from collections.abc import Sequence
from dataclasses import replace

from archiver.index import likely_names, vocabulary
from archiver.index.database import AsyncConnection
from archiver.query.parse import fits
from archiver.query.tree import Condition, Is, Node, Term, conjuncts, every, write
from archiver.query.words import phrase_of

MOST_CORRECTED = 4
_NAMED = (Condition.TAG, Condition.LIST, Condition.SITE)


async def correction(conn: AsyncConnection, parts: Sequence[int], tree: Node) -> Node | None:
    """The query as it was probably meant; None where its words are known, or nothing is near."""
    nodes = list(conjuncts(tree))
    unknown = [
        n
        for n, node in enumerate(nodes)
        if isinstance(node, Term)
        and not node.prefix
        and len(words := phrase_of(node.text)) == 1
        and not await vocabulary.is_known(conn, parts, words[0])
    ]
    is_better = False
    for n in unknown[:MOST_CORRECTED]:
        node = nodes[n]
        if isinstance(node, Term):
            nearest = await vocabulary.nearest(conn, parts, phrase_of(node.text)[0])
            if nearest:
                nodes[n], is_better = replace(node, text=nearest), True
    named = [n for n, node in enumerate(nodes) if isinstance(node, Is) and node.condition in _NAMED]
    for n in named[:MOST_CORRECTED]:
        better = await _named(conn, nodes[n])
        if better is not None:
            nodes[n], is_better = better, True
    return every(nodes) if is_better else None


async def _named(conn: AsyncConnection, node: Node) -> Node | None:
    """The tag, list or site that was probably meant; None where there is one that is called so."""
    if not isinstance(node, Is) or not isinstance(node.value, str):
        return None
    name = await likely_names.nearest(conn, node.condition, node.value)
    better = replace(node, value=name) if name else None
    return better if better and fits(better, write(better)) else None
