"""What a few numbers were at which moment, while something runs: asked for now and then."""

import threading
import time
from bisect import bisect_right
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Self

EVERY_SECONDS = 0.5


class Meter:
    """Asks for numbers that only rise, in a thread, as long as its block lasts.

    Args:
        asked: gives them.
    """

    def __init__(self, asked: Callable[[], Sequence[float]]) -> None:
        self._asked = asked
        self._seen: list[tuple[float, Sequence[float]]] = []
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Self:
        self._look()
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._is_over.set()
        self._thread.join()
        self._look()

    def between(self, begun: float, ended: float) -> list[float]:
        """By how much each of them rose between two moments (``time.time``)."""
        return [late - early for early, late in zip(self._at(begun), self._at(ended), strict=True)]

    def _at(self, moment: float) -> list[float]:
        """What they were then, as if they had risen evenly from one look to the next."""
        place = min(max(bisect_right([at for at, _ in self._seen], moment), 1), len(self._seen) - 1)
        (before, early), (after, late) = self._seen[place - 1 : place + 1]
        part = (min(max(moment, before), after) - before) / (after - before)
        return [low + part * (high - low) for low, high in zip(early, late, strict=True)]

    def _watch(self) -> None:
        while not self._is_over.wait(EVERY_SECONDS):
            self._look()

    def _look(self) -> None:
        self._seen.append((time.time(), self._asked()))
