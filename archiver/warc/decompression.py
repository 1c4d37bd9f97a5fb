"""Decompression of WARC files: gzip members and Zstandard frames.

A file may open with a dictionary for all its frames, in a skippable frame, which may be packed
itself. Other skippable frames are passed over.

It is read forward only. A member that begins a record ends the one before, however long that one
says it is; damage costs the member it is in, and what is unpacked is bounded by what it came from.
"""

import re
import sys
from collections import deque
from io import BytesIO
from typing import Protocol, cast

from isal import isal_zlib

from archiver.errors import InvalidRecord, TornRecord, UnreadableFile

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


if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

FRAME = b"\x28\xb5\x2f\xfd"
DICTIONARY = b"\x5d\x2a\x4d\x18"
MOST_DICTIONARY = 8 << 20
"""Bytes of a dictionary, packed or not: what every reader must take."""
MOST_WINDOW_LOG = 27
"""A frame that wants more than 128 MiB of memory is refused; 8 MiB is what every reader takes."""
_SKIPPABLE_LAST = b"\x2a\x4d\x18"
_OPTIONS: dict[int, int] = {zstd.DecompressionParameter.window_log_max: MOST_WINDOW_LOG}


class ZstdFrame:
    """The content of the frame that starts where ``source`` stands.

    Raises:
        InvalidRecord: there is none.
    """

    def __init__(self, source: Source, dictionary: zstd.ZstdDict | None) -> None:
        self._source = source
        self._unpack = zstd.ZstdDecompressor(dictionary, options=_OPTIONS)

    def some(self) -> bytes:
        """Whatever comes next; empty at the end.

        Raises:
            TornRecord: the source ends before the frame does.
            InvalidRecord: it is damaged, or needs a dictionary that the file does not have.
        """
        while not self._unpack.eof:
            data = b""
            if self._unpack.needs_input and not (data := self._source.take()):
                raise TornRecord("The file ends in the middle of a record.")
            try:
                out = self._unpack.decompress(data, PIECE)
            except zstd.ZstdError as error:
                raise InvalidRecord(f"This is not a Zstandard frame: {error}.") from error
            if self._unpack.eof:
                self._source.put_back(self._unpack.unused_data)
            if out:
                return out
        return b""


def read_dictionary(source: Source) -> zstd.ZstdDict | None:
    """The dictionary that a file opens with, if it does.

    Raises:
        InvalidRecord: it is none, or too large.
        TornRecord: the file ends in it.
    """
    if _exactly(source, len(FRAME), keep=True) != DICTIONARY:
        return None
    size = int.from_bytes(_exactly(source, 8)[4:], "little")
    if size > MOST_DICTIONARY:
        raise InvalidRecord(f"Its dictionary is larger than {MOST_DICTIONARY:,} bytes.")
    content = _exactly(source, size)
    try:
        if content.startswith(FRAME):
            content = zstd.ZstdDecompressor(options=_OPTIONS).decompress(
                content, MOST_DICTIONARY + 1
            )
        if len(content) > MOST_DICTIONARY:
            raise InvalidRecord(f"Its dictionary is larger than {MOST_DICTIONARY:,} bytes.")
        return zstd.ZstdDict(content)
    except (zstd.ZstdError, ValueError) as error:
        raise InvalidRecord(f"Its dictionary can't be read: {error}.") from error


def pass_skippable(source: Source) -> None:
    """Pass over skippable frames (RFC 8878 §3.1.2).

    Raises:
        TornRecord: the file ends in one.
    """
    while not source.at_end():
        magic = _exactly(source, len(FRAME), keep=True)
        if magic[1:] != _SKIPPABLE_LAST or magic[0] >> 4 != 5:
            return
        left = int.from_bytes(_exactly(source, 8)[4:], "little")
        while left:
            data = source.take()
            if not data:
                raise TornRecord("The file ends in a skippable frame.")
            source.put_back(data[left:])
            left -= min(left, len(data))


def _exactly(source: Source, size: int, *, keep: bool = False) -> bytes:
    """The next bytes; given back where they are only looked at."""
    found = bytearray()
    while len(found) < size and (data := source.take()):
        found += data
    source.put_back(bytes(found) if keep else bytes(found[size:]))
    if len(found) < size and not keep:
        raise TornRecord("The file ends in the middle of a frame.")
    return bytes(found[:size])


GZIP = b"\x1f\x8b\x08"
MOST_RATIO = 250
SLACK_BYTES = 1 << 30
"""Pages pack to a fifth, tables to a thirtieth: more than this is no archive."""
REWOUND_BYTES = 1 << 20
MOST_CANDIDATES = 10_000
"""Places in damaged stretches of a file that are tried as the start of a member."""
MOST_LINE = 8 << 10
_LOOK = {GZIP: 4 << 10, FRAME: 256 << 10}
"""Bytes from which the start of a member's content can be told: Zstandard gives whole blocks."""


class Forward(Protocol):
    """A file that is read forward."""

    def read(self, size: int, /) -> bytes:
        """Up to ``size`` bytes; empty at the end."""


class Unpacked:
    """The content of a file.

    Args:
        file: to be read.
        begins: matches the first bytes of a record.
    """

    def __init__(self, file: Forward, begins: re.Pattern[bytes]) -> None:
        self._source = _Rewindable(_Ahead(file), 0)
        self._begins = begins
        head = self._source.peek(len(FRAME))
        self._is_gzip = head.startswith(GZIP[:2])
        self._is_zstd = head in (FRAME, DICTIONARY)
        self._dictionary = read_dictionary(self._source) if self._is_zstd else None
        self._member: Member | ZstdFrame | None = None
        self._member_at = 0
        self._held = bytearray()
        self._withheld = b""
        self._unpacked = 0
        self._candidates = 0

    @property
    def offset(self) -> int:
        """Bytes of the file that were taken."""
        return self._source.offset

    def place(self, before: int = 0) -> int:
        """The byte of the file that is so many bytes before what comes next, or its member's."""
        if self._is_gzip or self._is_zstd:
            return self._member_at
        return self._source.offset - len(self._held) - before

    def read(self, size: int) -> bytes:
        """Up to ``size`` bytes; fewer at the end of the record or of the file.

        Raises:
            InvalidRecord, TornRecord: the file is damaged, or ends in the middle of a member.
            UnreadableFile: it unpacks to far too much.
        """
        while len(self._held) < size and (more := self._more()):
            self._held += more
        data = bytes(self._held[:size])
        del self._held[:size]
        return data

    def line(self, most: int) -> bytes:
        """Up to and including the next newline, or ``most`` bytes; raises as ``read`` does."""
        while (end := self._held.find(b"\n", 0, most)) < 0 and len(self._held) < most:
            more = self._more()
            if not more:
                break
            self._held += more
        return self.read(min(end + 1 if end >= 0 else most, len(self._held)))

    def next_line(self) -> bytes:
        """The next line of any record; a member that begins a record begins a line too."""
        line = self.line(MOST_LINE)
        if not line and self._withheld:
            self._held += self._counted(self._withheld)
            self._withheld = b""
            line = self.line(MOST_LINE)
        return line

    def find(self, line: re.Pattern[bytes]) -> None:
        """Pass over everything before a line that matches, over damage too."""
        while True:
            try:
                self._find(line)
            except (InvalidRecord, TornRecord):
                self._held.clear()
                if not self._find_member():
                    return
            else:
                return

    def _find(self, line: re.Pattern[bytes]) -> None:
        is_start = True
        while found := self.next_line():
            if is_start and line.match(found):
                self._held[:0] = found
                return
            is_start = found.endswith(b"\n") or bool(self._withheld)

    def _more(self) -> bytes:
        if not (self._is_gzip or self._is_zstd):
            return self._source.take()
        if self._withheld:
            return self._release()
        while not (data := self._member.some() if self._member else b""):
            if not self._next_member():
                return b""
            self._withheld = self._member.some() if self._member else b""
            if self._withheld:
                return self._release()
        return self._counted(data)

    def _release(self) -> bytes:
        """The start of a member, unless it begins a record: ``next_line`` alone goes there."""
        if self._begins.match(self._withheld):
            return b""
        data, self._withheld = self._withheld, b""
        return self._counted(data)

    def _counted(self, data: bytes) -> bytes:
        self._unpacked += len(data)
        if self._unpacked > SLACK_BYTES + MOST_RATIO * self._source.offset:
            raise UnreadableFile(
                f"It unpacks to more than {MOST_RATIO} times its size, as no archive of pages does."
            )
        return data

    def _next_member(self) -> bool:
        if self._is_zstd:
            pass_skippable(self._source)
        if self._source.at_end():
            return False
        self._source.mark()
        self._member_at = self._source.offset
        self._member = self._open(self._source)
        return True

    def _find_member(self) -> bool:
        """Go to the next member that begins a record; whether there is one."""
        self._member, self._withheld = None, b""
        magic = FRAME if self._is_zstd else GZIP
        self._source.back()
        held, start = self._source.take(), 1
        while held:
            at = held.find(magic, start)
            if at < 0:
                more = self._source.take()
                held, start = held[-len(magic) + 1 :] + more if more else b"", 0
                continue
            while len(held) < at + _LOOK[magic] and (more := self._source.take()):
                held += more
            if self._is_start(held[at : at + _LOOK[magic]]):
                self._source.put_back(held[at:])
                return True
            start = at + 1
            if self._candidates > MOST_CANDIDATES:
                return False
        return False

    def _is_start(self, data: bytes) -> bool:
        self._candidates += 1
        try:
            start = self._open(Source(BytesIO(data), 0)).some()
        except (InvalidRecord, TornRecord):
            return False
        return self._begins.match(start) is not None

    def _open(self, source: Source) -> Member | ZstdFrame:
        return ZstdFrame(source, self._dictionary) if self._is_zstd else Member(source)


class _Ahead:
    """A file that is only read forward: whatever it is read from, nothing seeks."""

    def __init__(self, file: Forward) -> None:
        self._file = file

    def seek(self, offset: int, /) -> int:
        return offset

    def read(self, size: int, /) -> bytes:
        return self._file.read(size)


class _Rewindable(Source):
    """A source that can go back to where a member began, or as far towards it as is kept."""

    def __init__(self, file: _Ahead, offset: int) -> None:
        super().__init__(file, offset)
        self._since: deque[bytes] = deque()
        self._kept = 0

    def peek(self, size: int) -> bytes:
        """The next bytes, left where they are."""
        data = b""
        while len(data) < size and (more := self.take()):
            data += more
        self.put_back(data)
        return data[:size]

    def mark(self) -> None:
        """Remember what is read from here on."""
        self._since.clear()
        self._kept = 0

    def take(self) -> bytes:
        data = super().take()
        self._since.append(data)
        self._kept += len(data)
        while self._kept > REWOUND_BYTES + PIECE and len(self._since) > 1:
            self._kept -= len(self._since.popleft())
        return data

    def put_back(self, data: bytes) -> None:
        super().put_back(data)
        left = len(data)
        while left and self._since:
            last = self._since.pop()
            self._kept -= min(left, len(last))
            if left < len(last):
                self._since.append(last[:-left])
            left -= min(left, len(last))

    def back(self) -> None:
        """Undo what was read since the mark."""
        again = b"".join(self._since)
        self.mark()
        following = b"" if self.at_end() else super().take()
        super().put_back(again + following)
