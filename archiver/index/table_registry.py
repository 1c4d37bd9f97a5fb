"""What all tables belong to, whichever module describes them, and what their columns hold."""

from sqlalchemy import (
    BigInteger,
    Index,
    Integer,
    MetaData,
    PrimaryKeyConstraint,
    Text,
    UniqueConstraint,
    text,
)
from sqlalchemy.dialects.postgresql import ExcludeConstraint
from sqlalchemy.schema import SchemaItem

metadata = MetaData()

Number = BigInteger().with_variant(Integer(), "sqlite")
"""A whole number of 64 bits, as a timestamp, a moment in milliseconds or a place in a file is."""

Words = Text().with_variant(Text(collation="C"), "postgresql")
"""Text that sorts by its code points, as SQLite sorts all text."""


def unique_text(name: str, column: str) -> tuple[SchemaItem, SchemaItem]:
    """No two rows have the same text in a column, however long.

    A tree of PostgreSQL takes no row of more than 2,704 bytes: there a hash index holds it. A row
    that clashes is left out (``Clash.STAYS``) or fails; it can't take the other's place.
    """
    return (
        UniqueConstraint(column).ddl_if(dialect="sqlite"),
        ExcludeConstraint((column, "="), using="hash", name=name).ddl_if(dialect="postgresql"),
    )


def key_with_text(name: str, words: str, number: str) -> tuple[SchemaItem, SchemaItem]:
    """The key of a table, of a text however long and a number, as ``unique_text`` is."""
    both = text(f"({words} || '/' || CAST({number} AS TEXT))")
    return (
        PrimaryKeyConstraint(words, number).ddl_if(dialect="sqlite"),
        ExcludeConstraint((both, "="), using="hash", name=name).ddl_if(dialect="postgresql"),
    )


def long_index(name: str, column: str) -> Index:
    """An index of text that may be longer than a tree of PostgreSQL takes: finds, never walks."""
    return Index(name, column, postgresql_using="hash")


def partial_index(
    name: str, *columns: str, where: str, unique: bool = False, is_long: bool = False
) -> Index:
    """An index of those rows of which a predicate is true, which every engine understands.

    Args:
        name: of the index.
        columns: that it is of.
        where: the predicate.
        unique: whether no two of these rows may have the same values.
        is_long: its one column may hold more than a tree of PostgreSQL takes, and is never walked.
    """
    predicate = text(where)
    return Index(
        name,
        *columns,
        unique=unique,
        sqlite_where=predicate,
        postgresql_where=predicate,
        postgresql_using="hash" if is_long else None,
    )
