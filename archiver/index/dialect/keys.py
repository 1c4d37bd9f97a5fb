"""Keys of any length: text by which rows are found and sorted, where an engine bounds those."""

from collections.abc import Callable

from sqlalchemy import Dialect, Text
from sqlalchemy.types import TypeDecorator, TypeEngine

SHORTENED: dict[str, Callable[[str | None], str | None]] = {}
"""How an engine, by the name of its dialect, keeps a key; others keep it as it is."""


class Key(TypeDecorator[str]):
    """Such a column: what it holds is no more than a key; compare it with keys alone."""

    impl = Text
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[str]:
        """Text that sorts by its code points."""
        return Text(collation="C" if dialect.name == "postgresql" else None)

    def bind_processor(self, dialect: Dialect) -> Callable[[str | None], str | None] | None:
        """What writes a parameter that is compared with it."""
        return SHORTENED.get(dialect.name)
