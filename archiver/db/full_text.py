"""Full-text index in SQLite (FTS5) and PostgreSQL (tsvector).

SQLite: contentless, since the text is stored in the conversion records. Words come normalised from
``search``, so the tokenizer only splits at spaces.

PostgreSQL: each word is a lexeme. A word of a short column is stored a second time with a prefix
for the column, and the first word of a title a third time. No text search configuration is used.
The FTS5 expression of ``matching`` is parsed and converted to a tsquery.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise, product
from string import ascii_lowercase, digits
from typing import Any, Protocol

from sqlalchemy import (
    BindParameter,
    ColumnClause,
    Dialect,
    Select,
    TextClause,
    bindparam,
    column,
    select,
    text,
)
from sqlalchemy.dialects.postgresql import TSVECTOR
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.types import NullType, UserDefinedType

from archiver.db.dialects import Gathered, encode_nul
from archiver.db.schema import POSTGRESQL, SEARCH_COLUMNS, Words, search_table
from archiver.model.listing import SearchDocument


class ExpressionType(UserDefinedType[str]):
    """Parameter type of an expression."""

    cache_ok = True

    def bind_processor(self, dialect: Dialect) -> Callable[[Any], Any] | None:
        """Return the function that converts the parameter."""
        return tsquery if dialect.name == POSTGRESQL else None


class Matches(FunctionElement[Any]):
    """Condition: a document of a part (first argument) matches an expression (second)."""

    inherit_cache = True
    type = NullType()


def expression(value: str) -> BindParameter[str]:
    """Return an expression parameter for ``Matches``."""
    return bindparam("match", value, type_=ExpressionType(), unique=True)


@lru_cache(256)
def asking(statement: str, *expressions: str) -> TextClause:
    """Return a statement whose named parameters are expressions; by default ``match``."""
    names = expressions or ("match",)
    return text(statement).bindparams(*(bindparam(each, type_=ExpressionType()) for each in names))


@lru_cache(256)
def gathering(statement: TextClause, *columns: str) -> Select[*tuple[Any, ...]]:
    """Return a statement with one result row: a list of values for each column."""
    rows = statement.columns(*map(column, columns)).subquery("found_rows")
    return select(*(Gathered(rows.c[each]).label(each) for each in columns))


IndexRow = tuple[str | bytes, ...]
"""Row of a document in a full-text table."""


class WordIndex(Protocol):
    """Full-text index of a database, in tables (parts) of a fixed number of documents.

    In the SQL strings ``{0}`` is the name of such a table.

    Attributes:
        matches: condition: a document matches ``:match``.
        has_positions: phrases are found without reading documents.
        first_parts: number of parts that are searched first, if planning a statement costs time
            for every part; None otherwise.
        matching: selects documents (``id``) that match, in the range ``:first{1}`` to ``:last{1}``,
            or among ``:wanted{1}`` only, if checking each is expensive.
        matching_wanted: selects which of the documents ``:wanted{1}`` match.
        vocabulary: selects words (``term``) and their document counts (``doc``); empty if words are
            not counted and scores of all parts are comparable.
        existing_words: selects which of the words ``:tried`` exist, like ``vocabulary``; empty if
            ``vocabulary`` is used instead.
        columns: columns of a document other than ``rowid``.
        merge: merges up to ``:pages`` pages of the index; empty if there is nothing to merge.
        changes: selects the number of changes of the connection.
        prefix_pages: selects the number of pages with words between ``:first`` and ``:beyond``;
            empty if unknown.
        frequent_words: selects the ``:most`` most frequent words (``term``) between ``:first`` and
            ``:beyond``, skipping ``:known``; empty if ``prefix_pages`` is.
    """

    matches: str
    has_positions: bool
    first_parts: int | None
    matching: str
    matching_wanted: str
    vocabulary: str
    existing_words: str
    columns: tuple[ColumnClause[Any], ...]
    merge: str
    changes: str
    prefix_pages: str
    frequent_words: str

    def __hash__(self) -> int:
        """Return a hash, for caches by index."""

    def ddl(self, part: int) -> tuple[str, ...]:
        """Return the statements that create the table of a part."""

    def row(self, found_by: SearchDocument) -> IndexRow:
        """Return a document as values of ``columns``."""

    def score(self, weights: Mapping[str, float]) -> str:
        """Return the score expression, given the weights of columns."""


class SqliteWords:
    """FTS5 index."""

    matches = "{0} MATCH :match"
    matching = (
        "SELECT rowid AS id FROM {0} WHERE {0} MATCH :match"
        " AND rowid BETWEEN :first{1} AND :last{1}"
    )
    matching_wanted = (
        "SELECT rowid AS id FROM {0} WHERE {0} MATCH :match AND rowid BETWEEN :first{1} AND"
        " :last{1} AND +rowid IN (SELECT value FROM json_each(:wanted{1}))"
    )
    """The plus makes SQLite check each document found instead of using the index for each."""
    has_positions = True
    first_parts: int | None = None
    vocabulary = "SELECT term, doc FROM {0}_words"
    existing_words = ""
    merge = "INSERT INTO {0} ({0}, rank) VALUES ('merge', -:pages)"
    changes = "SELECT total_changes()"
    prefix_pages = """WITH RECURSIVE piece(segid) AS (
  SELECT min(segid) FROM {0}_idx UNION ALL
  SELECT (SELECT min(segid) FROM {0}_idx WHERE segid > piece.segid)
  FROM piece WHERE segid IS NOT NULL
), leaf AS (SELECT
  (SELECT pgno FROM {0}_idx AS leaves WHERE leaves.segid = piece.segid
    AND term <= CAST('0' || :first AS BLOB) ORDER BY term DESC LIMIT 1) AS first,
  (SELECT pgno FROM {0}_idx AS leaves WHERE leaves.segid = piece.segid
    AND term <= CAST('0' || :beyond AS BLOB) ORDER BY term DESC LIMIT 1) AS last
  FROM piece WHERE segid IS NOT NULL
) SELECT coalesce(sum((last - coalesce(first, 2)) / 2), 0) FROM leaf"""
    """FTS5 stores a segment in leaf pages; ``_idx`` lists first words and doubled page numbers.

    Leaves that only continue the positions of one word are numbered, but not listed.
    """
    frequent_words = """WITH leaf AS (SELECT
  substr(CAST(term AS TEXT), 2) AS first,
  lead(substr(CAST(term AS TEXT), 2)) OVER (ORDER BY term) AS beyond,
  lead(pgno) OVER (ORDER BY term) - pgno AS pages
  FROM {0}_idx WHERE segid = (SELECT segid FROM {0}_idx ORDER BY pgno DESC LIMIT 1)
    AND term >= CAST('0' || :first AS BLOB) AND term < CAST('0' || :beyond AS BLOB)
) SELECT (SELECT term FROM {0}_words
    WHERE term >= leaf.first AND term < leaf.beyond ORDER BY doc DESC LIMIT 1) AS term
  FROM leaf WHERE beyond > first ORDER BY pages DESC, first LIMIT :most OFFSET :known"""
    """Unlisted leaves between two listed ones belong to the last word of the first."""
    columns: tuple[ColumnClause[Any], ...] = tuple(column(name, Words) for name in SEARCH_COLUMNS)

    def ddl(self, part: int) -> tuple[str, ...]:
        """Return the statements for a full-text table and its vocabulary table."""
        name, columns = search_table(part), ", ".join(SEARCH_COLUMNS)
        options = "content='', tokenize='ascii'"
        return (
            f"CREATE VIRTUAL TABLE IF NOT EXISTS {name} USING fts5({columns}, {options})",
            f"CREATE VIRTUAL TABLE IF NOT EXISTS {name}_words USING fts5vocab({name}, row)",
        )

    def row(self, found_by: SearchDocument) -> IndexRow:
        """Return a document as values of ``columns``."""
        return tuple(getattr(found_by, name) for name in SEARCH_COLUMNS)

    def score(self, weights: Mapping[str, float]) -> str:
        """Return the score expression of a document within its part."""
        return f"-bm25({{0}}, {', '.join(str(weights[name]) for name in SEARCH_COLUMNS)})"


@compiles(Matches, "sqlite")
def _matches(each: Matches, compiler: SQLCompiler, **more: Any) -> str:
    part, expression = (compiler.process(one, **more) for one in each.clauses)
    return f"{part} MATCH {expression}"


COLUMN = "\ue001"
"""Separator of column and word; no word contains it."""
_COLUMNS = {"title": "t", "tags": "g", "note": "n", "by": "b", "url": "u", "keys": "k", "text": ""}
"""Prefix letters of columns, in column order."""
_WEIGHTS = {"title": "A", "tags": "B", "note": "C", "by": "C", "url": "C", "keys": "", "text": ""}
"""Weights of PostgreSQL; the lowest one is not written."""
_FIRST = "^"
_SECOND = f"{digits}{ascii_lowercase}æðøþđħıĸłŋœŧƿəɛɔ"
"""Possible second characters of words whose first letter is also a column prefix."""
_APART = 100
"""Positions between two columns, so that phrases do not span columns."""
_LAST_PLACE = 16_383
_MAX_PLACES = 255
"""Maximum number of positions of a lexeme in PostgreSQL."""
_MAX_BYTES = 1_000_000
"""Maximum size of a tsvector in bytes; PostgreSQL allows 1 MiB."""
_MAX_BYTES_WITH_PLACES = 700_000
"""Size above which known words get no further positions, to leave room for other words."""
_BEGINS = 'one.lexeme COLLATE "C" >= :first AND one.lexeme COLLATE "C" < :beyond'
_SMALL = 30_000
"""Characters up to which a document can't reach the limits of a tsvector."""
_NOTHING = f"'{COLUMN}'"
_TOKEN = re.compile(r'\s*("(?:[^"]|"")*"|[A-Za-z]+|\d+|[(){}:*^,])')


class PostgresWords:
    """PostgreSQL full-text index.

    Scores depend on one document only (how often and where it has the words), not on how rare the
    words are.
    """

    matches = "words @@ CAST(:match AS tsquery)"
    matching = (
        "SELECT rowid AS id FROM (SELECT rowid, words FROM {0}"
        " WHERE rowid = ANY(CAST(:wanted{1} AS BIGINT[])) OFFSET 0) AS wanted"
        " WHERE words @@ CAST(:match AS tsquery)"
    )
    """PostgreSQL checks NEAR by testing phrases in each document."""
    matching_wanted = matching
    has_positions = False
    first_parts: int | None = 8
    """The newest parts are enough for frequent words.

    Planning a statement over all parts of a million entries took a sixth of the server's time.
    """
    vocabulary = ""
    existing_words = (
        "SELECT word AS term, doc FROM unnest(CAST(:tried AS TEXT[])) AS tried (word),"
        " LATERAL (SELECT count(*) AS doc FROM {0}"
        " WHERE words @@ CAST(quote_literal(word) AS tsquery)) AS counted WHERE doc > 0"
    )
    merge = "SELECT gin_clean_pending_list(CAST('{0}_words' AS REGCLASS))"
    """Recent writes are in a pending list of up to 4 MB, which each query scans."""
    changes = "SELECT 0"
    prefix_pages = """SELECT coalesce(CAST(avg(held) * 44 AS BIGINT), 0) FROM (
  SELECT (SELECT count(*) FROM unnest(words) AS one WHERE BEGINS) AS held
  FROM (SELECT words FROM {0} ORDER BY rowid DESC LIMIT 32) AS newest
) AS sample""".replace("BEGINS", _BEGINS)
    """Estimate in FTS5 pages: a word in every document of a full part takes 44."""
    frequent_words = """SELECT one.lexeme AS term
  FROM (SELECT words FROM {0} ORDER BY rowid DESC LIMIT 32) AS newest, unnest(newest.words) AS one
  WHERE BEGINS GROUP BY one.lexeme ORDER BY count(*) DESC, one.lexeme
  LIMIT :most OFFSET :known""".replace("BEGINS", _BEGINS)
    """Estimate from the newest documents of a part."""
    columns: tuple[ColumnClause[Any], ...] = (column("words", TSVECTOR),)

    def ddl(self, part: int) -> tuple[str, ...]:
        """Return the statements that create the table of a part."""
        name = search_table(part)
        return (
            f"CREATE TABLE IF NOT EXISTS {name} (rowid BIGINT PRIMARY KEY, words TSVECTOR)",
            f"CREATE INDEX IF NOT EXISTS {name}_words ON {name} USING gin (words)",
        )

    def row(self, found_by: SearchDocument) -> IndexRow:
        """Return a document as values of ``columns``."""
        return (vector(found_by),)

    def score(self, weights: Mapping[str, float]) -> str:
        """Return the score expression; it is normalised by document length."""
        shares = (weights[each] / weights["title"] for each in ("text", "by", "tags", "title"))
        listed = ",".join(f"{share:.4f}" for share in shares)
        return f"ts_rank('{{{{{listed}}}}}', words, CAST(:match AS tsquery), 1)"


@compiles(Matches, POSTGRESQL)
def _compile_matches_postgresql(each: Matches, compiler: SQLCompiler, **more: Any) -> str:
    part, expression = (compiler.process(one, **more) for one in each.clauses)
    return f"{part}.words @@ CAST({expression} AS tsquery)"


def vector(found_by: SearchDocument) -> str:
    """Return the words of a document as tsvector text, truncated if it is too large."""
    size = sum(len(getattr(found_by, name)) for name in _COLUMNS)
    places = _all_places(found_by) if size < _SMALL else _places_in_bounds(found_by)
    return " ".join(f"{_quoted(lexeme)}:{','.join(at)}" for lexeme, at in places.items())


def _all_places(found_by: SearchDocument) -> Mapping[str, list[str]]:
    """Return the positions of each lexeme for a document below all limits."""
    places: dict[str, list[str]] = defaultdict(list)
    for lexeme, place, weight in _lexemes(found_by):
        places[lexeme].append(f"{place}{weight}")
    return places


def _places_in_bounds(found_by: SearchDocument) -> Mapping[str, list[str]]:
    """Return the positions of each lexeme within the limits."""
    places: dict[str, list[str]] = {}
    size = 0
    for lexeme, place, weight in _lexemes(found_by):
        known = places.get(lexeme)
        if known is None:
            more = 6 + len(lexeme.encode())
            if size + more > _MAX_BYTES:
                break
            size += more
            places[lexeme] = [f"{min(place, _LAST_PLACE)}{weight}"]
        elif _is_kept(place, known, size):
            size += 2
            known.append(f"{place}{weight}")
    return places


def _is_kept(place: int, known: Sequence[str], size: int) -> bool:
    """Return whether a further position of a word fits into a vector of ``size`` bytes."""
    is_in_reach = place <= _LAST_PLACE and len(known) < _MAX_PLACES
    return is_in_reach and size < _MAX_BYTES_WITH_PLACES


def _lexemes(found_by: SearchDocument) -> Iterator[tuple[str, int, str]]:
    """Yield (lexeme, position, weight), short columns first."""
    start = 1
    for name, letter in _COLUMNS.items():
        words, weight = encode_nul(getattr(found_by, name)).split(" "), _WEIGHTS[name]
        for place, word in enumerate(filter(None, words), start):
            yield word, place, weight
            if letter:
                yield f"{letter}{COLUMN}{word}", place, weight
            if name == "title" and place == start:
                yield f"{_FIRST}{COLUMN}{word}", place, weight
        start += len(words) + _APART


def _quoted(lexeme: str) -> str:
    escaped = lexeme.replace("\\", "\\\\").replace("'", "''")
    return f"'{escaped}'"


def tsquery(expression: str) -> str:
    """Convert an expression of ``matching`` to tsquery text."""
    return _Reader(_TOKEN.findall(expression)).either(())


class _Reader:
    """Parser of FTS5 expressions; columns are given by their prefix letters."""

    def __init__(self, tokens: Sequence[str]) -> None:
        self._tokens = [*tokens, ""]
        self._at = 0

    def either(self, columns: Sequence[str]) -> str:
        found = [self._both(columns)]
        while self._take("OR"):
            found.append(self._both(columns))
        return found[0] if len(found) == 1 else f"({' | '.join(found)})"

    def _both(self, columns: Sequence[str]) -> str:
        found = [self._without(columns)]
        while self._take("AND"):
            found.append(self._without(columns))
        return found[0] if len(found) == 1 else f"({' & '.join(found)})"

    def _without(self, columns: Sequence[str]) -> str:
        found = self._one(columns)
        while self._take("NOT"):
            found = f"({found} & !{self._one(columns)})"
        return found

    def _one(self, columns: Sequence[str]) -> str:
        if self._take("("):
            found = self.either(columns)
            self._at += 1
            return found
        if self._take("NEAR"):
            return self._near()
        if self._take("{"):
            named = []
            while not self._take("}"):
                named.append(self._next())
            self._at += 1
            return self._one([_COLUMNS[each] for each in named])
        if self._take("^"):
            return _phrase(self._words(), (_FIRST,), is_open=False)
        if not self._tokens[self._at].startswith('"'):
            letter = _COLUMNS[self._next()]
            self._at += 1
            return self._one((letter,))
        words = self._words()
        return _phrase(words, columns, is_open=self._take("*"))

    def _near(self) -> str:
        """Parse NEAR: each phrase must be near the previous one."""
        self._at += 1
        phrases = []
        while not self._take(","):
            phrases.append(_phrase(self._words(), (), is_open=False))
        apart, self._at = int(self._tokens[self._at]), self._at + 2
        pairs = pairwise(phrases)
        return f"({' & '.join(_close(one, other, apart) for one, other in pairs)})"

    def _words(self) -> list[str]:
        return self._next()[1:-1].replace('""', '"').split()

    def _next(self) -> str:
        self._at += 1
        return self._tokens[self._at - 1]

    def _take(self, token: str) -> bool:
        if self._tokens[self._at] != token:
            return False
        self._at += 1
        return True


def _phrase(words: Sequence[str], columns: Sequence[str], *, is_open: bool) -> str:
    """Return a phrase, in any of some columns, or anywhere."""
    if not words:
        return _NOTHING
    found = []
    for place in columns or ("",):
        lexed = [_in_column(place, word, n) for n, word in enumerate(words)]
        lexemes = [_quoted(each) for each in lexed]
        lexemes[-1] = _begun(lexed[-1]) if is_open else lexemes[-1]
        found.append(lexemes[0] if len(lexemes) == 1 else f"({' <-> '.join(lexemes)})")
    return found[0] if len(found) == 1 else f"({' | '.join(found)})"


def _begun(lexeme: str) -> str:
    """Return a prefix query that does not match column prefixes."""
    if lexeme not in _COLUMNS.values():
        return f"{_quoted(lexeme)}:*"
    longer = " | ".join(f"{_quoted(lexeme + each)}:*" for each in _SECOND)
    return f"({_quoted(lexeme)} | {longer})"


def _in_column(column: str, word: str, place: int) -> str:
    """Return a word as the lexeme of a column; only the first title word is marked as first."""
    letter = _COLUMNS["title"] if column == _FIRST and place else column
    return f"{letter}{COLUMN}{word}" if letter else word


def _close(one: str, other: str, apart: int) -> str:
    ways = product(range(1, apart + 2), ((one, other), (other, one)))
    return f"({' | '.join(f'({a} <{distance}> {b})' for distance, (a, b) in ways)})"


_SQLITE, _POSTGRES = SqliteWords(), PostgresWords()


def word_index_of(conn: AsyncConnection) -> WordIndex:
    """Return the full-text index of a connection's database."""
    return word_index_named(conn.dialect.name)


def word_index_named(name: str) -> WordIndex:
    """Return a full-text index by SQLAlchemy's name of the database."""
    return _POSTGRES if name == POSTGRESQL else _SQLITE
