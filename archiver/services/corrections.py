"""Did you mean: a query whose words are not in the archive, with the nearest ones that are."""

from collections.abc import Sequence
from dataclasses import replace

from archiver.index import vocabulary
from archiver.index.connection import AsyncConnection
from archiver.query.tree import Node, Term, conjuncts, every
from archiver.query.words import phrase_of

MOST_CORRECTED = 4


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
    return every(nodes) if is_better else None
