"""What all tables belong to, whichever module describes them, and what their columns hold."""

from typing import Any

from sqlalchemy import (
    DDL,
    BigInteger,
    Column,
    FromClause,
    Index,
    Integer,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    Text,
    UniqueConstraint,
    event,
    text,
)
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.schema import Constraint, CreateIndex, SchemaItem
from sqlalchemy.sql.compiler import DDLCompiler

metadata = MetaData()

VIEW = "live_{}"
"""The name of the view of the rows of a table that are not deleted."""

Number = BigInteger().with_variant(Integer(), "sqlite")
"""A whole number of 64 bits, as a timestamp, a moment in milliseconds or a place in a file is."""

Words = Text().with_variant(Text(collation="C"), "postgresql")
"""Text that sorts by its code points, as SQLite sorts all text."""


class _NoTwoAlike(Constraint):
    """What PostgreSQL keeps by a hash index: no two rows have the same there.

    SQLAlchemy's own loads all that it knows of PostgreSQL: a tenth of what the index loads.
    """

    def __init__(self, name: str, what: str) -> None:
        super().__init__(name=name)
        self.what = what


@compiles(_NoTwoAlike)
def _written(each: _NoTwoAlike, _compiler: DDLCompiler, **_: Any) -> str:
    # Names are the schema's own.
    return f"CONSTRAINT {each.name} EXCLUDE USING hash ({each.what} WITH =)"


@compiles(CreateIndex, "postgresql")
def _created(each: CreateIndex, compiler: DDLCompiler, **more: Any) -> str:
    """What an index says of PostgreSQL: told to it itself, it would load all of that at once."""
    index = each.element
    index.dialect_kwargs.update(index.info)
    # SQLAlchemy gives it no types.
    written: str = compiler.visit_create_index(each, **more)  # type: ignore[no-untyped-call]
    return written


def unique_text(name: str, column: str) -> tuple[SchemaItem, SchemaItem]:
    """No two rows have the same text in a column, however long.

    A tree of PostgreSQL takes no row of more than 2,704 bytes: there a hash index holds it. A row
    that clashes is left out (``Clash.STAYS``) or fails; it can't take the other's place.
    """
    return (
        UniqueConstraint(column).ddl_if(dialect="sqlite"),
        _NoTwoAlike(name, column).ddl_if(dialect="postgresql"),
    )


def key_with_text(name: str, words: str, number: str) -> tuple[SchemaItem, SchemaItem]:
    """The key of a table, of a text however long and a number, as ``unique_text`` is."""
    both = f"({words} || '/' || CAST({number} AS TEXT))"
    return (
        PrimaryKeyConstraint(words, number).ddl_if(dialect="sqlite"),
        _NoTwoAlike(name, both).ddl_if(dialect="postgresql"),
    )


def long_index(name: str, column: str) -> Index:
    """An index of text that may be longer than a tree of PostgreSQL takes: finds, never walks."""
    return Index(name, column, info={"postgresql_using": "hash"})


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
        info={"postgresql_where": predicate, "postgresql_using": "hash" if is_long else None},
    )


def not_deleted(rows: Table) -> FromClause:
    """Define the view of the rows of a table that are not deleted (``deleted_at IS NULL``).

    Queries read it under the name of the table, so that none can forget the condition. It can't be
    written to. SQLite and PostgreSQL plan a query of it as one of the table.
    """
    name = VIEW.format(rows.name)
    # Names are the schema's own.
    made = f"CREATE VIEW {name} AS SELECT * FROM {rows.name} WHERE deleted_at IS NULL"  # noqa: S608
    # SQLAlchemy gives DDL no types.
    event.listen(rows, "after_create", DDL(made))  # type: ignore[no-untyped-call]
    event.listen(rows, "before_drop", DDL(f"DROP VIEW {name}"))  # type: ignore[no-untyped-call]
    columns = [Column(each.name, each.type) for each in rows.columns]
    return Table(name, MetaData(), *columns).alias(rows.name)
