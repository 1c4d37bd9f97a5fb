"""Full-text index in SQLite (FTS5) and PostgreSQL (tsvector).

SQLite: the tables are contentless, because the text is in WARC records. The words were normalised
by ``search.words``, so the tokenizer only splits them at spaces.

PostgreSQL: each word is a lexeme. A word of a column other than the text is stored a second time
with a prefix for the column. No text search configuration is used.

A query is an ``Expression``. The drivers get it as the text of an FTS5 expression or of a tsquery.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise, product
from string import ascii_lowercase, digits
from typing import Any, TypeAlias

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
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.types import NullType, UserDefinedType

from archiver.db.dialects import ArrayAggregate, compile_as, encode_nul
from archiver.db.schema import POSTGRESQL, SEARCH_COLUMNS, Words
from archiver.model.listing import SearchDocument


@dataclass(frozen=True, slots=True)
class Phrase:
    """Words that follow each other.

    Attributes:
        words: the words.
        columns: columns of which one must contain the words; empty for any column.
        is_open: whether the last word is a prefix.
    """

    words: tuple[str, ...]
    columns: tuple[str, ...] = ()
    is_open: bool = False


@dataclass(frozen=True, slots=True)
class Near:
    """Phrases with at most ``distance`` words between each of them and the next one."""

    phrases: tuple[tuple[str, ...], ...]
    distance: int


@dataclass(frozen=True, slots=True)
class Combined:
    """Expressions joined by ``AND``, ``OR``, or ``NOT`` (the first one without the others)."""

    operator: str
    parts: tuple["Expression", ...]


Expression: TypeAlias = Phrase | Near | Combined


class ExpressionType(UserDefinedType[Expression]):
    """Parameter type of expressions."""

    cache_ok = True

    def bind_processor(self, dialect: Dialect) -> Callable[[Any], Any] | None:
        """Return the function that converts the parameter."""
        return tsquery if dialect.name == POSTGRESQL else fts5


class Matches(FunctionElement[Any]):
    """Condition: a document in a table (first argument) matches an expression (second)."""

    inherit_cache = True
    type = NullType()


compile_as(Matches, "{0} MATCH {1}", "{0}.words @@ CAST({1} AS tsquery)")


def match_parameter(value: Expression) -> BindParameter[Expression]:
    """Return an expression parameter for ``Matches``."""
    return bindparam("match", value, type_=ExpressionType(), unique=True)


@lru_cache(256)
def with_expressions(statement: str, *names: str) -> TextClause:
    """Return a statement whose parameters ``names``, by default ``match``, are expressions."""
    parameters = (bindparam(each, type_=ExpressionType()) for each in names or ("match",))
    return text(statement).bindparams(*parameters)


@lru_cache(256)
def select_lists(statement: TextClause, *columns: str) -> Select[*tuple[Any, ...]]:
    """Return a statement that selects the values of each column as a list, in one row."""
    rows = statement.columns(*map(column, columns)).subquery("found_rows")
    return select(*(ArrayAggregate(rows.c[each]).label(each) for each in columns))


IndexRow = tuple[str | bytes, ...]
"""Values of ``WordIndex.columns`` for one document."""


class SqliteWords:
    """Full-text index of SQLite (FTS5).

    Attributes, also of ``PostgresWords``:
        matches: condition that a document matches the expression ``:match``.
        matching: query for the ``id`` of matching documents. SQLite returns ids from ``:first`` to
            ``:last``. PostgreSQL returns only ids of the list ``:wanted``, because it must read
            each matching document to test for nearby words.
        matching_wanted: query for the ``id`` of matching documents of the list ``:wanted``.
        columns: columns of the table except ``rowid``.
    """

    matches = "full_text MATCH :match"
    matching = (
        "SELECT rowid AS id FROM full_text"
        " WHERE full_text MATCH :match AND rowid BETWEEN :first AND :last"
    )
    matching_wanted = (
        "SELECT rowid AS id FROM full_text WHERE full_text MATCH :match"
        " AND rowid BETWEEN :first AND :last"
        " AND +rowid IN (SELECT value FROM json_each(:wanted))"
    )
    """The plus before ``rowid`` prevents SQLite from searching once for each item of the list."""
    columns: tuple[ColumnClause[Any], ...] = tuple(column(name, Words) for name in SEARCH_COLUMNS)

    def row(self, search_document: SearchDocument) -> IndexRow:
        """Return the values of ``columns`` for a document."""
        return tuple(getattr(search_document, name) for name in SEARCH_COLUMNS)

    def score(self, weights: Mapping[str, float]) -> str:
        """Return SQL for the score of a match."""
        return f"-bm25(full_text, {', '.join(str(weights[name]) for name in SEARCH_COLUMNS)})"


def fts5(expression: Expression) -> str:
    """Return the text of an FTS5 expression, with every word and phrase in quotes."""
    if isinstance(expression, Combined):
        return f"({f' {expression.operator} '.join(map(fts5, expression.parts))})"
    if isinstance(expression, Near):
        phrases = " ".join(f'"{" ".join(words)}"' for words in expression.phrases)
        return f"NEAR({phrases}, {expression.distance})"
    columns = f"{{{' '.join(expression.columns)}}} : " if expression.columns else ""
    return f'({columns}"{" ".join(expression.words)}"{"*" if expression.is_open else ""})'


COLUMN = "\ue001"
"""Separator of the column prefix and the word in a lexeme; no word contains it."""
_COLUMNS = {"title": "t", "tags": "g", "note": "n", "by": "b", "url": "u", "keys": "k", "text": ""}
"""Letter of each column, which precedes ``COLUMN`` in a lexeme; short columns come first."""
_WEIGHTS = {"title": "A", "tags": "B", "note": "C", "by": "C", "url": "C", "keys": "", "text": ""}
"""PostgreSQL's weight class of each column; an empty string is the lowest class, D."""
_SECOND = f"{digits}{ascii_lowercase}æðøþđħıĸłŋœŧƿəɛɔ"
"""Possible second characters of a word, for searches for a prefix of one letter."""
_APART = 100
"""Unused positions between two columns, so that no phrase spans them."""
_LAST_PLACE = 16_383
"""Greatest position of a word that PostgreSQL stores."""
_MAX_BYTES = 1_040_000
"""Maximum size of a tsvector and of the lexemes in its text; PostgreSQL allows 1 MiB."""
_BYTES_OF_PLACE = 5
"""Maximum size of the position of a lexeme in a tsvector, with its number and the padding."""
_NOTHING = f"'{COLUMN}'"
"""Query that matches no document."""
_OPERATORS = {"AND": " & ", "OR": " | ", "NOT": " & !"}


class PostgresWords:
    """Full-text index of PostgreSQL (tsvector).

    A score depends on how often and in which columns a document has the words, but not on the
    number of documents with the words.
    """

    matches = "words @@ CAST(:match AS tsquery)"
    matching = (
        "SELECT rowid AS id FROM (SELECT rowid, words FROM full_text"
        " WHERE rowid = ANY(CAST(:wanted AS BIGINT[])) OFFSET 0) AS wanted"
        " WHERE words @@ CAST(:match AS tsquery)"
    )
    matching_wanted = matching
    columns: tuple[ColumnClause[Any], ...] = (column("words", TSVECTOR),)

    def row(self, search_document: SearchDocument) -> IndexRow:
        """Return the values of ``columns`` for a document."""
        return (vector(search_document),)

    def score(self, weights: Mapping[str, float]) -> str:
        """Return SQL for the score of a match, which is lower in longer documents."""
        shares = (weights[each] / weights["title"] for each in ("text", "by", "tags", "title"))
        listed = ",".join(f"{share:.4f}" for share in shares)
        return f"ts_rank('{{{listed}}}', words, CAST(:match AS tsquery), 1)"


def vector(search_document: SearchDocument) -> str:
    """Return the words of a document as tsvector text, within the limits of PostgreSQL."""
    seen, parts, size = set[str](), list[str](), 0
    for lexeme, place, weight in _lexemes(search_document):
        if place > _LAST_PLACE and lexeme in seen:
            continue
        size += len(lexeme.encode()) + _BYTES_OF_PLACE
        if size > _MAX_BYTES:
            break
        seen.add(lexeme)
        parts.append(f"{_quoted(lexeme)}:{min(place, _LAST_PLACE)}{weight}")
    return " ".join(parts)


def _lexemes(search_document: SearchDocument) -> Iterator[tuple[str, int, str]]:
    """Yield the lexeme, position and weight class of each word, short columns first."""
    start = 1
    for name, letter in _COLUMNS.items():
        words, weight = encode_nul(getattr(search_document, name)).split(" "), _WEIGHTS[name]
        for place, word in enumerate(filter(None, words), start):
            yield word, place, weight
            if letter:
                yield f"{letter}{COLUMN}{word}", place, weight
        start += len(words) + _APART


def _quoted(lexeme: str) -> str:
    escaped = lexeme.replace("\\", "\\\\").replace("'", "''")
    return f"'{escaped}'"


def tsquery(expression: Expression) -> str:
    """Return the text of a tsquery."""
    if isinstance(expression, Combined):
        return f"({_OPERATORS[expression.operator].join(map(tsquery, expression.parts))})"
    if isinstance(expression, Near):
        pairs = pairwise(_phrase(words, (), is_open=False) for words in expression.phrases)
        return f"({' & '.join(_close(one, other, expression.distance) for one, other in pairs)})"
    letters = [_COLUMNS[each] for each in expression.columns]
    return _phrase(expression.words, letters, is_open=expression.is_open)


def _phrase(words: Sequence[str], columns: Sequence[str], *, is_open: bool) -> str:
    """Return tsquery text for a phrase in any of ``columns``; empty ``columns`` mean all.

    With ``is_open``, the last word is a prefix.
    """
    if not words:
        return _NOTHING
    matches = []
    for place in columns or ("",):
        lexed = [f"{place}{COLUMN}{word}" if place else word for word in words]
        lexemes = [_quoted(each) for each in lexed]
        lexemes[-1] = _prefix_query(lexed[-1]) if is_open else lexemes[-1]
        matches.append(lexemes[0] if len(lexemes) == 1 else f"({' <-> '.join(lexemes)})")
    return matches[0] if len(matches) == 1 else f"({' | '.join(matches)})"


def _prefix_query(lexeme: str) -> str:
    """Return tsquery text for the words that start with a lexeme.

    If the lexeme is the letter of a column, a prefix query would also match all lexemes of that
    column. So the query has one prefix for each possible second character.
    """
    if lexeme not in _COLUMNS.values():
        return f"{_quoted(lexeme)}:*"
    longer = " | ".join(f"{_quoted(lexeme + each)}:*" for each in _SECOND)
    return f"({_quoted(lexeme)} | {longer})"


def _close(one: str, other: str, words_between: int) -> str:
    ways = product(range(1, words_between + 2), ((one, other), (other, one)))
    return f"({' | '.join(f'({a} <{distance}> {b})' for distance, (a, b) in ways)})"


WordIndex: TypeAlias = SqliteWords | PostgresWords
WORD_INDEXES: Mapping[str, WordIndex] = {"sqlite": SqliteWords(), POSTGRESQL: PostgresWords()}
"""Full-text index of each database, by the name of its SQLAlchemy dialect."""


def word_index_of(conn: AsyncConnection) -> WordIndex:
    """Return the full-text index of a connection's database."""
    return WORD_INDEXES[conn.dialect.name]
