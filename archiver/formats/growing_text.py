"""Text that comes in pieces, held as far as it is looked at."""

from collections.abc import Iterator


class GrowingText:
    """A buffer, and how far it has been read. To be built upon: readers look at it themselves.

    Attributes:
        _buffer: what is held.
        _at: how far of that was read.
        _ended: whether there is no more.
    """

    def __init__(self, chunks: Iterator[str]) -> None:
        self._chunks = chunks
        self._buffer = ""
        self._at = 0
        self._ended = False

    def _more(self) -> bool:
        """Read on: at least as much again as is held, so that looking again stays linear."""
        held = [self._buffer[self._at :]]
        wanted, got = max(1, len(held[0])), 0
        self._at = 0
        while got < wanted and not self._ended:
            chunk = next(self._chunks, None)
            if chunk is None:
                self._ended = True
            else:
                held.append(chunk)
                got += len(chunk)
        self._buffer = "".join(held)
        return got > 0
