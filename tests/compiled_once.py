"""Lets a process of tests compile each statement once, however many indices it opens.

SQLAlchemy keeps what it compiled with an engine, and tests open thousands: a sixth of their time
went there. Here all of them have one store, by what SQLAlchemy offers for that.
"""

from typing import Any

from sqlalchemy import Connection, Engine, event

MAX_PATTERNS = 1000
"""Statements that are kept; then all of them go."""


class Compiled(dict[Any, Any]):
    """What was compiled, by dialects' kinds: of a kind they compile the same."""

    def get(self, key: tuple[Any, ...], default: Any = None) -> Any:
        return super().get(_of_any_engine(key), default)

    def __setitem__(self, key: tuple[Any, ...], compiled: Any) -> None:
        if len(self) >= MAX_PATTERNS:
            self.clear()
        super().__setitem__(_of_any_engine(key), compiled)


def compile_once() -> None:
    """From now on, in this process."""
    compiled = Compiled()

    def share(connection: Connection) -> None:
        connection.execution_options(compiled_cache=compiled)

    event.listen(Engine, "engine_connect", share)


def _of_any_engine(key: tuple[Any, ...]) -> tuple[Any, ...]:
    """SQLAlchemy's key begins with the dialect."""
    dialect, *rest = key
    return type(dialect), *rest
