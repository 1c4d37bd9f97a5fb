"""The best of what a query's words find: candidates in bounded number, scored by FTS5's bm25.

Candidates are the newest that match, and the newest that match in their title or tags alone: of
a word that stands everywhere, no more than that is looked at.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from heapq import nlargest
from itertools import groupby
from typing import Any

from sqlalchemy import CompoundSelect, Select, bindparam, func, literal_column, select, union_all
from sqlalchemy.ext.asyncio import AsyncConnection

from archiver.finishing import both
from archiver.index.beginnings import DEAR_PAGES, begun_in, pages_of, within_reach
from archiver.index.dialect import dialect_of
from archiver.index.dialect.listed_values import ListedNumbers
from archiver.index.dialect.port import Dialect
from archiver.index.dialect.word_queries import asking, gathering
from archiver.index.matching import expression, is_open_ended, is_worded
from archiver.index.names import Named, in_any_form, named_among
from archiver.index.rarity import Counts, Part, begins, countable, scales
from archiver.index.schema import document
from archiver.index.search_tables import PART_SIZE, search_table
from archiver.query.tree import Node, Term, conjuncts, every
from archiver.query.words import phrase_of

WEIGHTS = {"title": 8.0, "tags": 6.0, "note": 4.0, "by": 3.0, "url": 2.0, "keys": 0.0, "text": 1.0}
"""How much a word in a column counts, against one in the text."""
NAMED, FORMED, FIRST, NEAR, TOGETHER = 1.8, 1.5, 1.3, 1.15, 1.35
"""How much better a document is that has all words in its title or tags, or some of them there in
another form, whose title begins with them, that has them near each other, or side by side."""
NEAR_WORDS = 10
MOST_NEAR = 250
"""Of so many of the best by their words it is asked whether these stand near each other."""
LEAST_MANY = 250
"""Documents: of fewer, all scores are cheap."""
READ_NAMES = 500
"""Of so many candidates names are read: the index of words reads all that have a word, in each part
where a candidate lies."""
PARTS_OF_NAMES, PARTS_OF_PREFIXES = 8, 2
"""Parts in which names are looked for; a beginning of words costs as much as all that begin so."""
_MATCHING = "SELECT rowid AS id FROM {0} WHERE MATCHES AND rowid BETWEEN :first{1} AND :last{1}"
"""What matches in the stretch of a part in which its candidates lie."""
_MOST = 1 << 60
"""More than there are documents."""


async def scored(
    conn: AsyncConnection, match: str, tree: Node, candidates: Iterable[int]
) -> list[int]:
    """The candidates that match, the best first; of two alike the newer.

    Args:
        conn: a connection.
        match: what they match, as FTS5 is asked.
        tree: of the query; its plain words make titles and nearness count.
        candidates: documents.
    """
    last = (await conn.execute(select(func.max(document.c.id)))).scalar() or 0
    parts = by_part(candidates, last)
    if not parts:
        return []
    # The engine is at one while the other's answer is read.
    scores, factors = await both(
        _scores(conn, match, tree, parts), _factors(conn, match, tree, parts)
    )
    _raise(scores, factors)
    best = by_part(nlargest(MOST_NEAR, scores, key=scores.__getitem__), last)
    _raise(scores, await _nearness(conn, match, tree, best))
    # Sums of the same come out alike in whatever order they were added.
    put = sorted((float(f"{score:.6g}"), each) for each, score in scores.items())
    return [each for _, each in reversed(put)]


def _raise(scores: dict[int, float], factors: Iterable[tuple[float, set[int]]]) -> None:
    """Multiply the scores of some candidates."""
    for factor, those in factors:
        for each in those & scores.keys():
            scores[each] *= factor


def in_names(match: str, tree: Node) -> str:
    """The expression of those that match with all plain words in their title or tags.

    Empty if the query has no plain words, or words that are sought elsewhere.
    """
    terms = _plain_terms(tree)
    others = [each for each in conjuncts(tree) if isinstance(each, Term) and each.column]
    return "" if not terms or others else _narrowed(match, tree, _named(every(terms)))


async def parts_of_names(conn: AsyncConnection, tree: Node, parts: Sequence[int]) -> Sequence[int]:
    """The newest parts, in which names are looked for: of no more than one walk looks in.

    Of a dear beginning, which stands in nearly all documents, there is none.
    """
    wanted = filter(is_open_ended, _plain_terms(tree))
    if await pages_of(conn, wanted, parts) >= DEAR_PAGES:
        return ()
    return names_sought_in(tree, parts)[: await within_reach(conn, tree, parts)]


def names_sought_in(tree: Node, parts: Sequence[int]) -> Sequence[int]:
    """The newest parts, in which names are looked for: of a word that is in each, all are read."""
    is_costly = any(map(is_open_ended, _plain_terms(tree)))
    return parts[: PARTS_OF_PREFIXES if is_costly else PARTS_OF_NAMES]


async def _scores(
    conn: AsyncConnection, match: str, tree: Node, parts: Sequence[Part]
) -> dict[int, float]:
    """How good each candidate is by its words alone: by those of them that can be counted."""
    worded = [each for each in conjuncts(tree) if is_worded(each)]
    counted: Sequence[Node] = worded
    if any(map(begins, worded)) and (_are_most(parts) or await _is_dear(conn, tree, parts)):
        counted = [each for each in worded if not begins(each)]
    counts: Counts = {}
    if len(parts) > 1 and dialect_of(conn).words.vocabulary:
        counted, counts = await countable(conn, counted, parts)
    if not counted:
        return {each: 1.0 for part in parts for each in part.candidates}
    narrow = match if len(counted) == len(worded) else expression(every(counted))
    scores = await _bm25(conn, narrow, parts)
    if not counts:
        return scores
    by_part = scales(_plain_terms(every(counted)), parts, counts)
    return {each: score * by_part[each // PART_SIZE] for each, score in scores.items()}


def _are_most(parts: Sequence[Part]) -> bool:
    """Whether the newer candidates are more than half of all documents of their time, and many.

    Then each of their words stands in more than half, of which bm25 says nothing: and of words
    that begin alike it would say it after having read all of them.
    """
    candidates = [each for part in parts for each in part.candidates]
    newer = candidates[len(candidates) // 2 :]
    return len(newer) >= LEAST_MANY and 2 * len(newer) > newer[-1] - newer[0]


async def _is_dear(conn: AsyncConnection, tree: Node, parts: Sequence[Part]) -> bool:
    """Whether so many words begin as one of a query that bm25 would call that worth nothing."""
    numbers = [part.number for part in parts]
    return await pages_of(conn, begun_in(tree), numbers) >= DEAR_PAGES


async def _bm25(conn: AsyncConnection, match: str, parts: Sequence[Part]) -> dict[int, float]:
    statement = _scoring(dialect_of(conn), tuple(part.number for part in parts))
    given: dict[str, Any] = {"match": match, **_stretches(parts)}
    given |= {f"wanted{n}": part.candidates for n, part in enumerate(parts)}
    documents, scores = (await conn.execute(statement, given)).one()
    return dict(zip(documents or (), scores or (), strict=True))


@lru_cache(64)
def _scoring(dialect: Dialect, parts: Sequence[int]) -> Select[*tuple[Any, ...]]:
    """How good candidates are, by the words of a query; made once for the same parts."""
    words = dialect.words
    scored = f"SELECT rowid AS id, {words.score(WEIGHTS)} AS score"
    arm = words.chosen.replace("SELECT rowid AS id", scored, 1)
    candidates = (bindparam(f"wanted{n}", type_=ListedNumbers()) for n in range(len(parts)))
    union = _union(parts, arm)
    # SQLite makes one query of both where nothing parts them, and knows no bm25 in that.
    parted = asking(f"{union} LIMIT {_MOST}").bindparams(*candidates)
    return gathering(parted, "id", "score")


async def _factors(
    conn: AsyncConnection, match: str, tree: Node, parts: Sequence[Part]
) -> list[tuple[float, set[int]]]:
    """How much better those candidates are that are named so, and which these are."""
    terms = _plain_terms(tree)
    if not terms:
        return []
    candidates = [each for part in parts for each in part.candidates]
    if len(candidates) <= READ_NAMES:
        named = await named_among(conn, candidates, terms, _whole_words(terms))
    else:
        named = await _by_index(conn, match, tree, parts)
    return [(NAMED, named.anywhere), (FIRST, named.first), (FORMED, named.formed)]


async def _nearness(
    conn: AsyncConnection, match: str, tree: Node, parts: Sequence[Part]
) -> list[tuple[float, set[int]]]:
    """How much better those candidates are that have words near each other, and which these are."""
    near = _near(_plain_terms(tree))
    if not (near and parts):
        return []
    asked = [_among(match, tree, each) for each in near.values()]
    return [*zip(near, await which_of(conn, asked, parts), strict=True)]


async def _by_index(conn: AsyncConnection, match: str, tree: Node, parts: Sequence[Part]) -> Named:
    """Which candidates are named so."""
    terms = _plain_terms(tree)
    forms = in_any_form(terms)
    asked = [_among(match, tree, _named(every(terms)))]
    if forms:
        asked.append(f"{match} AND {_named(forms)}")
    anywhere, *others = await which(conn, asked, parts)
    formed = others[0] - anywhere if forms else set()
    first = await _named_first(conn, match, tree, parts, anywhere)
    return Named(anywhere, first, formed)


async def _named_first(
    conn: AsyncConnection, match: str, tree: Node, parts: Sequence[Part], named: set[int]
) -> set[int]:
    """Of the candidates that are named so those whose title begins with the words."""
    words = " ".join(_whole_words(_plain_terms(tree)))
    if not words:
        return set()
    numbers = {each // PART_SIZE for each in named}
    within = [part for part in parts if part.number in numbers]
    (first,) = await which(conn, [_among(match, tree, f'(title : ^ "{words}")')], within)
    return first


def _narrowed(match: str, tree: Node, better: str) -> str:
    """What is better, within what matches; plain words match wherever they are better."""
    terms = _plain_terms(tree)
    return better if match == expression(every(terms)) else f"{match} AND {better}"


def by_part(documents: Iterable[int], last: int = _MOST) -> list[Part]:
    """Some documents by the parts in which they lie, of all of which one is the last."""
    return [
        Part(number, tuple(some), min(PART_SIZE, last + 1 - number * PART_SIZE))
        for number, some in groupby(sorted(documents), key=lambda each: each // PART_SIZE)
    ]


async def which(
    conn: AsyncConnection, matches: Sequence[str], parts: Sequence[Part]
) -> list[set[int]]:
    """What matches each of some expressions, from the first candidate of each part to its last."""
    if not (matches and parts):
        return [set() for _ in matches]
    arm = _MATCHING.replace("MATCHES", dialect_of(conn).words.matches)
    return await _found(conn, arm, matches, parts, _stretches(parts))


async def which_of(
    conn: AsyncConnection, matches: Sequence[str], parts: Sequence[Part]
) -> list[set[int]]:
    """The same of a few candidates, each of which may be looked at; others may be found, too."""
    if not (matches and parts):
        return [set() for _ in matches]
    given: dict[str, Any] = _stretches(parts)
    given |= {f"wanted{n}": [*part.candidates] for n, part in enumerate(parts)}
    return await _found(conn, dialect_of(conn).words.among, matches, parts, given)


async def _found(
    conn: AsyncConnection,
    arm: str,
    matches: Sequence[str],
    parts: Sequence[Part],
    given: Mapping[str, Any],
) -> list[set[int]]:
    """What is found for each of some expressions by a statement for each part."""
    numbers = tuple(part.number for part in parts)
    asked = {f"match{n}": each for n, each in enumerate(matches)}
    rows = await conn.execute(_finding(arm, len(matches), numbers), {**given, **asked})
    found = {n: set(ids or ()) for ids, n in rows}
    return [found[n] for n in range(len(matches))]


@lru_cache(64)
def _finding(arm: str, count: int, parts: Sequence[int]) -> CompoundSelect[*tuple[Any, ...]]:
    """Which documents match each of so many expressions; made once for the same parts."""
    union = _union(parts, arm)
    arms = []
    for n in range(count):
        found = asking(union.replace(":match", f":match{n}"), f"match{n}")
        arms.append(gathering(found, "id").add_columns(literal_column(str(n))))
    return union_all(*arms)


def _union(parts: Sequence[int], arm: str) -> str:
    """One statement over each part; what it asks for are parameters, so it is compiled once."""
    return " UNION ALL ".join(arm.format(search_table(part), n) for n, part in enumerate(parts))


def _stretches(parts: Sequence[Part]) -> dict[str, int]:
    """The parameters of ``_union``, but for what is looked for."""
    given = {f"first{n}": part.candidates[0] for n, part in enumerate(parts)}
    return given | {f"last{n}": part.candidates[-1] for n, part in enumerate(parts)}


def _among(match: str, tree: Node, better: str) -> str:
    """The same for candidates, all of which match: what begins words is not read once more."""
    return better if begun_in(tree) else _narrowed(match, tree, better)


def _near(terms: Sequence[Term]) -> dict[float, str]:
    """Expressions of documents that have words near each other, and how much better these are."""
    phrases = [" ".join(phrase_of(term.text)) for term in terms if not term.prefix]
    if len(phrases) < 2:
        return {}
    near = " ".join(f'"{phrase}"' for phrase in phrases)
    return {NEAR: f"NEAR({near}, {NEAR_WORDS})", TOGETHER: f'"{" ".join(phrases)}"'}


def _whole_words(terms: Sequence[Term]) -> list[str]:
    """The words that a title begins with, where it begins with what is looked for."""
    return [word for term in terms if not term.prefix for word in phrase_of(term.text)]


def _named(node: Node) -> str:
    return f"({{title tags}} : {expression(node)})"


def _plain_terms(tree: Node) -> list[Term]:
    return [each for each in conjuncts(tree) if isinstance(each, Term) and each.column is None]
