"""Lines put aside on disk, to be read again in the order they came."""

from collections.abc import Iterator
from contextlib import ExitStack
from typing import IO

from archiver.scratch import scratch_file


class SpooledLines(ExitStack):
    """Lines of bytes in a temporary file. Blocking. Each ends with its only newline."""

    def __init__(self) -> None:
        super().__init__()
        self._file: IO[bytes] | None = None

    def add(self, line: bytes) -> None:
        """Take one more."""
        if self._file is None:
            self._file = scratch_file()
            self.enter_context(self._file)
        self._file.write(line)

    def __iter__(self) -> Iterator[bytes]:
        if self._file:
            self._file.seek(0)
            yield from self._file
