"""Ranking of search results.

To keep searches for frequent words fast, only some matches are ranked. They are called candidates:
the newest matches, and the newest matches in title or tags. They are ordered by bm25. The score of
the best candidates is then multiplied by a factor if the words are in the title or the tags, and by
another factor if the words are near each other.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from heapq import nlargest
from itertools import groupby
from typing import Any

from sqlalchemy import CompoundSelect, Select, bindparam, func, literal_column, select, union_all
from sqlalchemy.ext.asyncio import AsyncConnection

from archiver.db.dialects import THESE, ArrayAggregate, ListType
from archiver.db.full_text import WordIndex, select_lists, with_expressions, word_index_of
from archiver.db.query_sql import (
    expression,
    is_full_text,
    is_open_ended,
)
from archiver.db.schema import PART_SIZE, document, entry, entry_tag, search_table, tag
from archiver.search.query_tree import (
    Node,
    Term,
    conjunction,
    conjuncts,
    positive_terms,
)
from archiver.search.words import MAX_EXPANDED_TERMS, fold, forms_of, phrase_of, words_of


@dataclass(frozen=True, slots=True)
class TitleMatches:
    """Ids of documents that have all words of a query in title or tags.

    Attributes:
        exact: documents with the words as typed.
        at_start: documents in ``exact`` whose title starts with the words.
        in_other_forms: other documents, in which some words have another word form.
    """

    exact: set[int]
    at_start: set[int]
    in_other_forms: set[int]


_TAGS = (
    select(func.aggregate_strings(tag.c.name, "\n"))
    .join(entry_tag, entry_tag.c.tag_id == tag.c.id)
    .where(entry_tag.c.entry_id == entry.c.id)
    .correlate(entry)
    .scalar_subquery()
)
_OWN = (
    select(document.c.id, entry.c.given_title, entry.c.page_title, _TAGS.label("tags"))
    .join(entry, entry.c.id == document.c.entry_id)
    .where(document.c.id.in_(THESE))
    .subquery()
)
_TITLES_AND_TAGS = select(*map(ArrayAggregate, _OWN.c))


async def title_matches(
    conn: AsyncConnection, documents: Sequence[int], terms: Sequence[Term], words: Sequence[str]
) -> TitleMatches:
    """Find the documents that have all terms in title or tags, by reading titles and tags.

    Args:
        conn: a connection.
        documents: ids of the documents to read.
        terms: terms that a title and its tags must contain.
        words: words that a title must start with to be in ``at_start``; may be empty.
    """
    columns = (await conn.execute(_TITLES_AND_TAGS, {"these": documents})).one()
    forms_by_term = [forms_of(term) for term in terms]
    phrases_by_term = [[*map(_joined_form, forms)] for forms in forms_by_term]
    words_by_term = [[phrase_of(form.text) for form in forms] for forms in forms_by_term]
    start = _joined(words) if words else None
    exact, at_start, in_other_forms = set(), set(), set()
    for document_id, user_title, page_title, tags in zip(
        *(each or () for each in columns), strict=True
    ):
        if not _may_match(fold(f"{user_title} {page_title} {tags or ''}"), words_by_term):
            continue
        title = _joined(words_of(" ".join(dict.fromkeys((user_title, page_title)))))
        text = title + _joined(words_of(tags or ""))
        if all(as_typed in text for as_typed, *_ in phrases_by_term):
            exact.add(document_id)
            if start and title.startswith(start):
                at_start.add(document_id)
        elif _has_few_terms(terms) and all(
            any(each in text for each in phrases) for phrases in phrases_by_term
        ):
            in_other_forms.add(document_id)
    return TitleMatches(exact, at_start, in_other_forms)


def _may_match(folded: str, words_by_term: Sequence[Sequence[Sequence[str]]]) -> bool:
    """Test quickly, by substrings, whether a folded text may contain all terms.

    Args:
        folded: the text.
        words_by_term: for each term and each of its word forms, the words.
    """
    return all(
        any(all(word in folded for word in words) for words in forms) for forms in words_by_term
    )


def _has_few_terms(terms: Sequence[Term]) -> bool:
    return len(terms) <= MAX_EXPANDED_TERMS


def _joined_form(term: Term) -> str:
    return _joined(phrase_of(term.text), open_ended=is_open_ended(term))


def _joined(words: Sequence[str], *, open_ended: bool = False) -> str:
    """Join words with spaces around each, so that a phrase of whole words is a substring.

    With ``open_ended``, no space follows the last word, so that it is a prefix.
    """
    return f" {' '.join(words)}" + ("" if open_ended else " ")


MAX_COUNTED = 8
"""Maximum number of query words whose documents are counted."""
SAMPLE = 512
"""Maximum number of documents that are counted per word and part; more are extrapolated."""
_LEAST_RARITY = 1e-6
Counts = Mapping[int, Mapping[str, int]]
"""Number of documents with a word, by part number and word."""


@dataclass(frozen=True, slots=True)
class Part:
    """Part of the full-text index.

    Attributes:
        number: number of the part.
        candidates: ids of the documents to rank, in ascending order.
        size: number of documents in the part.
    """

    number: int
    candidates: tuple[int, ...]
    size: int


def part_factors(terms: Sequence[Term], parts: Sequence[Part], counts: Counts) -> dict[int, float]:
    """Return, by part number, the factor that makes scores of different parts comparable.

    bm25 weighs a word by its rarity in the same part, and ignores a word that more than half of the
    documents have. In a new part with few documents, these weights differ from those of other
    parts.
    """
    plain = {word for term in terms for word in phrase_of(term.text)}
    words = [word for word in plain if word in counts[parts[0].number]]
    size = sum(part.size for part in parts)
    whole = sum(_rarity(sum(each[word] for each in counts.values()), size) for word in words)
    factors = {}
    for part in parts:
        own = sum(
            max(_LEAST_RARITY, _bm25_rarity(counts[part.number][word], part.size)) for word in words
        )
        factors[part.number] = whole / own if own and whole else 1.0
    return factors


def _words_of(nodes: Sequence[Node]) -> list[str]:
    """Return up to ``MAX_COUNTED`` words of nodes, whose documents are counted."""
    words = dict.fromkeys(
        word for term in positive_terms(conjunction(nodes)) for word in phrase_of(term.text)
    )
    return [*words][:MAX_COUNTED]


async def _counts(
    conn: AsyncConnection, parts: Sequence[Part], words: Sequence[str]
) -> dict[int, dict[str, int]]:
    """Estimate how many documents of each part have each word.

    For frequent words, the number is extrapolated from the ids of a word's first ``SAMPLE``
    documents, because FTS5 can count documents only by reading all of them.
    """
    arm = (
        "SELECT {1} AS part, count(*) AS found, max(id) AS last FROM (SELECT rowid AS id FROM {0}"
        " WHERE MATCHES ORDER BY rowid LIMIT :most) AS first"
    ).replace("MATCHES", word_index_of(conn).matches)
    arms = " UNION ALL ".join(arm.format(search_table(each.number), each.number) for each in parts)
    sizes = {part.number: part.size for part in parts}
    counts: dict[int, dict[str, int]] = {part.number: {} for part in parts}
    for word in words:
        found = await conn.execute(with_expressions(arms), {"match": f'"{word}"', "most": SAMPLE})
        for row in found:
            searched = row.last % PART_SIZE + 1 if row.found == SAMPLE else sizes[row.part]
            counts[row.part][word] = min(sizes[row.part], row.found * sizes[row.part] // searched)
    return counts


def _rarity(count: int, size: int) -> float:
    """Return the inverse document frequency of a word as in Lucene, which is never negative."""
    return math.log(1 + (size - count + 0.5) / (count + 0.5))


def _bm25_rarity(count: int, size: int) -> float:
    """Return the inverse document frequency of a word as FTS5's bm25 computes it."""
    return math.log(max(_LEAST_RARITY, (size - count + 0.5) / (count + 0.5)))


WEIGHTS = {"title": 8.0, "tags": 6.0, "note": 4.0, "by": 3.0, "url": 2.0, "keys": 0.0, "text": 1.0}
"""Weight of a word in each column, relative to a word in the text."""
IN_TITLE, IN_TITLE_IN_OTHER_FORMS, AT_TITLE_START, NEAR, ADJACENT = 1.8, 1.5, 1.3, 1.15, 1.35
"""Factors of the score, in this order, if the words of the query are

- in title or tags as typed,
- in title or tags, some of them in another word form,
- at the start of the title,
- near each other,
- adjacent.
"""
NEAR_WORDS = 10
"""Maximum number of words between two words that are near each other."""
MAX_COMPARED = 250
"""Number of candidates with the best bm25 scores whose titles, tags and word distances count."""
PARTS_FOR_TITLES = 8
"""Maximum number of parts, the newest ones, in which titles are searched."""
_MAX_DOCUMENT = 1 << 60
"""Number greater than any document id and any number of documents."""


async def scored(
    conn: AsyncConnection, match: str, tree: Node, candidates: Iterable[int]
) -> list[int]:
    """Return the ids of candidates, the best first; with equal scores, the newest first.

    Args:
        conn: a connection.
        match: FTS5 expression of the query.
        tree: the query. Words without a column are also searched in titles and near each other.
        candidates: document ids that match the query.
    """
    last = (await conn.execute(select(func.max(document.c.id)))).scalar() or 0
    parts = by_part(candidates, last)
    if not parts:
        return []
    scores = await _scores(conn, match, tree, parts)
    if terms := _plain_terms(tree):
        best = nlargest(MAX_COMPARED, scores, key=scores.__getitem__)
        _multiply(scores, await _title_factors(conn, terms, best))
        _multiply(scores, await _nearness(conn, match, tree, by_part(best)))
    # Rounding makes the order independent of the order in which the database adds numbers.
    ascending = sorted((float(f"{score:.6g}"), each) for each, score in scores.items())
    return [each for _, each in reversed(ascending)]


def _multiply(scores: dict[int, float], factors: Iterable[tuple[float, set[int]]]) -> None:
    """Multiply scores by (factor, documents) pairs, in place."""
    for factor, documents in factors:
        for each in documents & scores.keys():
            scores[each] *= factor


def in_titles(match: str, tree: Node) -> str:
    """Return an FTS5 expression for matches that have all words in title or tags.

    The expression is empty if the query has no words, or if it names a column for some of them.
    """
    terms = _plain_terms(tree)
    others = [each for each in conjuncts(tree) if isinstance(each, Term) and each.column]
    return "" if not terms or others else _narrowed(match, tree, _titled(conjunction(terms)))


async def _scores(
    conn: AsyncConnection, match: str, tree: Node, parts: Sequence[Part]
) -> dict[int, float]:
    """Return bm25's score of each candidate."""
    scores = await _bm25(conn, match, parts)
    if len(parts) == 1 or not word_index_of(conn).vocabulary:
        return scores
    nodes = [each for each in conjuncts(tree) if is_full_text(each)]
    counts = await _counts(conn, parts, _words_of(nodes))
    factors = part_factors(_plain_terms(conjunction(nodes)), parts, counts)
    return {each: score * factors[each // PART_SIZE] for each, score in scores.items()}


async def _bm25(conn: AsyncConnection, match: str, parts: Sequence[Part]) -> dict[int, float]:
    statement = _scoring(word_index_of(conn), tuple(part.number for part in parts))
    given: dict[str, Any] = {"match": match, **_range_parameters(parts)}
    given |= {f"wanted{n}": part.candidates for n, part in enumerate(parts)}
    documents, scores = (await conn.execute(statement, given)).one()
    return dict(zip(documents or (), scores or (), strict=True))


@lru_cache(64)
def _scoring(words: WordIndex, parts: Sequence[int]) -> Select[*tuple[Any, ...]]:
    """Return the statement that selects ids and scores of the candidates in some parts."""
    scored = f"SELECT rowid AS id, {words.score(WEIGHTS)} AS score"
    arm = words.matching_wanted.replace("SELECT rowid AS id", scored, 1)
    candidates = (bindparam(f"wanted{n}", type_=ListType()) for n in range(len(parts)))
    union = _union(parts, arm)
    # LIMIT keeps SQLite from flattening the subquery; bm25 can't be used in a flattened one.
    limited = with_expressions(f"{union} LIMIT {_MAX_DOCUMENT}").bindparams(*candidates)
    return select_lists(limited, "id", "score")


async def _title_factors(
    conn: AsyncConnection, terms: Sequence[Term], documents: Sequence[int]
) -> list[tuple[float, set[int]]]:
    """Return (factor, documents) pairs for words in title or tags."""
    found = await title_matches(conn, documents, terms, _whole_words(terms))
    return [
        (IN_TITLE, found.exact),
        (AT_TITLE_START, found.at_start),
        (IN_TITLE_IN_OTHER_FORMS, found.in_other_forms),
    ]


async def _nearness(
    conn: AsyncConnection, match: str, tree: Node, parts: Sequence[Part]
) -> list[tuple[float, set[int]]]:
    """Return (factor, documents) pairs for words near each other."""
    near = _near(_plain_terms(tree))
    if not near:
        return []
    expressions = [_narrowed(match, tree, each) for each in near.values()]
    return [*zip(near, await _matches_among(conn, expressions, parts), strict=True)]


def _narrowed(match: str, tree: Node, stricter: str) -> str:
    """Return ``stricter``, or ``match AND stricter`` if the query has more than plain words."""
    terms = _plain_terms(tree)
    return stricter if match == expression(conjunction(terms)) else f"{match} AND {stricter}"


def by_part(documents: Iterable[int], last: int = _MAX_DOCUMENT) -> list[Part]:
    """Group candidates by part.

    Args:
        documents: ids of the candidates.
        last: id of the newest document, which determines the size of the newest part.
    """
    return [
        Part(number, tuple(some), min(PART_SIZE, last + 1 - number * PART_SIZE))
        for number, some in groupby(sorted(documents), key=lambda each: each // PART_SIZE)
    ]


async def _matches_among(
    conn: AsyncConnection, matches: Sequence[str], parts: Sequence[Part]
) -> list[set[int]]:
    """Return, for each FTS5 expression, the candidates that match it.

    The results may contain other documents that match the expression.
    """
    given: dict[str, Any] = _range_parameters(parts)
    given |= {f"wanted{n}": [*part.candidates] for n, part in enumerate(parts)}
    expressions = {f"match{n}": each for n, each in enumerate(matches)}
    statement = _finding(
        word_index_of(conn).matching, len(matches), tuple(part.number for part in parts)
    )
    found = {
        n: set(ids or ()) for ids, n in await conn.execute(statement, {**given, **expressions})
    }
    return [found[n] for n in range(len(matches))]


@lru_cache(64)
def _finding(arm: str, count: int, parts: Sequence[int]) -> CompoundSelect[*tuple[Any, ...]]:
    """Return the statement that selects a list of matches for each of ``count`` expressions."""
    union = _union(parts, arm)
    arms = []
    for n in range(count):
        found = with_expressions(union.replace(":match", f":match{n}"), f"match{n}")
        arms.append(select_lists(found, "id").add_columns(literal_column(str(n))))
    return union_all(*arms)


def _union(parts: Sequence[int], arm: str) -> str:
    """Return the UNION ALL of a query for each part; the parameters of each query are numbered."""
    return " UNION ALL ".join(arm.format(search_table(part), n) for n, part in enumerate(parts))


def _range_parameters(parts: Sequence[Part]) -> dict[str, int]:
    """Return the first and the last candidate of each part as parameters."""
    given = {f"first{n}": part.candidates[0] for n, part in enumerate(parts)}
    return given | {f"last{n}": part.candidates[-1] for n, part in enumerate(parts)}


def _near(terms: Sequence[Term]) -> dict[float, str]:
    """Return FTS5 expressions for words near each other, by the factor of the score."""
    phrases = [" ".join(phrase_of(term.text)) for term in terms if not term.prefix]
    if len(phrases) < 2:
        return {}
    near = " ".join(f'"{phrase}"' for phrase in phrases)
    return {NEAR: f"NEAR({near}, {NEAR_WORDS})", ADJACENT: f'"{" ".join(phrases)}"'}


def _whole_words(terms: Sequence[Term]) -> list[str]:
    """Return all words except prefixes, to test whether a title starts with them."""
    return [word for term in terms if not term.prefix for word in phrase_of(term.text)]


def _titled(node: Node) -> str:
    return f"({{title tags}} : {expression(node)})"


def _plain_terms(tree: Node) -> list[Term]:
    """Return the terms of a query that every result must contain in any column."""
    return [each for each in conjuncts(tree) if isinstance(each, Term) and each.column is None]
