"""Sequential reading of segments that continues after damaged records."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from isal import isal_zlib

from archiver.errors import InvalidRecord, StoreError, TruncatedRecord
from archiver.model.capture import Location
from archiver.warc.decompression import DAMAGED, Member, Source
from archiver.warc.reader import ReadOnly, SegmentBytes, StoredRecord, iterate, read_record

WINDOW = 1 << 20
COMPARED_BYTES = 64
UNPACKED_BYTES = 4096
"""Maximum output of one decompression step in bytes.

It is small, because a step that fails returns nothing of its output.
"""
MAX_HEAD_BYTES = 64 << 10
_MAGIC = b"\x1f\x8b\x08"
_OURS = b"\x1f\x8b\x08\x00"
"""Start of every gzip member written by archiver (RFC 1952 §2.3): deflate, no optional fields."""
_MEMBER_HEAD_BYTES = 10
_RAW = -15
_END_BYTES = 4
_MAX_PACKED = 1032
"""Maximum number of bytes that one byte of deflate data can expand to."""
_LEAST_MEMBER = _MEMBER_HEAD_BYTES + 2 + 2 * _END_BYTES
_LEAST_CONTENT = len("WARC/1.1\r\n\r\n")


@dataclass(frozen=True, slots=True)
class Scanned:
    """Record found by a scan."""

    record: StoredRecord
    segment: str

    @property
    def offset(self) -> int:
        """Offset of the record in bytes."""
        return self.record.offset

    def place(self) -> Location:
        """Read the rest of the record and return its location."""
        return Location(self.segment, self.record.offset, self.record.finish())


@dataclass(frozen=True, slots=True)
class Damage:
    """Unreadable part of a segment.

    Attributes:
        location: location of the unreadable bytes.
        problem: the reason as a sentence.
        is_truncated: whether the file ends inside its last record, because the writer was killed
            or is still writing.
    """

    location: Location
    problem: str
    is_truncated: bool = False

    @property
    def offset(self) -> int:
        """Offset of the damage in bytes."""
        return self.location.offset

    def __str__(self) -> str:
        place = self.location
        last = place.offset + place.length
        return f"{place.segment}, bytes {place.offset:,} to {last:,}: {self.problem}"


def scan(path: Path, *, from_offset: int) -> Iterator[Scanned | Damage]:
    """Iterate over the records of a segment. Read each record before requesting the next one.

    Damaged bytes are yielded as ``Damage``, and the scan continues with the next readable record.

    Raises:
        StoreError: the segment can't be opened or read.
    """
    return scan_opened(partial(ReadOnly, path), path.name, from_offset=from_offset)


def scan_opened(
    opened: Callable[[], SegmentBytes], name: str, *, from_offset: int
) -> Iterator[Scanned | Damage]:
    """Scan a segment like ``scan``.

    ``opened`` opens the segment. It is called when the first record is requested.
    """
    start: int | None = from_offset
    try:
        file = opened()
        while start is not None:
            offset, start = start, None
            try:
                for record in iterate(file, offset):
                    yield Scanned(record, name)
            except (InvalidRecord, TruncatedRecord) as error:
                pos = offset if error.offset is None else error.offset
                start = _next_record(file, _DamagedMember(file, pos), pos + 1)
                place = Location(name, pos, (start or file.size) - pos)
                is_last = start is None and isinstance(error, TruncatedRecord)
                yield Damage(place, str(error), is_truncated=is_last and _is_incomplete(file, pos))
    except OSError as error:
        raise StoreError(f"Cannot read {name}: {error.strerror}.") from error


class _DamagedMember:
    """Decompressed content of a damaged gzip member up to the damage, for a forward search.

    The checksum is not verified, because a decompressor that verifies it does not return the
    content immediately before the damage.
    """

    def __init__(self, file: SegmentBytes, offset: int) -> None:
        self._file = file
        self._next = offset + _MEMBER_HEAD_BYTES
        self._unpack = isal_zlib.decompressobj(wbits=_RAW)
        self._content = b""

    def holds(self, piece: bytes) -> bool:
        """Return whether ``piece`` follows in the content. The next search starts after it."""
        while (pos := self._content.find(piece)) < 0:
            more = self._more()
            if not more:
                return False
            self._content = self._content[-len(piece) :] + more
        self._content = self._content[pos + len(piece) :]
        return True

    def _more(self) -> bytes:
        packed = self._unpack.unconsumed_tail
        while not self._unpack.eof:
            if not packed:
                packed = self._file.read_at(self._next, WINDOW)
                self._next += len(packed)
            try:
                more: bytes = self._unpack.decompress(packed, UNPACKED_BYTES)
            except DAMAGED:
                return b""
            if more or not packed:
                return more
            packed = self._unpack.unconsumed_tail
        return b""


def _next_record(file: SegmentBytes, damaged: _DamagedMember, offset: int) -> int | None:
    """Return the offset of the next readable record at or after ``offset``; None if there is none.

    Deflate stores incompressible content unchanged. So the damaged record can contain a captured
    file with gzip members of WARC records, which are not records of the segment.
    """
    window, pos = b"", offset
    while True:
        more = file.read_at(pos + len(window), WINDOW)
        window += more
        position = window.find(_MAGIC)
        while position >= 0:
            start = pos + position
            if _begins_record(file, start) and not damaged.holds(
                file.read_at(start, COMPARED_BYTES)
            ):
                return start
            position = window.find(_MAGIC, position + 1)
        if not more:
            return None
        pos, window = pos + len(window) - len(_MAGIC) + 1, window[-len(_MAGIC) + 1 :]


def _begins_record(file: SegmentBytes, offset: int) -> bool:
    try:
        read_record(file, offset)
    except (InvalidRecord, TruncatedRecord):
        return False
    return True


def _is_incomplete(file: SegmentBytes, offset: int) -> bool:
    """Return whether the last member was truncated rather than damaged.

    A whole member ends with the length of its content (RFC 1952 §2.3.1). The member is truncated if
    its last bytes differ from the length in the record's head. If the head itself is truncated,
    this length is unknown. Then the member is truncated if its last bytes are not a possible length
    for a member of this size. Arbitrary bytes are rarely such a length.
    """
    if not _OURS.startswith(file.read_at(offset, len(_OURS))):
        return False
    try:
        block_length = read_record(file, offset).block_length
    except TruncatedRecord:
        size = file.size - offset
        can_be_whole = size >= _LEAST_MEMBER and _stated(file) >= _LEAST_CONTENT
        return not (can_be_whole and _stated(file) <= size * _MAX_PACKED)
    except InvalidRecord:
        return False
    length = _head_length(file, offset) + block_length + _END_BYTES
    return _stated(file) != length % (1 << 32)


def _stated(file: SegmentBytes) -> int:
    return int.from_bytes(file.read_at(file.size - 4, 4), "little")


def _head_length(file: SegmentBytes, offset: int) -> int:
    file.seek(offset)
    member, length = Member(Source(file, offset)), 0
    while (line := member.line(MAX_HEAD_BYTES)).strip():
        length += len(line)
    return length + len(line)
