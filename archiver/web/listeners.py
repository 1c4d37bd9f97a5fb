"""Who listens to events: a bounded number, told at once when the service stops."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

MOST = 100
"""Listeners at a time. Each holds a connection and a place in the index's polling."""


class Full(Exception):
    """There is no place for another listener."""


class Listeners:
    """The places, and the word that it is over."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self.count = 0
        self.closing = asyncio.Event()

    @contextmanager
    def place(self) -> Iterator[None]:
        """Hold a place.

        Raises:
            Full: all are taken.
        """
        if self.count >= self._most:
            raise Full
        self.count += 1
        try:
            yield
        finally:
            self.count -= 1
