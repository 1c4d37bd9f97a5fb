"""Decompression of WARC files: gzip members and Zstandard frames.

A Zstandard file may start with a skippable frame that holds a dictionary for all its frames; the
dictionary itself may be compressed. Other skippable frames are ignored.

Files are read forward only. A member that starts a record ends the previous record, even if the
previous record states a larger length. So damage affects only one member. The decompressed size is
limited in proportion to the compressed size.
"""

import re
import sys
from collections import deque
from io import BytesIO
from typing import Protocol, cast

from isal import isal_zlib

from archiver.errors import InvalidRecord, TruncatedRecord, UnreadableFile

PIECE = 64 << 10
_GZIP = 31
DAMAGED = cast("tuple[type[Exception], ...]", (isal_zlib.error,))


class Forward(Protocol):
    """File that is read forward only."""

    def read(self, size: int, /) -> bytes:
        """Read up to ``size`` bytes; empty at the end."""


class Readable(Forward, Protocol):
    """File that can be read from any offset."""

    def seek(self, offset: int, /) -> int:
        """Set the position to a byte offset."""


class Member:
    """Decompressed content of the gzip member at the current position of ``source``.

    Attributes:
        compressed: compressed size of the member in bytes; 0 until its end is reached.
        ended: the end of the member was reached and its checksum matched.
    """

    def __init__(self, source: "Source") -> None:
        self._source = source
        self._start = source.offset
        self._unpack = isal_zlib.decompressobj(wbits=_GZIP)
        self._ready = bytearray()
        self._pending = b""
        self._full = False
        self._damage: InvalidRecord | None = None
        self.compressed = 0
        self.ended = False

    def read(self, size: int) -> bytes:
        """Read up to ``size`` bytes; empty at the end.

        Raises:
            TruncatedRecord: the source ends before the member does.
            InvalidRecord: it is not gzip, or its checksum is wrong.
        """
        while len(self._ready) < size and not self.ended:
            self._more()
        data = bytes(self._ready[:size])
        del self._ready[:size]
        return data

    def read_available(self) -> bytes:
        """Read the next decompressed bytes, as many as are available; empty at the end.

        Raises:
            TruncatedRecord, InvalidRecord: as for ``read``. All bytes before the error are returned
                by earlier calls.
        """
        while not self._ready and not self.ended:
            self._more()
        data = bytes(self._ready)
        self._ready.clear()
        return data

    def line(self, most: int) -> bytes:
        """Read up to and including the next newline, or ``most`` bytes."""
        while (end := self._ready.find(b"\n", 0, most)) < 0 and len(self._ready) < most:
            if self.ended:
                break
            self._more()
        size = end + 1 if end >= 0 else most
        data = bytes(self._ready[:size])
        del self._ready[:size]
        return data

    def until(self, mark: bytes, most: int) -> bytes:
        """Read up to and including ``mark``; empty if ``mark`` is not within ``most`` bytes."""
        looked = 0
        while (pos := self._ready.find(mark, looked, most)) < 0:
            looked = max(len(self._ready) - len(mark), 0)
            if len(self._ready) >= most or self.ended:
                return b""
            self._more()
        data = bytes(self._ready[: pos + len(mark)])
        del self._ready[: len(data)]
        return data

    def skip(self) -> int:
        """Read to the end of the member and return the number of bytes read."""
        count = 0
        while data := self.read(PIECE):
            count += len(data)
        return count

    def _more(self) -> None:
        if self._damage:  # after an error, the decompressor would skip bytes
            raise self._damage
        data = self._pending
        if not data and not self._full:
            data = self._source.take()
            if not data:
                raise TruncatedRecord("The segment ends in the middle of a record.")
        try:
            out = self._unpack.decompress(data, PIECE)
        except DAMAGED as error:
            self._damage = InvalidRecord(f"This is not a gzip member, or it is damaged: {error}.")
            raise self._damage from error
        self._ready += out
        self._pending = self._unpack.unconsumed_tail
        self._full = len(out) == PIECE
        if self._unpack.eof:
            self.ended = True
            self._source.put_back(self._unpack.unused_data)
            self.compressed = self._source.offset - self._start


class Source:
    """Buffered reader of a file object; ``offset`` is the position of the next byte.

    Args:
        file: the file to read.
        offset: the position of the file.
        expected: number of bytes that are probably needed; limits the first read.
    """

    def __init__(self, file: Forward, offset: int, expected: int = PIECE) -> None:
        self._file = file
        self._buffer = b""
        self._first = min(expected, PIECE) or PIECE
        self.offset = offset

    def take(self) -> bytes:
        """Read the next bytes; empty at the end of the file."""
        data, self._buffer = self._buffer or self._file.read(self._first), b""
        self._first = PIECE
        self.offset += len(data)
        return data

    def put_back(self, data: bytes) -> None:
        """Return unused bytes of the last ``take``."""
        self._buffer = data
        self.offset -= len(data)

    def at_end(self) -> bool:
        """Return whether the source has no more bytes."""
        if not self._buffer:
            self._buffer = self._file.read(PIECE)
        return not self._buffer


if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

FRAME = b"\x28\xb5\x2f\xfd"
DICTIONARY = b"\x5d\x2a\x4d\x18"
MAX_DICTIONARY = 8 << 20
"""Maximum size of a dictionary in bytes, compressed or not.

The specification of WARC with Zstandard requires readers to support this size.
"""
MAX_WINDOW_LOG = 27
"""Base-2 logarithm of the largest window: 128 MiB. Frames that need a larger one are rejected.

The specification requires readers to support 8 MiB.
"""
_SKIPPABLE_MAGIC_END = b"\x2a\x4d\x18"
_OPTIONS: dict[int, int] = {zstd.DecompressionParameter.window_log_max: MAX_WINDOW_LOG}


class ZstdFrame:
    """Content of the Zstandard frame at the current position of ``source``.

    Raises:
        InvalidRecord: there is no Zstandard frame.
    """

    def __init__(self, source: Source, dictionary: zstd.ZstdDict | None) -> None:
        self._source = source
        self._unpack = zstd.ZstdDecompressor(dictionary, options=_OPTIONS)
        self._damage: InvalidRecord | None = None

    def read_available(self) -> bytes:
        """Read the next decompressed bytes, as many as are available; empty at the end.

        Raises:
            TruncatedRecord: the source ends before the frame does.
            InvalidRecord: the frame is damaged, or needs a dictionary that the file does not have.
        """
        if self._damage:
            raise self._damage
        while not self._unpack.eof:
            data = b""
            if self._unpack.needs_input and not (data := self._source.take()):
                raise TruncatedRecord("The file ends in the middle of a record.")
            try:
                out = self._unpack.decompress(data, PIECE)
            except zstd.ZstdError as error:
                self._damage = InvalidRecord(f"This is not a Zstandard frame: {error}.")
                raise self._damage from error
            if self._unpack.eof:
                self._source.put_back(self._unpack.unused_data)
            if out:
                return out
        return b""


def read_dictionary(source: Source) -> zstd.ZstdDict | None:
    """Return the dictionary at the start of a file, or None.

    Raises:
        InvalidRecord: the dictionary is invalid or too large.
        TruncatedRecord: the file ends inside the dictionary.
    """
    if _exactly(source, len(FRAME), keep=True) != DICTIONARY:
        return None
    size = int.from_bytes(_exactly(source, 8)[4:], "little")
    if size > MAX_DICTIONARY:
        raise InvalidRecord(f"Its Zstandard dictionary is larger than {MAX_DICTIONARY:,} bytes.")
    content = _exactly(source, size)
    try:
        if content.startswith(FRAME):
            content = zstd.ZstdDecompressor(options=_OPTIONS).decompress(
                content, MAX_DICTIONARY + 1
            )
        if len(content) > MAX_DICTIONARY:
            raise InvalidRecord(
                f"Its Zstandard dictionary is larger than {MAX_DICTIONARY:,} bytes."
            )
        return zstd.ZstdDict(content)
    except (zstd.ZstdError, ValueError) as error:
        raise InvalidRecord(f"Cannot read its Zstandard dictionary: {error}.") from error


def skip_skippable_frames(source: Source) -> None:
    """Skip skippable frames (RFC 8878 §3.1.2).

    Raises:
        TruncatedRecord: the file ends inside a skippable frame.
    """
    while not source.at_end():
        magic = _exactly(source, len(FRAME), keep=True)
        if magic[1:] != _SKIPPABLE_MAGIC_END or magic[0] >> 4 != 5:
            return
        bytes_left = int.from_bytes(_exactly(source, 8)[4:], "little")
        while bytes_left:
            data = source.take()
            if not data:
                raise TruncatedRecord("The file ends in a skippable frame.")
            source.put_back(data[bytes_left:])
            bytes_left -= min(bytes_left, len(data))


def _exactly(source: Source, size: int, *, keep: bool = False) -> bytes:
    """Read exactly ``size`` bytes; with ``keep``, peek at them without taking them."""
    data_read = bytearray()
    while len(data_read) < size and (data := source.take()):
        data_read += data
    source.put_back(bytes(data_read) if keep else bytes(data_read[size:]))
    if len(data_read) < size and not keep:
        raise TruncatedRecord("The file ends in the middle of a frame.")
    return bytes(data_read[:size])


GZIP = b"\x1f\x8b\x08"
MAX_RATIO = 250
"""Maximum compression ratio; a higher one is taken for a decompression bomb.

Pages compress to a fifth, tables to a thirtieth.
"""
BASE_ALLOWANCE = 1 << 30
"""Decompressed bytes that are allowed in addition to ``MAX_RATIO`` times the compressed size."""
REWOUND_BYTES = 1 << 20
MAX_CANDIDATES = 10_000
"""Maximum number of places in damaged parts of a file that are tried as the start of a member."""
MAX_LINE = 8 << 10
_HEAD_BYTES = 8 << 10
_CHECKED_BYTES = {GZIP: 4 << 10, FRAME: 256 << 10}
"""Number of compressed bytes needed to check how a member's content starts.

Keys are magic numbers. Zstandard needs more, because it decompresses whole blocks.
"""


class DecompressedFile:
    """Decompressed content of a file, read forward.

    Args:
        file: the file, compressed or not.
        begins: matches the first bytes of a record.
    """

    def __init__(self, file: Forward, begins: re.Pattern[bytes]) -> None:
        self._source = _Rewindable(file)
        self._begins = begins
        head = self._source.peek(_HEAD_BYTES)
        self._is_zstd = head.startswith((FRAME, DICTIONARY))
        # The start of the first member can be damaged; text has no NUL.
        is_damaged_gzip = GZIP in head and b"\0" in head[:16] and not self._is_zstd
        self._is_gzip = head.startswith(GZIP[:2]) or is_damaged_gzip
        self._dictionary = read_dictionary(self._source) if self._is_zstd else None
        self._member: Member | ZstdFrame | None = None
        self._member_at = 0
        self._buffer = bytearray()
        self._member_start = b""
        self._unpacked = 0
        self._candidates = 0

    @property
    def offset(self) -> int:
        """Number of compressed bytes taken from the file."""
        return self._source.offset

    def place(self, before: int = 0) -> int:
        """Return the offset of the next byte, minus ``before``.

        In a compressed file, return the offset of the current member instead.
        """
        if self._is_gzip or self._is_zstd:
            return self._member_at
        return self._source.offset - len(self._buffer) - before

    def read(self, size: int) -> bytes:
        """Read up to ``size`` bytes; fewer at the end of the record or of the file.

        Raises:
            InvalidRecord, TruncatedRecord: the file is damaged, or ends in the middle of a member.
            UnreadableFile: the decompressed content is too large.
        """
        while len(self._buffer) < size and (more := self._more()):
            self._buffer += more
        data = bytes(self._buffer[:size])
        del self._buffer[:size]
        return data

    def line(self, most: int) -> bytes:
        """Read up to and including the next newline, or ``most`` bytes; raises like ``read``."""
        while (end := self._buffer.find(b"\n", 0, most)) < 0 and len(self._buffer) < most:
            more = self._more()
            if not more:
                break
            self._buffer += more
        return self.read(min(end + 1 if end >= 0 else most, len(self._buffer)))

    def next_line(self) -> bytes:
        """Read the next line. Unlike ``line``, continue with the next record after the end of one.

        A member that begins a record also begins a line, even if the previous line has no line end.
        """
        line = self.line(MAX_LINE)
        if not line and self._member_start:
            self._buffer += self._count(self._member_start)
            self._member_start = b""
            line = self.line(MAX_LINE)
        return line

    def find(self, line: re.Pattern[bytes]) -> None:
        """Skip everything before a line that matches ``line``, including damaged members."""
        while True:
            try:
                self._find(line)
            except (InvalidRecord, TruncatedRecord):
                self._buffer.clear()
                if not self._find_member():
                    return
            else:
                return

    def _find(self, line: re.Pattern[bytes]) -> None:
        is_start = True
        while next_line := self.next_line():
            if is_start and line.match(next_line):
                self._buffer[:0] = next_line
                return
            is_start = next_line.endswith(b"\n") or bool(self._member_start)

    def _more(self) -> bytes:
        if not (self._is_gzip or self._is_zstd):
            return self._source.take()
        if self._member_start:
            return self._take_member_start()
        while not (data := self._member.read_available() if self._member else b""):
            if not self._next_member():
                return b""
            self._member_start = self._member.read_available() if self._member else b""
            if self._member_start:
                return self._take_member_start()
        return self._count(data)

    def _take_member_start(self) -> bytes:
        """Return the start of the next member if it continues the current record; else nothing.

        A member that begins a record stays withheld until ``next_line`` is called.
        """
        if self._begins.match(self._member_start):
            return b""
        data, self._member_start = self._member_start, b""
        return self._count(data)

    def _count(self, data: bytes) -> bytes:
        self._unpacked += len(data)
        if self._unpacked > BASE_ALLOWANCE + MAX_RATIO * self._source.offset:
            raise UnreadableFile(
                "Reading stopped: the file decompresses to more than {ratio} times its size, "
                "which is a sign of a malicious file.",
                ratio=MAX_RATIO,
            )
        return data

    def _next_member(self) -> bool:
        if self._is_zstd:
            skip_skippable_frames(self._source)
        if self._source.at_end():
            return False
        self._source.mark()
        self._member_at = self._source.offset
        self._member = self._open(self._source)
        return True

    def _find_member(self) -> bool:
        """Move to the next member that begins a record; return whether there is one."""
        self._member, self._member_start = None, b""
        magic = FRAME if self._is_zstd else GZIP
        self._source.back()
        data, start = self._source.take(), 1
        while data:
            pos = data.find(magic, start)
            if pos < 0:
                more = self._source.take()
                data, start = data[-len(magic) + 1 :] + more if more else b"", 0
                continue
            while len(data) < pos + _CHECKED_BYTES[magic] and (more := self._source.take()):
                data += more
            if self._is_start(data[pos : pos + _CHECKED_BYTES[magic]]):
                self._source.put_back(data[pos:])
                return True
            start = pos + 1
            if self._candidates > MAX_CANDIDATES:
                return False
        return False

    def _is_start(self, data: bytes) -> bool:
        self._candidates += 1
        try:
            start = self._open(Source(BytesIO(data), 0)).read_available()
        except (InvalidRecord, TruncatedRecord):
            return False
        return self._begins.match(start) is not None

    def _open(self, source: Source) -> Member | ZstdFrame:
        return ZstdFrame(source, self._dictionary) if self._is_zstd else Member(source)


class _Rewindable(Source):
    """Source that can rewind to the start of a member, within ``REWOUND_BYTES``."""

    def __init__(self, file: Forward) -> None:
        super().__init__(file, 0)
        self._taken: deque[bytes] = deque()
        self._taken_bytes = 0

    def peek(self, size: int) -> bytes:
        """Return the next bytes without consuming them."""
        data = b""
        while len(data) < size and (more := self.take()):
            data += more
        self.put_back(data)
        return data[:size]

    def mark(self) -> None:
        """Start recording bytes for ``back``."""
        self._taken.clear()
        self._taken_bytes = 0

    def take(self) -> bytes:
        data = super().take()
        self._taken.append(data)
        self._taken_bytes += len(data)
        while self._taken_bytes > REWOUND_BYTES + PIECE and len(self._taken) > 1:
            self._taken_bytes -= len(self._taken.popleft())
        return data

    def put_back(self, data: bytes) -> None:
        super().put_back(data)
        remaining = len(data)
        while remaining and self._taken:
            last = self._taken.pop()
            self._taken_bytes -= min(remaining, len(last))
            if remaining < len(last):
                self._taken.append(last[:-remaining])
            remaining -= min(remaining, len(last))

    def back(self) -> None:
        """Rewind to the position of the last ``mark``."""
        again = b"".join(self._taken)
        self.mark()
        following = b"" if self.at_end() else super().take()
        super().put_back(again + following)
