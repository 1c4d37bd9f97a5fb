"""The content of a file of records, whether it is packed with gzip, with Zstandard, or plain.

It is read forward only. A member that begins a record ends the one before, however long that one
says it is; damage costs the member it is in, and what is unpacked is bounded by what it came from.
"""

import re
from collections import deque
from io import BytesIO
from typing import Protocol

from archiver.errors import InvalidRecord, TornRecord, UnreadableFile
from archiver.warc.members import PIECE, Member, Source
from archiver.warc.zstd_frames import DICTIONARY, FRAME, ZstdFrame, pass_skippable, read_dictionary

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
