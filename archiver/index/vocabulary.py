"""The words of the archive: which are there, and which are nearly what was typed."""

from collections.abc import Iterator, Sequence
from functools import lru_cache

from sqlalchemy import TextClause, bindparam, text
from sqlalchemy.ext.asyncio import AsyncConnection

from archiver.index.dialect import dialect_of
from archiver.index.dialect.listed_values import ListedTexts
from archiver.index.dialect.word_queries import asking
from archiver.index.search_tables import search_table
from archiver.query.spelling import distance, slips, twice_left_out

MOST_PARTS = 3
MOST_READ = 6000
"""Words of a part that are looked at for each beginning."""
SHORTEST = 4
LONG = 8
"""From so many letters on, two may be wrong."""


async def is_known(conn: AsyncConnection, parts: Sequence[int], word: str) -> bool:
    """Whether any document has a word."""
    arm = "SELECT * FROM (SELECT 1 FROM {0} WHERE MATCHES LIMIT 1) AS taken"
    arm = arm.replace("MATCHES", dialect_of(conn).words.matches)
    union = " UNION ALL ".join(arm.format(search_table(part)) for part in parts)
    if not union:
        return False
    found = await conn.execute(asking(f"{union} LIMIT 1"), {"match": f'"{word}"'})
    return found.scalar() is not None


async def nearest(conn: AsyncConnection, parts: Sequence[int], word: str) -> str | None:
    """The word of the newest parts that is nearest to one; of several, the most frequent."""
    if len(word) < SHORTEST:
        return None
    most = 2 if len(word) >= LONG else 1
    best: tuple[int, int, str] | None = None
    for part in parts[:MOST_PARTS]:
        for term, documents in await _near(conn, part, word, most):
            if abs(len(term) - len(word)) > most or term == word:
                continue
            away = distance(word, term, most)
            if away is not None and (best is None or (away, -documents, term) < best):
                best = away, -documents, term
    return best[2] if best else None


async def _near(conn: AsyncConnection, part: int, word: str, most: int) -> list[tuple[str, int]]:
    """Words of a part that may be near one, and how many documents have each."""
    if dialect_of(conn).words.vocabulary:
        found = [await _words(conn, part, beginning) for beginning in _beginnings(word)]
        return [each for some in found for each in some]
    tried = slips(word) if most == 1 else slips(word) | twice_left_out(word)
    statement = _tried(dialect_of(conn).words.tried.format(search_table(part)))
    rows = await conn.execute(statement, {"tried": sorted(tried)})
    return [(row.term, row.doc) for row in rows]


@lru_cache(64)
def _tried(statement: str) -> TextClause:
    return text(statement).bindparams(bindparam("tried", type_=ListedTexts()))


def _beginnings(word: str) -> Iterator[str]:
    """What the word that was meant may begin with: as this, or with a slip in its first letters."""
    yield from dict.fromkeys((word[:2], word[1] + word[0], word[0] + word[2], word[1:3]))


async def _words(conn: AsyncConnection, part: int, beginning: str) -> list[tuple[str, int]]:
    counted = dialect_of(conn).words.vocabulary.format(search_table(part))
    rows = await conn.execute(
        text(f"{counted} WHERE term >= :first AND term < :beyond LIMIT :most"),
        {"first": beginning, "beyond": beginning + "\uffff", "most": MOST_READ},
    )
    return [(row.term, row.doc) for row in rows]
