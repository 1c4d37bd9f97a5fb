"""Bytes out of gzip members, one member at a time, none larger in memory than a piece."""

from typing import Protocol, cast

from isal import isal_zlib

from archiver.errors import InvalidRecord, TornRecord

PIECE = 64 << 10
_GZIP = 31
DAMAGED = cast("tuple[type[Exception], ...]", (isal_zlib.error,))


class Readable(Protocol):
    """A file that can be read from a byte on."""

    def seek(self, offset: int, /) -> int:
        """Go to a byte."""

    def read(self, size: int, /) -> bytes:
        """Up to ``size`` bytes; empty at the end."""


class Member:
    """The content of the gzip member that starts where ``source`` stands; ``read`` as a file.

    Attributes:
        compressed: bytes of the member taken from the source so far; all of them at its end.
        ended: whether the member's end was reached and its checksum was right.
    """

    def __init__(self, source: "Source") -> None:
        self._source = source
        self._start = source.offset
        self._unpack = isal_zlib.decompressobj(wbits=_GZIP)
        self._ready = bytearray()
        self._pending = b""
        self._full = False
        self.compressed = 0
        self.ended = False

    def read(self, size: int) -> bytes:
        """Up to ``size`` bytes; empty at the end.

        Raises:
            TornRecord: the source ends before the member does.
            InvalidRecord: it is not gzip, or its checksum is wrong.
        """
        while len(self._ready) < size and not self.ended:
            self._more()
        data = bytes(self._ready[:size])
        del self._ready[:size]
        return data

    def some(self) -> bytes:
        """Whatever comes next, as soon as there is some; empty at the end.

        Raises:
            TornRecord, InvalidRecord: as for ``read``; all before that was given.
        """
        while not self._ready and not self.ended:
            self._more()
        data = bytes(self._ready)
        self._ready.clear()
        return data

    def line(self, most: int) -> bytes:
        """Up to and including the next newline, or ``most`` bytes."""
        while (end := self._ready.find(b"\n", 0, most)) < 0 and len(self._ready) < most:
            if self.ended:
                break
            self._more()
        size = end + 1 if end >= 0 else most
        data = bytes(self._ready[:size])
        del self._ready[:size]
        return data

    def until(self, mark: bytes, most: int) -> bytes:
        """Up to and including a mark; empty where none is met within ``most`` bytes."""
        looked = 0
        while (at := self._ready.find(mark, looked, most)) < 0:
            looked = max(len(self._ready) - len(mark), 0)
            if len(self._ready) >= most or self.ended:
                return b""
            self._more()
        data = bytes(self._ready[: at + len(mark)])
        del self._ready[: len(data)]
        return data

    def skip(self) -> int:
        """Read to the end of the member; return how many bytes of content that were."""
        count = 0
        while data := self.read(PIECE):
            count += len(data)
        return count

    def _more(self) -> None:
        data = self._pending
        if not data and not self._full:
            data = self._source.take()
            if not data:
                raise TornRecord("The segment ends in the middle of a record.")
        try:
            out = self._unpack.decompress(data, PIECE)
        except DAMAGED as error:
            raise InvalidRecord(f"This is not a gzip member, or a damaged one: {error}.") from error
        self._ready += out
        self._pending = self._unpack.unconsumed_tail
        self._full = len(out) == PIECE
        if self._unpack.eof:
            self.ended = True
            self._source.put_back(self._unpack.unused_data)
            self.compressed = self._source.offset - self._start


class Source:
    """A file object read ahead in pieces; ``offset`` is the byte that comes next.

    Args:
        file: it.
        offset: where reading begins.
        expected: so many bytes are probably all that is wanted: the first piece is no larger.
    """

    def __init__(self, file: Readable, offset: int, expected: int = PIECE) -> None:
        self._file = file
        self._held = b""
        self._first = min(expected, PIECE) or PIECE
        self.offset = offset
        file.seek(offset)

    def take(self) -> bytes:
        """The next bytes; empty at the end of the file."""
        data, self._held = self._held or self._file.read(self._first), b""
        self._first = PIECE
        self.offset += len(data)
        return data

    def put_back(self, data: bytes) -> None:
        """Undo the taking of the last bytes."""
        self._held = data
        self.offset -= len(data)

    def at_end(self) -> bool:
        """Whether nothing follows."""
        if not self._held:
            self._held = self._file.read(PIECE)
        return not self._held
