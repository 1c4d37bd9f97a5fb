"""Reads WARC files that others wrote: records in gzip members each, all in one, or plain.

What is read is bounded by who reads it: a block is a stream. A file may end anywhere; what is
whole before that is given.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from archiver.errors import InvalidRecord, TornRecord
from archiver.warc.members import PIECE, Member, Source
from archiver.wire.head import WHITESPACE
from archiver.wire.moments import read_iso

MOST_HEAD_BYTES = 64 << 10
MOST_LINE = 8 << 10
MOST_BLANK = 16
_GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"


@dataclass(slots=True)
class ForeignRecord:
    """A record of a file that is none of ours. Its block is read before the next record is.

    Attributes:
        type: its WARC-Type, lower case; any that there is.
        id: its WARC-Record-ID without angle brackets.
        date: its WARC-Date (aware, UTC, whole seconds).
        target_uri: its WARC-Target-URI; empty if it has none.
        fields: every named field, names lower case.
        block: its content.
    """

    type: str
    id: str
    date: datetime
    target_uri: str
    fields: dict[str, str]
    block: "ForeignBlock" = field(repr=False)

    def get(self, name: str) -> str:
        """A named field; empty if it is missing."""
        return self.fields.get(name, "")


class ForeignBlock:
    """The block of a record, as a stream."""

    def __init__(self, stream: "_Stream", length: int) -> None:
        self._stream = stream
        self.left = length

    def read(self, size: int) -> bytes:
        """Up to ``size`` bytes; empty at the end.

        Raises:
            TornRecord: the file ends first.
        """
        wanted = min(size, self.left)
        data = self._stream.read(wanted) if wanted else b""
        if len(data) < wanted:
            raise TornRecord("The file ends in the middle of a record.")
        self.left -= len(data)
        return data

    def line(self, most: int) -> bytes:
        """Up to and including the next newline, or ``most`` bytes."""
        data = self._stream.line(min(most, self.left))
        self.left -= len(data)
        return data

    def skip(self) -> None:
        """Pass over what is left."""
        while self.read(PIECE):
            pass


class Forward(Protocol):
    """A file that is read forward."""

    def read(self, size: int, /) -> bytes:
        """Up to ``size`` bytes; empty at the end."""


class ForeignWarc:
    """A WARC file, to be iterated over once.

    Attributes:
        source: says by ``offset`` how many bytes of the file were taken.
    """

    def __init__(self, file: Forward) -> None:
        self._file = _Ahead(file)
        self.source = Source(self._file, 0)

    def __iter__(self) -> Iterator[ForeignRecord]:
        """Every record.

        Raises:
            TornRecord: the file ends in the middle of one.
            InvalidRecord: what follows is no record.
        """
        head = self._file.peek()
        if head.startswith(_ZSTD):
            raise InvalidRecord(
                "This WARC file is compressed with Zstandard, which is not read here: "
                "unpack it with `zstd -d` and import the result."
            )
        stream = _Stream(self.source, packed=head.startswith(_GZIP))
        while (record := _next(stream)) is not None:
            yield record
            record.block.skip()


class _Ahead:
    """A file that is only read forward: whatever it is read from, nothing seeks."""

    def __init__(self, file: Forward) -> None:
        self._file = file
        self._held = b""

    def seek(self, offset: int, /) -> int:
        return offset

    def peek(self) -> bytes:
        self._held = self._held or self._file.read(PIECE)
        return self._held

    def read(self, size: int, /) -> bytes:
        if self._held:
            data, self._held = self._held, b""
            return data
        return self._file.read(size)


class _Stream:
    """The content of a file, whether it is packed, and in however many members."""

    def __init__(self, source: Source, *, packed: bool) -> None:
        self._source = source
        self._member = Member(source) if packed else None
        self._held = bytearray()

    def read(self, size: int) -> bytes:
        while len(self._held) < size and (more := self._more()):
            self._held += more
        data = bytes(self._held[:size])
        del self._held[:size]
        return data

    def line(self, most: int) -> bytes:
        while (end := self._held.find(b"\n", 0, most)) < 0 and len(self._held) < most:
            more = self._more()
            if not more:
                break
            self._held += more
        return self.read(min(end + 1 if end >= 0 else most, len(self._held)))

    def _more(self) -> bytes:
        if self._member is None:
            return self._source.take()
        while not (data := self._member.some()):
            if self._source.at_end():
                return b""
            self._member = Member(self._source)
        return data


def _next(stream: _Stream) -> ForeignRecord | None:
    line = stream.line(MOST_LINE)
    blank = 0
    while line and not line.strip():
        blank += 1
        if blank > MOST_BLANK:
            raise InvalidRecord("There is nothing but empty lines where a record should begin.")
        line = stream.line(MOST_LINE)
    if not line:
        return None
    if not line.startswith(b"WARC/"):
        raise InvalidRecord("There is no WARC record where one should begin.")
    fields = _fields(stream)
    try:
        length = max(int(fields["content-length"]), 0)
        moment = read_iso(fields["warc-date"])
    except (KeyError, ValueError) as error:
        raise InvalidRecord(f"A record lacks or garbles {error}.") from error
    return ForeignRecord(
        type=fields.get("warc-type", "").lower(),
        id=fields.get("warc-record-id", "").strip("<>"),
        date=moment,
        target_uri=fields.get("warc-target-uri", "").strip("<>"),
        fields=fields,
        block=ForeignBlock(stream, length),
    )


def _fields(stream: _Stream) -> dict[str, str]:
    fields: dict[str, str] = {}
    left, name = MOST_HEAD_BYTES, ""
    while (line := stream.line(left)).strip():
        left -= len(line)
        if left <= 0 or not line.endswith(b"\n"):
            raise InvalidRecord("The head of a record does not end.")
        text = line.rstrip(b"\r\n").decode("utf-8", "replace")
        if text[0] in " \t" and name:
            fields[name] += " " + text.strip(WHITESPACE)
            continue
        name, _, value = text.partition(":")
        name = name.strip(WHITESPACE).lower()
        fields.setdefault(name, value.strip(WHITESPACE))
    return fields
