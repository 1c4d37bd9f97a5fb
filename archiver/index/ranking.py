"""The best of what a query's words find: candidates in bounded number, scored by FTS5's bm25.

Candidates are the newest that match, and the newest that match in their title or tags alone: of
a word that stands everywhere, no more than that is looked at (docs/decisions/0060-search.md).
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from sqlalchemy import func, select, text

from archiver.index.connection import AsyncConnection
from archiver.index.matching import expression
from archiver.index.schema import document
from archiver.index.search_tables import PART_SIZE, SEARCH_COLUMNS, search_table
from archiver.query.tree import Node, Term, conjuncts, every
from archiver.query.words import is_open, phrase_of

WEIGHTS = {"title": 8.0, "tags": 6.0, "note": 4.0, "by": 3.0, "url": 2.0, "keys": 0.0, "text": 1.0}
"""How much a word in a column counts, against one in the text."""
NAMED, FIRST, NEAR, TOGETHER = 1.8, 1.3, 1.15, 1.35
"""How much better a document is that has all words in its title or tags, whose title begins with
them, that has them near each other, or side by side."""
NEAR_WORDS = 10
MOST_COUNTED = 8
"""Words of a query whose rarity is looked up."""
PARTS_OF_NAMES, PARTS_OF_PREFIXES = 8, 2
"""Parts in which names are looked for; a beginning of words costs as much as all that begin so."""
_LEAST_RARITY = 1e-6


@dataclass(frozen=True, slots=True)
class Scored:
    """A document and how good it is; the higher the better."""

    document_id: int
    score: float


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of the index: the candidates in it, and how rare words are there."""

    number: int
    candidates: tuple[int, ...]
    size: int


async def scored(
    conn: AsyncConnection, match: str, tree: Node, candidates: Iterable[int]
) -> list[Scored]:
    """The candidates that match, the best first; of two alike the newer.

    Args:
        conn: a connection.
        match: what they match, as FTS5 is asked.
        tree: of the query; its plain words make titles and nearness count.
        candidates: documents.
    """
    last = (await conn.execute(select(func.max(document.c.id)))).scalar() or 0
    parts = [
        _Part(number, tuple(some), min(PART_SIZE, last + 1 - number * PART_SIZE))
        for number, some in groupby(sorted(candidates), key=lambda each: each // PART_SIZE)
    ]
    if not parts:
        return []
    scores = await _bm25(conn, match, parts)
    scales = await _scales(conn, tree, parts) if len(parts) > 1 else {parts[0].number: 1.0}
    factors = await _factors(conn, match, tree, parts)
    found = []
    for document_id, score in scores.items():
        weighed = score * scales[document_id // PART_SIZE]
        for factor, those in factors:
            weighed *= factor if document_id in those else 1
        found.append(Scored(document_id, float(f"{weighed:.6g}")))
    return sorted(found, key=lambda each: (-each.score, -each.document_id))


def in_names(match: str, tree: Node) -> str:
    """The expression of those that match with all plain words in their title or tags.

    Empty if the query has no plain words, or words that are sought elsewhere.
    """
    terms = _plain_terms(tree)
    others = [each for each in conjuncts(tree) if isinstance(each, Term) and each.column]
    return "" if not terms or others else _narrowed(match, tree, _named(terms))


def names_sought_in(tree: Node, parts: Sequence[int]) -> Sequence[int]:
    """The newest parts, in which names are looked for: of a word that is in each, all are read."""
    is_costly = any(term.prefix or is_open(term.text) for term in _plain_terms(tree))
    return parts[: PARTS_OF_PREFIXES if is_costly else PARTS_OF_NAMES]


async def _bm25(conn: AsyncConnection, match: str, parts: Sequence[_Part]) -> dict[int, float]:
    weights = ", ".join(str(WEIGHTS[column]) for column in SEARCH_COLUMNS)
    scores = "SELECT rowid, -bm25({0}, WEIGHTS) AS score FROM {0}".replace("WEIGHTS", weights)
    rows = await conn.execute(text(_union(parts, scores)), _given(match, parts))
    wanted = {each for part in parts for each in part.candidates}
    return {row.rowid: row.score for row in rows if row.rowid in wanted}


async def _factors(
    conn: AsyncConnection, match: str, tree: Node, parts: Sequence[_Part]
) -> list[tuple[float, set[int]]]:
    """How much better some of the candidates are than bm25 knows, and which these are."""
    found: list[tuple[float, set[int]]] = []
    for factor, better in _better(tree):
        within = parts
        if factor == FIRST:  # whose title begins with the words has them in its title
            numbers = {each // PART_SIZE for _, named in found for each in named}
            within = [part for part in parts if part.number in numbers]
        those = await _which(conn, _narrowed(match, tree, better), within) if within else set()
        found.append((factor, those))
    return found


def _narrowed(match: str, tree: Node, better: str) -> str:
    """What is better, within what matches; plain words match wherever they are better."""
    terms = _plain_terms(tree)
    return better if match == expression(every(terms)) else f"{match} AND {better}"


async def _which(conn: AsyncConnection, match: str, parts: Sequence[_Part]) -> set[int]:
    statement = text(_union(parts, "SELECT rowid FROM {0}"))
    rows = await conn.execute(statement, _given(match, parts))
    return set(rows.scalars())


def _union(parts: Sequence[_Part], selects: str) -> str:
    """One statement over the stretch of each part in which its candidates lie.

    The stretches are parameters, so that it is compiled once.
    """
    arm = f"{selects} WHERE {{0}} MATCH :match AND rowid BETWEEN :first{{1}} AND :last{{1}}"
    return " UNION ALL ".join(
        arm.format(search_table(part.number), n) for n, part in enumerate(parts)
    )


def _given(match: str, parts: Sequence[_Part]) -> dict[str, str | int]:
    """The parameters of ``_union``."""
    given: dict[str, str | int] = {"match": match}
    for n, part in enumerate(parts):
        given |= {f"first{n}": part.candidates[0], f"last{n}": part.candidates[-1]}
    return given


async def _scales(conn: AsyncConnection, tree: Node, parts: Sequence[_Part]) -> dict[int, float]:
    """What the scores of each part are to be multiplied by to be those of one whole.

    bm25 weighs a word by how rare it is in its own part, and calls it worth nothing where more
    than half of a part has it; a new part has few documents.
    """
    terms = _plain_terms(tree)
    words = [*dict.fromkeys(word for term in terms for word in phrase_of(term.text))][:MOST_COUNTED]
    counts = await _counts(conn, [part.number for part in parts], words)
    size = sum(part.size for part in parts)
    whole = sum(_rarity(sum(each.get(word, 0) for each in counts.values()), size) for word in words)
    scales = {}
    for part in parts:
        own = sum(
            max(_LEAST_RARITY, _bm25_rarity(counts[part.number].get(word, 0), part.size))
            for word in words
        )
        scales[part.number] = whole / own if own and whole else 1.0
    return scales


async def _counts(
    conn: AsyncConnection, parts: Sequence[int], words: Sequence[str]
) -> Mapping[int, Mapping[str, int]]:
    """How many documents of each part have each word."""
    names = ", ".join(f":w{n}" for n in range(len(words)))
    arm = "SELECT {0} AS part, term, doc FROM {1}_words WHERE term IN ({2})"
    arms = " UNION ALL ".join(arm.format(part, search_table(part), names) for part in parts)
    found: dict[int, dict[str, int]] = {part: {} for part in parts}
    if words:
        given = {f"w{n}": word for n, word in enumerate(words)}
        for row in await conn.execute(text(arms), given):
            found[row.part][row.term] = row.doc
    return found


def _rarity(count: int, size: int) -> float:
    """Never below nothing, as Lucene has it."""
    return math.log(1 + (size - count + 0.5) / (count + 0.5))


def _bm25_rarity(count: int, size: int) -> float:
    return math.log(max(_LEAST_RARITY, (size - count + 0.5) / (count + 0.5)))


def _better(tree: Node) -> list[tuple[float, str]]:
    """Expressions of documents that are better than bm25 knows, and how much."""
    terms = _plain_terms(tree)
    if not terms:
        return []
    found = [(NAMED, _named(terms))]
    phrases = [" ".join(phrase_of(term.text)) for term in terms if not term.prefix]
    if phrases:
        found.append((FIRST, f'(title : ^ "{" ".join(phrases)}")'))
    if len(phrases) > 1:
        near = " ".join(f'"{phrase}"' for phrase in phrases)
        found.append((NEAR, f"NEAR({near}, {NEAR_WORDS})"))
        found.append((TOGETHER, f'"{" ".join(phrases)}"'))
    return found


def _named(terms: Sequence[Term]) -> str:
    return f"({{title tags}} : {expression(every(terms))})"


def _plain_terms(tree: Node) -> list[Term]:
    return [each for each in conjuncts(tree) if isinstance(each, Term) and each.column is None]
