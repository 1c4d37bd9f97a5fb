"""WARC and ARC files written by other programs.

A block is a stream, so the caller limits how much is read. An unreadable record is reported, and
reading continues with the next record. If the head states a valid length, the next record is after
the block. Otherwise it begins at the next line or compressed member that looks like a record.

An ARC record is a line of fields followed by its content; the first record describes the file
(https://archive.org/web/researcher/ArcFileFormat.php).
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from io import BytesIO
from typing import Protocol

from archiver.errors import ArchiverError, InvalidRecord, StoreError, TruncatedRecord
from archiver.http.headers import WHITESPACE
from archiver.http.urls import escape_bytes
from archiver.warc.decompression import DICTIONARY, FRAME, PIECE, DecompressedFile, Forward
from archiver.warc.records import read_moment

MAX_HEAD_BYTES = 64 << 10
VERSION = re.compile(rb"WARC/\d{1,2}\.\d{1,2}[ \t\r]*\n", re.IGNORECASE)
WARC_BEGINS = re.compile(rb"WARC/\d", re.IGNORECASE)
_LENGTH = re.compile(r"\d{1,18}", re.ASCII)


class Content(Protocol):
    """Bytes that can be read sequentially."""

    def read(self, size: int, /) -> bytes:
        """Read up to ``size`` bytes; fewer only at the end."""

    def line(self, most: int, /) -> bytes:
        """Read up to and including the next newline, or ``most`` bytes."""


class ForeignBlock:
    """Block of a record, as a stream.

    Attributes:
        remaining: number of bytes still to be read.
        is_broken: whether the block was damaged or ended too early.
    """

    def __init__(self, content: Content, length: int) -> None:
        self._content = content
        self.remaining = length
        self.is_broken = False

    def read(self, size: int) -> bytes:
        """Read up to ``size`` bytes; empty at the end.

        Raises:
            TruncatedRecord: the record ends too early.
            InvalidRecord: the record is damaged.
        """
        most = min(size, self.remaining)
        data = self._read(self._content.read, most) if most else b""
        if len(data) < most:
            raise self._truncated()
        return data

    def line(self, most: int) -> bytes:
        """Read up to and including the next newline, or ``most`` bytes; raises like ``read``."""
        limit = min(most, self.remaining)
        data = self._read(self._content.line, limit) if limit else b""
        if limit and not data:
            raise self._truncated()
        return data

    def skip(self) -> None:
        """Skip the rest of the block; raises like ``read``."""
        while self.read(PIECE):
            pass

    def _read(self, read: Callable[[int], bytes], size: int) -> bytes:
        try:
            data = read(size)
        except StoreError:
            self.is_broken = True
            raise
        self.remaining -= len(data)
        return data

    def _truncated(self) -> TruncatedRecord:
        self.is_broken = True
        return TruncatedRecord("The record is truncated.")


@dataclass(slots=True)
class ForeignRecord:
    """Record of another program's file.

    The block must be read before the next record is read.

    Attributes:
        type: the WARC-Type in lower case; may be an unknown type.
        id: the WARC-Record-ID without angle brackets.
        date: the WARC-Date (aware, UTC, whole seconds).
        target_uri: the WARC-Target-URI, or empty.
        fields: every named field, names in lower case.
        block: the content.
        place: offset in the file of the record, or of the compressed member that contains it.
    """

    type: str
    id: str
    date: datetime
    target_uri: str
    fields: dict[str, str]
    block: ForeignBlock = field(repr=False)
    place: int = 0

    def get(self, name: str) -> str:
        """Return a named field, or an empty string."""
        return self.fields.get(name, "")


@dataclass(frozen=True, slots=True)
class Skipped:
    """Part of a file in which no record could be read: its offset and the reason."""

    place: int
    reason: str


class UnusableHead(InvalidRecord):
    """Record head with a usable length but otherwise invalid fields.

    Attributes:
        block: the record's block.
    """

    def __init__(self, message: str, block: ForeignBlock) -> None:
        super().__init__(message)
        self.block = block


class ForeignFile:
    """File of records; can be iterated once.

    Args:
        file: the file, compressed or not.
        begins: matches the first bytes of a record.
        begins_record: matches the first line of a record.
        read: returns the next record, given the content and the first line of the record.

    Attributes:
        content: the decompressed content; ``content.offset`` is the number of bytes read so far.
    """

    def __init__(
        self,
        file: Forward,
        *,
        begins: re.Pattern[bytes],
        begins_record: re.Pattern[bytes],
        read: Callable[[DecompressedFile, bytes], ForeignRecord],
    ) -> None:
        self.content = DecompressedFile(file, begins)
        self._begins_record = begins_record
        self._read = read

    def __iter__(self) -> Iterator[ForeignRecord | Skipped]:
        """Iterate over records and unreadable parts.

        Raises:
            UnreadableFile: the decompressed content is too large.
        """
        content, begins = self.content, self._begins_record
        while True:
            place = content.place()
            try:
                line = _first_line(content)
                if not line:
                    return
                place = content.place(len(line))
                record = self._read(content, line)
            except UnusableHead as error:
                yield Skipped(place, str(error))
                _skip_block(error.block, content, begins)
            except (InvalidRecord, TruncatedRecord) as error:
                yield Skipped(place, str(error))
                content.find(begins)
            else:
                record.place = place
                yield record
                if problem := _skip_block(record.block, content, begins):
                    yield Skipped(place, problem)


class ForeignWarc(ForeignFile):
    """WARC file of another program."""

    def __init__(self, file: Forward) -> None:
        super().__init__(file, begins=WARC_BEGINS, begins_record=VERSION, read=_read)


def _skip_block(block: ForeignBlock, content: DecompressedFile, begins: re.Pattern[bytes]) -> str:
    """Skip the rest of a block; return the problem if that fails, else an empty string.

    After damage, reading continues at the next line that begins a record.
    """
    was_broken, problem = block.is_broken, ""
    if not was_broken:
        try:
            block.skip()
        except (InvalidRecord, TruncatedRecord) as error:
            problem = str(error)
    if block.is_broken:
        content.find(begins)
    return problem


def _first_line(content: DecompressedFile) -> bytes:
    line = content.next_line()
    while line and not line.strip():
        line = content.next_line()
    return line


def _read(content: DecompressedFile, line: bytes) -> ForeignRecord:
    if not VERSION.match(line):
        raise InvalidRecord("A WARC record was expected here.")
    fields = _fields(content)
    length = fields.get("content-length", "")
    if not _LENGTH.fullmatch(length):
        raise InvalidRecord("A record has no Content-Length.")
    block = ForeignBlock(content, int(length))
    try:
        moment = read_moment(fields.get("warc-date", ""))
    except InvalidRecord as error:
        what = fields.get("warc-target-uri") or fields.get("warc-type") or "a record"
        raise UnusableHead(f"{what[:200]}: {error}", block) from error
    return ForeignRecord(
        type=fields.get("warc-type", "").lower(),
        id=fields.get("warc-record-id", "").strip("<>"),
        date=moment,
        target_uri=fields.get("warc-target-uri", "").strip("<>"),
        fields=fields,
        block=block,
    )


def _fields(content: DecompressedFile) -> dict[str, str]:
    """Read the fields up to the empty line; join folded lines.

    If a name occurs several times, its first value is used.
    """
    fields: dict[str, str] = {}
    bytes_left, name, is_new = MAX_HEAD_BYTES, "", False
    while (line := content.line(bytes_left)).strip():
        bytes_left -= len(line)
        if bytes_left <= 0 or not line.endswith(b"\n"):
            raise InvalidRecord("The header of a record has no end.")
        text = _text(line.rstrip(b"\r\n"))
        if text[0] in " \t" and name:
            if is_new:
                fields[name] = f"{fields[name]} {text.strip(WHITESPACE)}".strip(WHITESPACE)
            continue
        name, _, value = text.partition(":")
        name = name.strip(WHITESPACE).lower()
        is_new = name not in fields
        fields.setdefault(name, value.strip(WHITESPACE))
    return fields


def _text(line: bytes) -> str:
    """Decode a line; if it is not UTF-8, percent-encode the bytes that are not ASCII."""
    try:
        return line.decode()
    except UnicodeDecodeError:
        return escape_bytes(line.decode("latin-1"))


ARC_FIRST = b"filedesc:"
"""Start of the first line of an ARC file."""
ARC_BEGINS = re.compile(
    rb"[A-Za-z][A-Za-z0-9+.-]{0,30}:[^\n]{1,8000}? (?:[0-9A-Fa-f.:]{2,45}|-) \d{8,17} [^\n]"
)
_IP = re.compile(r"[0-9A-Fa-f.:]{2,45}|-")
_DATE = re.compile(r"\d{8,17}", re.ASCII)

_UNKNOWN_IPS = ("-", "0.0.0.0")  # noqa: S104 - placeholder for an unknown address


class ForeignArc(ForeignFile):
    """ARC file; captures become ``response`` records without ids."""

    def __init__(self, file: Forward) -> None:
        super().__init__(file, begins=ARC_BEGINS, begins_record=ARC_BEGINS, read=_read_arc)


def _read_arc(content: DecompressedFile, line: bytes) -> ForeignRecord:
    words = _text(line).split(" ")
    at = _date_at(words)
    length = words[-1].strip()
    if not at or not _LENGTH.fullmatch(length) or not line.endswith(b"\n"):
        raise InvalidRecord("An ARC record was expected here.")
    url, ip = " ".join(words[: at - 1]), words[at - 1]
    block = ForeignBlock(content, int(length))
    try:
        moment = read_moment(words[at])
    except InvalidRecord as error:
        raise UnusableHead(f"{url[:200]}: {error}", block) from error
    scheme = url.partition(":")[0].lower()
    return ForeignRecord(
        type="response" if scheme in ("http", "https") else scheme,
        id="",
        date=moment,
        target_uri=url,
        fields={
            "content-type": words[at + 1],
            "warc-ip-address": "" if ip in _UNKNOWN_IPS else ip,
        },
        block=block,
    )


def _date_at(words: list[str]) -> int:
    """Return the index of the date, or 0 if there is none.

    The date follows an IP address. Its index varies, because URLs may contain spaces.
    """
    for at in range(2, len(words) - 1):
        if _DATE.fullmatch(words[at]) and _IP.fullmatch(words[at - 1]):
            return at
    return 0


class ArchiveForm(StrEnum):
    """Formats of record files."""

    WARC = "WARC"
    ARC = "ARC"


def recognise(head: bytes, name: str) -> ArchiveForm | None:
    """Detect the format of a file, compressed or not, from its first bytes; None if unknown.

    The name decides only if the first gzip member is damaged.
    """
    try:
        content = DecompressedFile(BytesIO(head), WARC_BEGINS)
        while (line := content.next_line()) and not line.strip():
            pass
    except ArchiverError:
        # A Zstandard dictionary or block can be larger than ``head``.
        is_warc = head.startswith((DICTIONARY, FRAME)) or name.lower().endswith(".warc.gz")
        return ArchiveForm.WARC if is_warc else None
    if WARC_BEGINS.match(line):
        return ArchiveForm.WARC
    return ArchiveForm.ARC if line.startswith(ARC_FIRST) or ARC_BEGINS.match(line) else None
