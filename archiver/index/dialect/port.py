"""What an engine must be able to do for the index: all that is not the same SQL in each."""

from collections.abc import Iterator, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol

from sqlalchemy import Column, Engine, Select, Subquery
from sqlalchemy.exc import DBAPIError

from archiver.index.dialect.rows import OverRows


class Dialect(Protocol):
    """How one engine says what others say otherwise."""

    def __hash__(self) -> int:
        """One of an engine is told from another's."""

    @property
    def much(self) -> str:
        """Gives a connection memory for many pages; empty where none is to be had."""

    @property
    def usual(self) -> str:
        """Takes that back."""

    def batches(
        self, statement: OverRows, rows: Sequence[tuple[Any, ...]]
    ) -> Iterator[tuple[str, tuple[Any, ...]]]:
        """A statement over all rows, in as many pieces as that takes, with their parameters."""

    def of_each(self, groups: Subquery, first: Select[int], key: Column[int]) -> Select[int]:
        """The rows that ``first``, which speaks of ``groups``, finds for each of them; by key."""


class Engines(Protocol):
    """One index, as it is opened.

    Attributes:
        place: what a person calls it; holds no password.
    """

    place: str

    @property
    def dialect(self) -> Dialect:
        """How its engine speaks."""

    def prepare(self) -> None:
        """Bring the index to this program's schema; blocking.

        Raises:
            ConfigurationError: it was written by a newer version, or can't be opened.
        """

    def writing(self) -> Engine:
        """Opens the connection that writes."""

    def reading(self) -> Engine:
        """Opens connections that read, each transaction one moment of the index."""

    def alone(self) -> AbstractAsyncContextManager[None]:
        """Hold what only one task of one process has at a time, before it begins to write."""

    def is_wanted(self) -> bool:
        """Whether somebody waits to write, in any process."""

    def begins_again(self, error: DBAPIError, since: float) -> bool:
        """Whether to ask again for a writing transaction, first asked for at ``since``.

        ``since`` is of ``time.monotonic``.
        """

    def is_down(self, error: DBAPIError) -> bool:
        """Whether an error of a writing transaction is the engine's state, and not our mistake."""

    def hurry(self) -> None:
        """Wait for others for some seconds in all from now on."""

    def close(self) -> None:
        """Let go of what is held besides connections."""
