"""Lines spooled to disk and sorted in bounded memory."""

import heapq
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from itertools import groupby
from typing import IO

from archiver.helpers import scratch_file


class SpooledLines(ExitStack):
    """Lines of bytes in a temporary file.

    Blocking.

    Each line must end with a newline and contain no other.
    """

    def __init__(self) -> None:
        super().__init__()
        self._file: IO[bytes] | None = None

    def add(self, line: bytes) -> None:
        """Append a line."""
        if self._file is None:
            self._file = scratch_file()
            self.enter_context(self._file)
        self._file.write(line)

    def __iter__(self) -> Iterator[bytes]:
        if self._file:
            self._file.seek(0)
            yield from self._file


RUN_BYTES = 16 << 20


class SortedLines(ExitStack):
    """External merge sort of lines of bytes, without duplicates.

    Blocking.

    Each line must end with a newline and contain no other.
    """

    def __init__(self, run_bytes: int = RUN_BYTES) -> None:
        super().__init__()
        self._run_bytes = run_bytes
        self._lines: list[bytes] = []
        self._size = 0
        self._runs: list[IO[bytes]] = []

    @property
    def is_empty(self) -> bool:
        """Whether there are no lines."""
        return not (self._lines or self._runs)

    def add(self, line: bytes) -> None:
        """Add a line."""
        self._lines.append(line)
        self._size += len(line)
        if self._size >= self._run_bytes:
            self._spill()

    def add_all(self, lines: Iterable[bytes]) -> None:
        """Add several lines."""
        for line in lines:
            self.add(line)

    def __iter__(self) -> Iterator[bytes]:
        for run in self._runs:
            run.seek(0)
        lines = heapq.merge(*self._runs, iter(sorted(self._lines)))
        return (line for line, _ in groupby(lines))

    def _spill(self) -> None:
        run = scratch_file()
        self._runs.append(self.enter_context(run))
        run.writelines(sorted(self._lines))
        self._lines.clear()
        self._size = 0
