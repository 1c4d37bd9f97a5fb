"""Words of the archive, and names of tags, lists and sites, that are similar to a query word."""

from collections.abc import Iterable, Iterator
from string import ascii_lowercase, digits
from typing import Any

from rapidfuzz.distance import OSA
from sqlalchemy import ColumnElement, Select, bindparam, select, text
from sqlalchemy.ext.asyncio import AsyncConnection

from archiver.db import host_queue
from archiver.db.dialects import ListType, is_postgresql
from archiver.db.full_text import Phrase, with_expressions, word_index_of
from archiver.db.query_sql import lists_named
from archiver.db.schema import entry_list, host, tag
from archiver.search.query_tree import Condition
from archiver.search.words import fold, list_key, reversed_host

MAX_READ = 6000
"""Maximum number of words read per prefix."""
SHORTEST = 4
"""Minimum length of a word that is corrected."""
LONG = 8
"""Word length from which two typos are accepted."""
_WORDS = text(
    "SELECT term, doc FROM full_text_words WHERE term >= :first AND term < :beyond LIMIT :most"
)
"""Query of SQLite for words, with the number of documents that contain each."""
_EXISTING = text(
    "SELECT word AS term, doc FROM unnest(CAST(:tried AS TEXT[])) AS tried (word),"
    " LATERAL (SELECT count(*) AS doc FROM full_text"
    " WHERE words @@ CAST(quote_literal(word) AS tsquery)) AS counted WHERE doc > 0"
).bindparams(bindparam("tried", type_=ListType()))
"""Query of PostgreSQL for those words of a list that documents contain, with the same columns."""


async def is_known(conn: AsyncConnection, word: str) -> bool:
    """Return whether any document contains a word."""
    query = "SELECT 1 FROM full_text WHERE MATCHES LIMIT 1"
    query = query.replace("MATCHES", word_index_of(conn).matches)
    rows = await conn.execute(with_expressions(query), {"match": Phrase((word,))})
    return rows.scalar() is not None


async def nearest_words(conn: AsyncConnection, word: str) -> str | None:
    """Return the most similar word of the archive; None if no word is similar.

    Of equally similar words, the most frequent one is returned.
    """
    if len(word) < SHORTEST:
        return None
    most = 2 if len(word) >= LONG else 1
    best: tuple[int, int, str] | None = None
    for term, documents in await _near(conn, word):
        away = OSA.distance(word, term, score_cutoff=most)
        if 0 < away <= most and (best is None or (away, -documents, term) < best):
            best = away, -documents, term
    return best[2] if best else None


async def _near(conn: AsyncConnection, word: str) -> list[tuple[str, int]]:
    """Return words that may be similar, with the number of their documents."""
    if is_postgresql(conn):
        rows = await conn.execute(_EXISTING, {"tried": sorted(words_one_edit_away(word))})
        return [(row.term, row.doc) for row in rows]
    candidates = [await _words(conn, prefix) for prefix in _prefixes(word)]
    return [each for group in candidates for each in group]


def _prefixes(word: str) -> Iterator[str]:
    """Yield possible first two letters of the intended word.

    These are the first two letters of ``word``, and what they would be without a typo.
    """
    yield from dict.fromkeys((word[:2], word[1] + word[0], word[0] + word[2], word[1:3]))


async def _words(conn: AsyncConnection, prefix: str) -> list[tuple[str, int]]:
    values = {"first": prefix, "beyond": prefix + "\uffff", "most": MAX_READ}
    rows = await conn.execute(_WORDS, values)
    return [(row.term, row.doc) for row in rows]


SHORTEST_NAME, LONG_NAME = 3, 8
"""Minimum lengths of a name in which one typo, and two typos, are accepted."""
MAX_NAMES_READ = 2000
"""Maximum number of names read and compared for each prefix."""
_BEYOND = "\U0010ffff"


async def nearest_names(conn: AsyncConnection, which: Condition, value: str) -> str | None:
    """Return the existing name of a tag, list or site that is most similar to an unknown name.

    Return None if ``value`` exists or is too short, or if no name is similar.

    A name that differs by typos is preferred to a name that starts with ``value``. Of equally
    similar names, the one with the most entries is returned.

    Args:
        conn: a connection.
        which: ``TAG``, ``LIST`` or ``SITE``.
        value: the name in the query.
    """
    normalised, most = _normalised_name(which, value), 2 if len(value) >= LONG_NAME else 1
    if len(normalised) < SHORTEST_NAME or await _is_there(conn, which, value):
        return None
    best: tuple[int, int, str] | None = None
    for name, written, count in await _names(conn, which, value):
        away = OSA.distance(normalised, name, score_cutoff=most)  # most + 1 for any distance above
        is_similar = away <= most or name.startswith(normalised)
        if is_similar and (best is None or (away, -count, written) < best):
            best = away, -count, written
    return best[2] if best else None


def _normalised_name(which: Condition, value: str) -> str:
    """Return the normalised form of a name, which is used for comparisons."""
    if which is Condition.LIST:
        return list_key(value.removesuffix("/"))
    return fold(value)


async def _names(
    conn: AsyncConnection, which: Condition, value: str
) -> Iterable[tuple[str, str, int]]:
    """Return names with a similar start: (form for comparison, name, number of entries)."""
    if which is Condition.SITE:
        return await _sites(conn, value)
    query: Select[*tuple[Any, ...]] = select(tag.c.folded, tag.c.name, tag.c.entry_count)
    query, column = query.where(tag.c.entry_count > 0), tag.c.folded
    if which is Condition.LIST:
        query = select(entry_list.c.folded, entry_list.c.path, entry_list.c.entry_count)
        column = entry_list.c.folded
    names = []
    for prefix in _name_prefixes(_normalised_name(which, value)):
        rows = await conn.execute(query.where(*_begins(column, prefix)).limit(MAX_NAMES_READ))
        names += [(row[0], row[1], row[2]) for row in rows]
    return names


async def _sites(conn: AsyncConnection, value: str) -> Iterable[tuple[str, str, int]]:
    """Return domains that resemble ``value``, in the form that ``_names`` returns.

    They have the same number of labels and the same top-level domain, and the label before the
    top-level domain starts similarly.
    """
    last, _, labels = reversed_host(value).partition(".")
    depth, domains = value.count(".") + 1, dict[str, int]()
    for prefix in _name_prefixes(labels):
        condition = _begins(host.c.reversed, f"{last}.{prefix}")
        rows = await conn.execute(select(host.c.reversed).where(*condition).limit(MAX_NAMES_READ))
        for name in rows.scalars():
            domain = ".".join(reversed(name.removesuffix(".").split(".")[:depth]))
            domains[domain] = domains.get(domain, 0) + 1
    return [(domain, domain, count) for domain, count in domains.items()]


def _name_prefixes(name: str) -> Iterator[str]:
    """Yield possible starts of the intended name, as ``_prefixes`` does for words."""
    if len(name) >= SHORTEST_NAME:
        first, second, third = name[0], name[1], name[2]
        yield from dict.fromkeys((name[:2], second + first, first + third, second + third, first))


def _begins(column: ColumnElement[str], prefix: str) -> tuple[ColumnElement[bool], ...]:
    return column >= prefix, column < prefix + _BEYOND


async def _is_there(conn: AsyncConnection, which: Condition, value: str) -> bool:
    if which is Condition.SITE:
        return bool(await host_queue.of_site(conn, value, limit=1))
    query = select(tag.c.id).where(tag.c.folded == fold(value), tag.c.entry_count > 0)
    if which is Condition.LIST:
        query = select(entry_list.c.id).where(lists_named(value))
    return (await conn.execute(query.limit(1))).scalar() is not None


LETTERS = ascii_lowercase + digits
MAX_VARIANT_LENGTH = 30
"""Maximum length of a word whose variants are generated; longer words have thousands."""


def words_one_edit_away(word: str) -> set[str]:
    """Return all words at edit distance 1; empty for a word that is too long.

    Inserted and substituted characters are the word's own letters, a-z and digits.
    """
    if len(word) > MAX_VARIANT_LENGTH:
        return set()
    letters = {*LETTERS, *word}
    splits = [(word[:n], word[n:]) for n in range(len(word) + 1)]
    deletions = {head + tail[1:] for head, tail in splits if tail}
    transpositions = {head + tail[1] + tail[0] + tail[2:] for head, tail in splits[:-2]}
    insertions = {head + each + tail for head, tail in splits for each in letters}
    substitutions = {head + each + tail[1:] for head, tail in splits[:-1] for each in letters}
    return (deletions | transpositions | insertions | substitutions) - {word}
