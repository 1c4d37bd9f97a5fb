"""Sorts more lines than memory holds: sorted runs in temporary files, merged when they are read."""

import heapq
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from itertools import groupby
from typing import IO

from archiver.scratch import scratch_file

RUN_BYTES = 16 << 20


class SortedLines(ExitStack):
    """Lines that come in any order and go in that of their bytes, each once. Blocking.

    Each ends with its only newline.
    """

    def __init__(self, run_bytes: int = RUN_BYTES) -> None:
        super().__init__()
        self._run_bytes = run_bytes
        self._held: list[bytes] = []
        self._size = 0
        self._runs: list[IO[bytes]] = []

    @property
    def is_empty(self) -> bool:
        """Whether there is none."""
        return not (self._held or self._runs)

    def add(self, line: bytes) -> None:
        """Take one more."""
        self._held.append(line)
        self._size += len(line)
        if self._size >= self._run_bytes:
            self._spill()

    def add_all(self, lines: Iterable[bytes]) -> None:
        """Take some more."""
        for line in lines:
            self.add(line)

    def __iter__(self) -> Iterator[bytes]:
        for run in self._runs:
            run.seek(0)
        lines = heapq.merge(*self._runs, iter(sorted(self._held)))
        return (line for line, _ in groupby(lines))

    def _spill(self) -> None:
        run = scratch_file()
        self._runs.append(self.enter_context(run))
        run.writelines(sorted(self._held))
        self._held.clear()
        self._size = 0
