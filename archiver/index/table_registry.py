"""What all tables belong to, whichever module describes them, and what their columns hold."""

from sqlalchemy import BigInteger, Index, Integer, MetaData, Text, text

metadata = MetaData()

Number = BigInteger().with_variant(Integer(), "sqlite")
"""A whole number of 64 bits, as a timestamp, a moment in milliseconds or a place in a file is."""

Words = Text().with_variant(Text(collation="C"), "postgresql")
"""Text that sorts by its code points, as SQLite sorts all text."""


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
