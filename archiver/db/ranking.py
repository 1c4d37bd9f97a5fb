"""Ranking of search results.

To keep searches for frequent words fast, only some matches are ranked. They are called candidates:
the newest matches, and the newest matches in title or tags. They are ordered by bm25. The score of
the best candidates is then multiplied by a factor if the words are in the title or the tags, and by
another factor if the words are near each other.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from heapq import nlargest
from itertools import chain
from typing import Any

from sqlalchemy import CompoundSelect, Select, bindparam, func, literal_column, select, union_all
from sqlalchemy.ext.asyncio import AsyncConnection

from archiver.db.dialects import THESE, ArrayAggregate, ListType
from archiver.db.full_text import (
    Combined,
    Expression,
    Near,
    Phrase,
    WordIndex,
    select_lists,
    with_expressions,
    word_index_of,
)
from archiver.db.query_sql import (
    expression,
    is_open_ended,
)
from archiver.db.schema import document, entry, entry_tag, tag
from archiver.search.query_tree import (
    Node,
    Term,
    conjunction,
    conjuncts,
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
        elif len(terms) <= MAX_EXPANDED_TERMS and all(
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


def _joined_form(term: Term) -> str:
    return _joined(phrase_of(term.text), open_ended=is_open_ended(term))


def _joined(words: Sequence[str], *, open_ended: bool = False) -> str:
    """Join words with spaces around each, so that a phrase of whole words is a substring.

    With ``open_ended``, no space follows the last word, so that it is a prefix.
    """
    return f" {' '.join(words)}" + ("" if open_ended else " ")


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
"""Number of candidates with the best bm25 scores whose titles, tags and word distances count.

In SQLite, where it costs nothing, the word distances of some other candidates count, too.
"""
_MAX_DOCUMENT = 1 << 60
"""Number greater than any document id and any number of documents."""


async def scored(
    conn: AsyncConnection, match: Expression | None, tree: Node, candidates: Iterable[int]
) -> list[int]:
    """Return the ids of candidates, the best first; with equal scores, the newest first.

    Args:
        conn: a connection.
        match: expression of the query; None if it has no words.
        tree: the query. Its words without a column raise a score if they are in title or tags, or
            near each other.
        candidates: document ids that match the query.
    """
    documents = sorted(candidates)
    if not documents or match is None:
        return documents
    scores = await _bm25(conn, match, documents)
    if terms := _plain_terms(tree):
        best = sorted(nlargest(MAX_COMPARED, scores, key=scores.__getitem__))
        _multiply(scores, await _title_factors(conn, terms, best))
        _multiply(scores, await _nearness(conn, match, tree, best))
    # Rounding makes the order independent of the order in which the database adds numbers.
    ascending = sorted((float(f"{score:.6g}"), each) for each, score in scores.items())
    return [each for _, each in reversed(ascending)]


def _multiply(scores: dict[int, float], factors: Iterable[tuple[float, set[int]]]) -> None:
    """Multiply scores by (factor, documents) pairs, in place."""
    for factor, documents in factors:
        for each in documents & scores.keys():
            scores[each] *= factor


def in_titles(match: Expression | None, tree: Node) -> Expression | None:
    """Return an expression for matches that have all words in title or tags.

    The result is None if the query has no words, or if it names a column for some of them.
    """
    terms = _plain_terms(tree)
    filters = [each for each in conjuncts(tree) if isinstance(each, Term) and each.column]
    if match is None or not terms or filters:
        return None
    titled = expression(conjunction(terms), columns=("title", "tags"))
    return _narrowed(match, tree, titled)


async def _bm25(
    conn: AsyncConnection, match: Expression, documents: Sequence[int]
) -> dict[int, float]:
    statement = _scoring(word_index_of(conn))
    counts, scores = (await conn.execute(statement, {"match": match, **_among(documents)})).one()
    return dict(zip(counts or (), scores or (), strict=True))


@lru_cache(2)
def _scoring(words: WordIndex) -> Select[*tuple[Any, ...]]:
    """Return the statement that selects ids and scores of the candidates."""
    scored = f"SELECT rowid AS id, {words.score(WEIGHTS)} AS score"
    query = words.matching_wanted.replace("SELECT rowid AS id", scored, 1)
    # LIMIT keeps SQLite from flattening the subquery; bm25 can't be used in a flattened one.
    limited = with_expressions(f"{query} LIMIT {_MAX_DOCUMENT}")
    return select_lists(limited.bindparams(bindparam("wanted", type_=ListType())), "id", "score")


def _among(documents: Sequence[int]) -> dict[str, Any]:
    """Return the parameters of a search among documents, whose ids must ascend."""
    return {"first": documents[0], "last": documents[-1], "wanted": documents}


async def _title_factors(
    conn: AsyncConnection, terms: Sequence[Term], documents: Sequence[int]
) -> list[tuple[float, set[int]]]:
    """Return (factor, documents) pairs for words in title or tags."""
    factors = await title_matches(conn, documents, terms, _whole_words(terms))
    return [
        (IN_TITLE, factors.exact),
        (AT_TITLE_START, factors.at_start),
        (IN_TITLE_IN_OTHER_FORMS, factors.in_other_forms),
    ]


async def _nearness(
    conn: AsyncConnection, match: Expression, tree: Node, documents: Sequence[int]
) -> list[tuple[float, set[int]]]:
    """Return (factor, documents) pairs for words near each other."""
    near = _near(_plain_terms(tree))
    if not near:
        return []
    expressions = [_narrowed(match, tree, each) for each in near.values()]
    return [*zip(near, await _matches_among(conn, expressions, documents), strict=True)]


def _narrowed(match: Expression, tree: Node, stricter: Expression) -> Expression:
    """Return ``stricter``, or ``match AND stricter`` if the query has more than plain words."""
    terms = _plain_terms(tree)
    if match == expression(conjunction(terms)):
        return stricter
    return Combined("AND", (match, stricter))


async def _matches_among(
    conn: AsyncConnection, matches: Sequence[Expression], documents: Sequence[int]
) -> list[set[int]]:
    """Return the matches of each expression.

    A result has all matches among ``documents``, and may have matches among other documents.
    """
    expressions = {f"match{n}": each for n, each in enumerate(matches)}
    statement = _finding(word_index_of(conn), len(matches))
    rows = await conn.execute(statement, {**_among(documents), **expressions})
    ids_by_term = {n: set(ids or ()) for ids, n in rows}
    return [ids_by_term[n] for n in range(len(matches))]


@lru_cache(8)
def _finding(words: WordIndex, count: int) -> CompoundSelect[*tuple[Any, ...]]:
    """Return the statement that selects a list of matches for each of ``count`` expressions."""
    arms = []
    for n in range(count):
        statement = with_expressions(words.matching.replace(":match", f":match{n}"), f"match{n}")
        arms.append(select_lists(statement, "id").add_columns(literal_column(str(n))))
    return union_all(*arms)


def _near(terms: Sequence[Term]) -> dict[float, Expression]:
    """Return expressions for words near each other, by the factor of the score."""
    phrases = [tuple(phrase_of(term.text)) for term in terms if not term.prefix]
    if len(phrases) < 2:
        return {}
    words = tuple(chain.from_iterable(phrases))
    return {NEAR: Near(tuple(phrases), NEAR_WORDS), ADJACENT: Phrase(words)}


def _whole_words(terms: Sequence[Term]) -> list[str]:
    """Return all words except prefixes, to test whether a title starts with them."""
    return [word for term in terms if not term.prefix for word in phrase_of(term.text)]


def _plain_terms(tree: Node) -> list[Term]:
    """Return the terms of a query that every result must contain in any column."""
    return [each for each in conjuncts(tree) if isinstance(each, Term) and each.column is None]
