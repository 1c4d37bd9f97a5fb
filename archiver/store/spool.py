"""Lines put aside on disk, to be read again in the order they came."""

from collections.abc import Iterator
from tempfile import TemporaryFile
from types import TracebackType
from typing import IO, Self


class SpooledLines:
    """Lines of bytes in a temporary file. Blocking. Each ends with its only newline."""

    def __init__(self) -> None:
        self._file: IO[bytes] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._file:
            self._file.close()

    def add(self, line: bytes) -> None:
        """Take one more."""
        if self._file is None:
            self._file = TemporaryFile(prefix="archiver-")  # noqa: SIM115 - closed at the end
        self._file.write(line)

    def __iter__(self) -> Iterator[bytes]:
        if self._file:
            self._file.seek(0)
            yield from self._file
