"""Chunk framing, removed as leniently as browsers do (RFC 9112 §7.1), however the bytes arrive."""

import re
from collections.abc import Iterable, Iterator
from enum import Enum, auto

_MOST_LINE = 16 << 10
"""Bytes of a size with its extensions, or of a trailer field; as Chromium."""
_MOST_DIGITS = 15
_REGULAR_SIZE = re.compile(rb"(0*+[1-9a-fA-F][0-9a-fA-F]{,14})\r\n")
_HEXADECIMAL = b"0123456789abcdefABCDEF"


class _Expected(Enum):
    SIZE = auto()
    DATA = auto()
    END_OF_DATA = auto()
    TRAILER = auto()
    ANYTHING = auto()
    NOTHING = auto()


class ChunkDecoder:
    """Gives the payload of a chunked body whose bytes come piece by piece.

    A body that does not begin with a chunk's size was never chunked: it is payload as it is.

    Attributes:
        is_complete: the last chunk has come, and the trailer section after it.
        is_broken: what came is no chunk framing, so nothing after it is payload.
        is_lenient: something was passed over that RFC 9112 does not allow.
        left_over: bytes of the last piece fed that stand behind the end.
    """

    def __init__(self) -> None:
        self.is_complete = self.is_broken = self.is_lenient = False
        self.left_over = b""
        self._expected = _Expected.SIZE
        self._line = b""
        self._size = 0
        self._is_first = True

    @property
    def was_never_chunked(self) -> bool:
        """Whether the body is payload as it is: it ends where the connection does."""
        return self._expected is _Expected.ANYTHING

    def feed(self, data: bytes) -> list[bytes]:
        """Take the next bytes; return the payload in them."""
        payload: list[bytes] = []
        at = 0
        while at < len(data) and self._expected is not _Expected.NOTHING:
            if self._expected is _Expected.DATA:
                at = self._take_data(data, at, payload)
            elif self._expected is _Expected.ANYTHING:
                payload.append(data[at:] if at else data)
                return payload
            else:
                at = self._take_line(data, self._take_whole_chunks(data, at, payload), payload)
        self.left_over = data[at:]
        return payload

    def finish(self) -> bytes:
        """Take the end of what comes; return what of a body that was never chunked was held."""
        if self._is_first and self._line and _size(self._line) is None:
            self._expected = _Expected.ANYTHING
            return self._line
        return b""

    def _take_data(self, data: bytes, at: int, payload: list[bytes]) -> int:
        payload.append(data[at : at + self._size])
        self._size -= len(payload[-1])
        if not self._size:
            self._expected = _Expected.END_OF_DATA
        return at + len(payload[-1])

    def _take_whole_chunks(self, data: bytes, at: int, payload: list[bytes]) -> int:
        """Take the chunks that stand whole and regular from there on; return where they end."""
        if self._expected is not _Expected.SIZE or self._line:
            return at
        while found := _REGULAR_SIZE.match(data, at):
            start = found.end()
            end = start + int(found[1], 16)
            if not data.startswith(b"\r\n", end):
                break
            payload.append(data[start:end])
            at, self._is_first = end + 2, False
        return at

    def _take_line(self, data: bytes, at: int, payload: list[bytes]) -> int:
        """Take a line, or what there is of it; return where the next one begins."""
        end = data.find(b"\n", at) + 1
        line = self._line + data[at : end or len(data)]
        if end or len(line) > _MOST_LINE:
            self._line = b""
            self._on_line(line, payload)
        else:
            self._line = line
        return end or len(data)

    def _on_line(self, line: bytes, payload: list[bytes]) -> None:
        is_whole = line.endswith(b"\n") and len(line) <= _MOST_LINE
        is_empty = line in (b"\r\n", b"\n")
        self.is_lenient |= not line.endswith(b"\r\n")
        if self._expected is _Expected.SIZE:
            self._on_size(line, _size(line) if is_whole else None, payload)
        elif self._expected is _Expected.END_OF_DATA:
            self._expected = _Expected.SIZE
            if not is_empty:
                self._break_off()
        elif is_empty:
            self._expected, self.is_complete = _Expected.NOTHING, True
        elif not is_whole:
            self._break_off()

    def _on_size(self, line: bytes, size: int | None, payload: list[bytes]) -> None:
        if size is None and self._is_first:
            self._expected, self.is_lenient = _Expected.ANYTHING, True
            payload.append(line)
        elif size is None:
            self._break_off()
        else:
            self._expected, self._size = _Expected.DATA if size else _Expected.TRAILER, size
        self._is_first = False

    def _break_off(self) -> None:
        self._expected, self.is_broken = _Expected.NOTHING, True


def dechunk(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Remove chunk framing; what is cut short or was never chunked is given as far as it goes."""
    decoder = ChunkDecoder()
    for piece in pieces:
        yield from decoder.feed(piece)
        if decoder.is_complete or decoder.is_broken:
            return
    rest = decoder.finish()
    if rest:
        yield rest


def _size(line: bytes) -> int | None:
    digits = line.partition(b";")[0].strip()
    significant = digits.lstrip(b"0")
    if not digits or len(significant) > _MOST_DIGITS or digits.strip(_HEXADECIMAL):
        return None
    return int(digits, 16)
