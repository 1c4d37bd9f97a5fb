"""Ranking of search results.

Candidates are the newest matches, and the newest matches in title or tags. Other matches are not
ranked, so that a search for frequent words stays fast. The full-text index is divided into parts,
each for a range of document ids.
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

from archiver.db.dialects import THESE, Gathered, ListType
from archiver.db.full_text import WordIndex, select_lists, with_expressions, word_index_of
from archiver.db.query_sql import (
    EXPENSIVE_PAGES,
    expression,
    is_open_ended,
    is_worded,
    pages_of,
    parts_within_cost,
    prefix_terms,
)
from archiver.db.schema import PART_SIZE, document, entry, entry_tag, search_table, tag
from archiver.helpers import both
from archiver.search.query_tree import (
    Node,
    Term,
    conjunction,
    conjuncts,
    disjunction,
    positive_terms,
)
from archiver.search.words import MAX_EXPANDED_TERMS, fold, forms_of, phrase_of, words_of


@dataclass(frozen=True, slots=True)
class Named:
    """Documents with the words in title or tags.

    Attributes:
        anywhere: documents with all words in title or tags.
        first: the subset whose title starts with the words.
        formed: other documents with all words there, some in another word form.
    """

    anywhere: set[int]
    first: set[int]
    formed: set[int]


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
_NAMES = select(*map(Gathered, _OWN.c))


async def named_among(
    conn: AsyncConnection, documents: Sequence[int], terms: Sequence[Term], words: Sequence[str]
) -> Named:
    """Return which documents have all terms in title or tags.

    Args:
        conn: a connection.
        documents: documents to read.
        terms: search terms.
        words: start of a title that ranks first; may be empty.
    """
    columns = (await conn.execute(_NAMES, {"these": documents})).one()
    forms_wanted = [forms_of(term) for term in terms]
    wanted = [[*map(_joined_form, forms)] for forms in forms_wanted]
    letters = [[phrase_of(form.text) for form in forms] for forms in forms_wanted]
    beginning = _joined(words, open_ended=False) if words else None
    anywhere, first, formed = set(), set(), set()
    for number, given, said, tags in zip(*(each or () for each in columns), strict=True):
        if not _may_have(fold(f"{given} {said} {tags or ''}"), letters):
            continue
        title = _joined(words_of(" ".join(dict.fromkeys((given, said)))))
        names = title + _joined(words_of(tags or ""))
        if all(term in names for term, *_ in wanted):
            anywhere.add(number)
            if beginning and title.startswith(beginning):
                first.add(number)
        elif _takes_forms(terms) and all(any(each in names for each in forms) for forms in wanted):
            formed.add(number)
    return Named(anywhere, first, formed)


def _may_have(names: str, letters: Sequence[Sequence[Sequence[str]]]) -> bool:
    """Return whether a folded text may contain all terms; avoids splitting most names."""
    return all(any(all(word in names for word in form) for form in forms) for forms in letters)


def in_any_form(terms: Sequence[Term]) -> Node | None:
    """Return a query for all terms, each in any word form; None if there are no other forms."""
    forms = [*map(forms_of, terms)]
    if not _takes_forms(terms) or all(len(each) == 1 for each in forms):
        return None
    return conjunction([disjunction(each) for each in forms])


def _takes_forms(terms: Sequence[Term]) -> bool:
    return len(terms) <= MAX_EXPANDED_TERMS


def _joined_form(term: Term) -> str:
    return _joined(phrase_of(term.text), open_ended=is_open_ended(term))


def _joined(words: Sequence[str], *, open_ended: bool = False) -> str:
    """Join words so that a phrase is a substring."""
    return f" {' '.join(words)}" + ("" if open_ended else " ")


MAX_COUNTED = 8
"""Maximum number of query words whose document counts are looked up."""
SAMPLE = 512
"""Number of matching documents from which a word's document count is extrapolated."""
MAX_POSTINGS = 1 << 18
"""Maximum number of postings that one ranking may read, since bm25 reads all of a word."""
SAMPLED = 3
"""Number of parts that are sampled for very frequent words."""
_PREFIX_COST = 4
"""Estimated postings per document of a prefix."""
_LEAST_RARITY = 1e-6
Counts = Mapping[int, Mapping[str, int]]
"""Document counts of words, by part number."""


@dataclass(frozen=True, slots=True)
class Part:
    """Part of the index: its candidates and its number of documents."""

    number: int
    candidates: tuple[int, ...]
    size: int


def begins(node: Node) -> bool:
    """Return whether a node contains a prefix."""
    return any(map(is_open_ended, positive_terms(node)))


async def countable(
    conn: AsyncConnection, worded: Sequence[Node], parts: Sequence[Part]
) -> tuple[Sequence[Node], Counts]:
    """Return the nodes that bm25 can count within the limit, rarest first, and document counts.

    Omitted words are so frequent that they would hardly affect the score. With many parts, a few
    are sampled for the most frequent words.
    """
    if len(parts) > SAMPLED:
        some = (parts[0], parts[len(parts) // 2], parts[-1])
        counts = await _counts(conn, some, _words_of(worded))
        most = MAX_POSTINGS * sum(each.size for each in some) // sum(each.size for each in parts)
        worded = [node for node in worded if _cost(node, some, counts) <= most]
    counts = await _counts(conn, parts, _words_of(worded))
    return _countable(worded, parts, counts), counts


def scales(terms: Sequence[Term], parts: Sequence[Part], counts: Counts) -> dict[int, float]:
    """Return the factor of each part that makes its scores comparable to those of other parts.

    bm25 uses the rarity of a word in its own part, and gives no weight to words in more than half
    of the documents; a new part has few documents.
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
    """Return the words whose document counts are looked up."""
    words = dict.fromkeys(
        word for term in positive_terms(conjunction(worded)) for word in phrase_of(term.text)
    )
    return [*words][:MAX_COUNTED]


def _countable(worded: Sequence[Node], parts: Sequence[Part], counts: Counts) -> list[Node]:
    costs = {node: _cost(node, parts, counts) for node in worded}
    counted, left = [], MAX_POSTINGS
    for node in sorted(costs, key=lambda each: costs[each]):
        left -= costs[node]
        if left >= 0:
            counted.append(node)
    return [node for node in worded if node in counted]


def _cost(node: Node, parts: Sequence[Part], counts: Counts) -> int:
    """Return how many postings bm25 reads for a node."""
    terms = [*positive_terms(node)]
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
    """Estimate the document counts of words in parts.

    Extrapolated from the range of the first matches, because FTS5 counts by reading all.
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
            seen = row.last % PART_SIZE + 1 if row.found == SAMPLE else sizes[row.part]
            counts[row.part][word] = min(sizes[row.part], row.found * sizes[row.part] // seen)
    return counts


def _rarity(count: int, size: int) -> float:
    """Return the inverse document frequency, never negative, as in Lucene."""
    return math.log(1 + (size - count + 0.5) / (count + 0.5))


def _bm25_rarity(count: int, size: int) -> float:
    return math.log(max(_LEAST_RARITY, (size - count + 0.5) / (count + 0.5)))


WEIGHTS = {"title": 8.0, "tags": 6.0, "note": 4.0, "by": 3.0, "url": 2.0, "keys": 0.0, "text": 1.0}
"""Weights of words by column, relative to the text."""
NAMED, FORMED, FIRST, NEAR, TOGETHER = 1.8, 1.5, 1.3, 1.15, 1.35
"""Score factors of documents.

- NAMED: all words are in title or tags.
- FORMED: likewise, some of them in another word form.
- FIRST: the title starts with the words.
- NEAR: the words are near each other.
- TOGETHER: the words are adjacent.
"""
NEAR_WORDS = 10
MAX_NEAR = 250
"""Number of best results that are tested for nearby words."""
LEAST_MANY = 250
"""Number of documents below which scoring is always cheap."""
READ_NAMES = 500
"""Number of candidates up to which titles are read.

For more, the index is used, which reads all postings of a word in each part.
"""
PARTS_OF_NAMES, PARTS_OF_PREFIXES = 8, 2
"""Number of parts whose titles are searched; prefixes are more expensive."""
_MATCHING = "SELECT rowid AS id FROM {0} WHERE MATCHES AND rowid BETWEEN :first{1} AND :last{1}"
"""Selects matches in the range of a part's candidates."""
_MAX_DOCUMENT = 1 << 60
"""Greater than any document count."""


async def scored(
    conn: AsyncConnection, match: str, tree: Node, candidates: Iterable[int]
) -> list[int]:
    """Return the matching candidates, best first; ties newest first.

    Args:
        conn: a connection.
        match: FTS5 expression that they match.
        tree: the query; its plain words are used for titles and nearness.
        candidates: documents.
    """
    last = (await conn.execute(select(func.max(document.c.id)))).scalar() or 0
    parts = by_part(candidates, last)
    if not parts:
        return []
    # The database computes one while the other result is read.
    scores, factors = await both(
        _scores(conn, match, tree, parts), _factors(conn, match, tree, parts)
    )
    _raise(scores, factors)
    best = by_part(nlargest(MAX_NEAR, scores, key=scores.__getitem__), last)
    _raise(scores, await _nearness(conn, match, tree, best))
    # Rounding makes sums independent of their order.
    put = sorted((float(f"{score:.6g}"), each) for each, score in scores.items())
    return [each for _, each in reversed(put)]


def _raise(scores: dict[int, float], factors: Iterable[tuple[float, set[int]]]) -> None:
    """Multiply the scores of candidates."""
    for factor, those in factors:
        for each in those & scores.keys():
            scores[each] *= factor


def in_names(match: str, tree: Node) -> str:
    """Return an expression for matches with all plain words in title or tags.

    Empty if the query has no plain words, or words restricted to other columns.
    """
    terms = _plain_terms(tree)
    others = [each for each in conjuncts(tree) if isinstance(each, Term) and each.column]
    return "" if not terms or others else _narrowed(match, tree, _named(conjunction(terms)))


async def parts_of_names(conn: AsyncConnection, tree: Node, parts: Sequence[int]) -> Sequence[int]:
    """Return the newest parts whose titles are searched, at most ``parts_within_cost``.

    Empty if the query has an expensive prefix, because nearly all documents contain such a prefix.
    """
    wanted = filter(is_open_ended, _plain_terms(tree))
    if await pages_of(conn, wanted, parts) >= EXPENSIVE_PAGES:
        return ()
    return names_sought_in(tree, parts)[: await parts_within_cost(conn, tree, parts)]


def names_sought_in(tree: Node, parts: Sequence[int]) -> Sequence[int]:
    """Return the newest parts whose titles are searched; their number limits the cost."""
    is_costly = any(map(is_open_ended, _plain_terms(tree)))
    return parts[: PARTS_OF_PREFIXES if is_costly else PARTS_OF_NAMES]


async def _scores(
    conn: AsyncConnection, match: str, tree: Node, parts: Sequence[Part]
) -> dict[int, float]:
    """Score candidates with bm25, omitting words that are too expensive to count."""
    worded = [each for each in conjuncts(tree) if is_worded(each)]
    counted: Sequence[Node] = worded
    if any(map(begins, worded)) and (_are_most(parts) or await _is_expensive(conn, tree, parts)):
        counted = [each for each in worded if not begins(each)]
    counts: Counts = {}
    if len(parts) > 1 and word_index_of(conn).vocabulary:
        counted, counts = await countable(conn, counted, parts)
    if not counted:
        return {each: 1.0 for part in parts for each in part.candidates}
    narrow = match if len(counted) == len(worded) else expression(conjunction(counted))
    scores = await _bm25(conn, narrow, parts)
    if not counts:
        return scores
    by_part = scales(_plain_terms(conjunction(counted)), parts, counts)
    return {each: score * by_part[each // PART_SIZE] for each, score in scores.items()}


def _are_most(parts: Sequence[Part]) -> bool:
    """Return whether the newer candidates are more than half of the documents in their id range.

    If so, the words are too frequent to have any weight in bm25. For prefixes it would read all
    postings to find that out.
    """
    candidates = [each for part in parts for each in part.candidates]
    newer = candidates[len(candidates) // 2 :]
    return len(newer) >= LEAST_MANY and 2 * len(newer) > newer[-1] - newer[0]


async def _is_expensive(conn: AsyncConnection, tree: Node, parts: Sequence[Part]) -> bool:
    """Return whether a prefix is so frequent that bm25 would give it no weight."""
    numbers = [part.number for part in parts]
    return await pages_of(conn, prefix_terms(tree), numbers) >= EXPENSIVE_PAGES


async def _bm25(conn: AsyncConnection, match: str, parts: Sequence[Part]) -> dict[int, float]:
    statement = _scoring(word_index_of(conn), tuple(part.number for part in parts))
    given: dict[str, Any] = {"match": match, **_range_parameters(parts)}
    given |= {f"wanted{n}": part.candidates for n, part in enumerate(parts)}
    documents, scores = (await conn.execute(statement, given)).one()
    return dict(zip(documents or (), scores or (), strict=True))


@lru_cache(64)
def _scoring(words: WordIndex, parts: Sequence[int]) -> Select[*tuple[Any, ...]]:
    """Return the scoring statement, cached by parts."""
    scored = f"SELECT rowid AS id, {words.score(WEIGHTS)} AS score"
    arm = words.matching_wanted.replace("SELECT rowid AS id", scored, 1)
    candidates = (bindparam(f"wanted{n}", type_=ListType()) for n in range(len(parts)))
    union = _union(parts, arm)
    # With a LIMIT, SQLite does not flatten the subquery; bm25 is unavailable in a flattened one.
    parted = with_expressions(f"{union} LIMIT {_MAX_DOCUMENT}").bindparams(*candidates)
    return select_lists(parted, "id", "score")


async def _factors(
    conn: AsyncConnection, match: str, tree: Node, parts: Sequence[Part]
) -> list[tuple[float, set[int]]]:
    """Return score factors for titles, with the documents they apply to."""
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
    """Return score factors for nearby words, with the documents they apply to."""
    near = _near(_plain_terms(tree))
    if not (near and parts):
        return []
    asked = [_among(match, tree, each) for each in near.values()]
    return [*zip(near, await which_of(conn, asked, parts), strict=True)]


async def _by_index(conn: AsyncConnection, match: str, tree: Node, parts: Sequence[Part]) -> Named:
    """Return candidates with the words in title or tags, using the index."""
    terms = _plain_terms(tree)
    forms = in_any_form(terms)
    asked = [_among(match, tree, _named(conjunction(terms)))]
    if forms:
        asked.append(f"{match} AND {_named(forms)}")
    anywhere, *others = await which(conn, asked, parts)
    formed = others[0] - anywhere if forms else set()
    first = await _named_first(conn, match, tree, parts, anywhere)
    return Named(anywhere, first, formed)


async def _named_first(
    conn: AsyncConnection, match: str, tree: Node, parts: Sequence[Part], named: set[int]
) -> set[int]:
    """Return the candidates whose title starts with the words."""
    words = " ".join(_whole_words(_plain_terms(tree)))
    if not words:
        return set()
    numbers = {each // PART_SIZE for each in named}
    within = [part for part in parts if part.number in numbers]
    (first,) = await which(conn, [_among(match, tree, f'(title : ^ "{words}")')], within)
    return first


def _narrowed(match: str, tree: Node, better: str) -> str:
    """Restrict ``better`` to results of ``match``; plain words imply that already."""
    terms = _plain_terms(tree)
    return better if match == expression(conjunction(terms)) else f"{match} AND {better}"


def by_part(documents: Iterable[int], last: int = _MAX_DOCUMENT) -> list[Part]:
    """Group documents by part; ``last`` is the newest document in the index."""
    return [
        Part(number, tuple(some), min(PART_SIZE, last + 1 - number * PART_SIZE))
        for number, some in groupby(sorted(documents), key=lambda each: each // PART_SIZE)
    ]


async def which(
    conn: AsyncConnection, matches: Sequence[str], parts: Sequence[Part]
) -> list[set[int]]:
    """Return the matches of each expression within the candidates' range of each part."""
    if not (matches and parts):
        return [set() for _ in matches]
    arm = _MATCHING.replace("MATCHES", word_index_of(conn).matches)
    return await _found(conn, arm, matches, parts, _range_parameters(parts))


async def which_of(
    conn: AsyncConnection, matches: Sequence[str], parts: Sequence[Part]
) -> list[set[int]]:
    """Return the matches of each expression among few candidates; may include other documents."""
    if not (matches and parts):
        return [set() for _ in matches]
    given: dict[str, Any] = _range_parameters(parts)
    given |= {f"wanted{n}": [*part.candidates] for n, part in enumerate(parts)}
    return await _found(conn, word_index_of(conn).matching, matches, parts, given)


async def _found(
    conn: AsyncConnection,
    arm: str,
    matches: Sequence[str],
    parts: Sequence[Part],
    given: Mapping[str, Any],
) -> list[set[int]]:
    """Return the matches of each expression, with one statement for all parts."""
    numbers = tuple(part.number for part in parts)
    asked = {f"match{n}": each for n, each in enumerate(matches)}
    rows = await conn.execute(_finding(arm, len(matches), numbers), {**given, **asked})
    found = {n: set(ids or ()) for ids, n in rows}
    return [found[n] for n in range(len(matches))]


@lru_cache(64)
def _finding(arm: str, count: int, parts: Sequence[int]) -> CompoundSelect[*tuple[Any, ...]]:
    """Return the statement for several expressions, cached by parts."""
    union = _union(parts, arm)
    arms = []
    for n in range(count):
        found = with_expressions(union.replace(":match", f":match{n}"), f"match{n}")
        arms.append(select_lists(found, "id").add_columns(literal_column(str(n))))
    return union_all(*arms)


def _union(parts: Sequence[int], arm: str) -> str:
    """Return a UNION over parts; values are parameters, so it is compiled once."""
    return " UNION ALL ".join(arm.format(search_table(part), n) for n, part in enumerate(parts))


def _range_parameters(parts: Sequence[Part]) -> dict[str, int]:
    """Return the range parameters of ``_union``."""
    given = {f"first{n}": part.candidates[0] for n, part in enumerate(parts)}
    return given | {f"last{n}": part.candidates[-1] for n, part in enumerate(parts)}


def _among(match: str, tree: Node, better: str) -> str:
    """Restrict ``better`` to results of ``match``, unless prefixes would be read twice."""
    return better if prefix_terms(tree) else _narrowed(match, tree, better)


def _near(terms: Sequence[Term]) -> dict[float, str]:
    """Return expressions for nearby words by score factor."""
    phrases = [" ".join(phrase_of(term.text)) for term in terms if not term.prefix]
    if len(phrases) < 2:
        return {}
    near = " ".join(f'"{phrase}"' for phrase in phrases)
    return {NEAR: f"NEAR({near}, {NEAR_WORDS})", TOGETHER: f'"{" ".join(phrases)}"'}


def _whole_words(terms: Sequence[Term]) -> list[str]:
    """Return the words of a title start."""
    return [word for term in terms if not term.prefix for word in phrase_of(term.text)]


def _named(node: Node) -> str:
    return f"({{title tags}} : {expression(node)})"


def _plain_terms(tree: Node) -> list[Term]:
    return [each for each in conjuncts(tree) if isinstance(each, Term) and each.column is None]
