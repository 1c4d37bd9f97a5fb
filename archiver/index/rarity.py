"""How rare words are in the parts of their index, told without reading all that they stand in."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy.ext.asyncio import AsyncConnection

from archiver.index.dialect import dialect_of
from archiver.index.dialect.word_queries import asking
from archiver.index.matching import is_open_ended
from archiver.index.search_tables import PART_SIZE, search_table
from archiver.query.tree import Node, Term, every, sought
from archiver.query.words import phrase_of

MOST_COUNTED = 8
"""Words of a query whose rarity is looked up."""
SAMPLE = 512
"""Documents of a part that have a word, by which it is told how many of them all do."""
MOST_POSTINGS = 1 << 18
"""bm25 reads all of a word's in a part, to count them: so many for one ranking, and no more."""
SAMPLED = 3
"""Parts that tell whether a word is too common in all of them together."""
_PREFIX_COST = 4
"""A beginning of words stands in each document about so often."""
_LEAST_RARITY = 1e-6
Counts = Mapping[int, Mapping[str, int]]
"""How many documents have each word, by the numbers of parts."""


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the index: the candidates in it, and how rare words are there."""

    number: int
    candidates: tuple[int, ...]
    size: int


def begins(node: Node) -> bool:
    """Whether any word that begins so is looked for."""
    return any(map(is_open_ended, sought(node)))


async def countable(
    conn: AsyncConnection, worded: Sequence[Node], parts: Sequence[Part]
) -> tuple[Sequence[Node], Counts]:
    """What bm25 is asked for: the rarer ones, as many as can be counted; and how rare words are.

    What is left out stands in so many documents that it would weigh little, or next to nothing.
    Where parts are many, a few of them tell of the most common ones.
    """
    if len(parts) > SAMPLED:
        some = (parts[0], parts[len(parts) // 2], parts[-1])
        counts = await _counts(conn, some, _words_of(worded))
        most = MOST_POSTINGS * sum(each.size for each in some) // sum(each.size for each in parts)
        worded = [node for node in worded if _cost(node, some, counts) <= most]
    counts = await _counts(conn, parts, _words_of(worded))
    return _countable(worded, parts, counts), counts


def scales(terms: Sequence[Term], parts: Sequence[Part], counts: Counts) -> dict[int, float]:
    """What the scores of each part are to be multiplied by to be those of one whole, by its number.

    bm25 weighs a word by how rare it is in its own part, and calls it worth nothing where more
    than half of a part has it; a new part has few documents.
    """
    plain = {word for term in terms for word in phrase_of(term.text)}
    words = [word for word in plain if word in counts[parts[0].number]]
    size = sum(part.size for part in parts)
    whole = sum(_rarity(sum(each[word] for each in counts.values()), size) for word in words)
    scales = {}
    for part in parts:
        own = sum(
            max(_LEAST_RARITY, _bm25_rarity(counts[part.number][word], part.size)) for word in words
        )
        scales[part.number] = whole / own if own and whole else 1.0
    return scales


def _words_of(worded: Sequence[Node]) -> list[str]:
    """The words whose rarity is looked up."""
    words = dict.fromkeys(word for term in sought(every(worded)) for word in phrase_of(term.text))
    return [*words][:MOST_COUNTED]


def _countable(worded: Sequence[Node], parts: Sequence[Part], counts: Counts) -> list[Node]:
    costs = {node: _cost(node, parts, counts) for node in worded}
    counted, left = [], MOST_POSTINGS
    for node in sorted(costs, key=lambda each: costs[each]):
        left -= costs[node]
        if left >= 0:
            counted.append(node)
    return [node for node in worded if node in counted]


def _cost(node: Node, parts: Sequence[Part], counts: Counts) -> int:
    """How many postings bm25 reads of what a node looks for."""
    terms = [*sought(node)]
    begun = sum(map(is_open_ended, terms))
    words = [word for term in terms for word in phrase_of(term.text)]
    return sum(
        begun * _PREFIX_COST * part.size
        + sum(counts[part.number].get(word, part.size) for word in words)
        for part in parts
    )


async def _counts(
    conn: AsyncConnection, parts: Sequence[Part], words: Sequence[str]
) -> dict[int, dict[str, int]]:
    """About how many documents of each part have each word.

    Told by how far the first that have it reach: FTS5's own count reads all of them.
    """
    arm = (
        "SELECT {1} AS part, count(*) AS found, max(id) AS last FROM (SELECT rowid AS id FROM {0}"
        " WHERE MATCHES ORDER BY rowid LIMIT :most) AS first"
    ).replace("MATCHES", dialect_of(conn).words.matches)
    arms = " UNION ALL ".join(arm.format(search_table(each.number), each.number) for each in parts)
    sizes = {part.number: part.size for part in parts}
    counts: dict[int, dict[str, int]] = {part.number: {} for part in parts}
    for word in words:
        found = await conn.execute(asking(arms), {"match": f'"{word}"', "most": SAMPLE})
        for row in found:
            seen = row.last % PART_SIZE + 1 if row.found == SAMPLE else sizes[row.part]
            counts[row.part][word] = min(sizes[row.part], row.found * sizes[row.part] // seen)
    return counts


def _rarity(count: int, size: int) -> float:
    """Never below nothing, as Lucene has it."""
    return math.log(1 + (size - count + 0.5) / (count + 0.5))


def _bm25_rarity(count: int, size: int) -> float:
    return math.log(max(_LEAST_RARITY, (size - count + 0.5) / (count + 0.5)))
