"""WARC and ARC files written by other programs.

What is read is bounded by who reads it: a block is a stream. What can't be read is named, and
reading goes on with the next record: by the length that a bad head states, else by the next line
or member that begins one.

A record is a line of fields, then its content; the first describes the file
(https://archive.org/web/researcher/ArcFileFormat.php).
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from io import BytesIO
from typing import Protocol

from archiver.errors import ArchiverError, InvalidRecord, StoreError, TornRecord
from archiver.http.headers import WHITESPACE
from archiver.warc.decompression import DICTIONARY, FRAME, PIECE, Forward, Unpacked
from archiver.warc.records import read_moment

MOST_HEAD_BYTES = 64 << 10
VERSION = re.compile(rb"WARC/\d{1,2}\.\d{1,2}[ \t\r]*\n", re.IGNORECASE)
WARC_BEGINS = re.compile(rb"WARC/\d", re.IGNORECASE)
_LENGTH = re.compile(r"\d{1,18}", re.ASCII)


class Content(Protocol):
    """Bytes that are read forward."""

    def read(self, size: int, /) -> bytes:
        """Up to ``size`` bytes; fewer only at the end."""

    def line(self, most: int, /) -> bytes:
        """Up to and including the next newline, or ``most`` bytes."""


class ForeignBlock:
    """The block of a record, as a stream.

    Attributes:
        left: bytes that are still to be read.
        is_broken: whether it ended before it should have, or was damaged.
    """

    def __init__(self, content: Content, length: int) -> None:
        self._content = content
        self.left = length
        self.is_broken = False

    def read(self, size: int) -> bytes:
        """Up to ``size`` bytes; empty at the end.

        Raises:
            TornRecord: the record ends first.
            InvalidRecord: it is damaged.
        """
        wanted = min(size, self.left)
        data = self._read(self._content.read, wanted) if wanted else b""
        if len(data) < wanted:
            raise self._torn()
        return data

    def line(self, most: int) -> bytes:
        """Up to and including the next newline, or ``most`` bytes; raises as ``read`` does."""
        wanted = min(most, self.left)
        data = self._read(self._content.line, wanted) if wanted else b""
        if wanted and not data:
            raise self._torn()
        return data

    def skip(self) -> None:
        """Pass over what is left; raises as ``read`` does."""
        while self.read(PIECE):
            pass

    def _read(self, read: Callable[[int], bytes], size: int) -> bytes:
        try:
            data = read(size)
        except StoreError:
            self.is_broken = True
            raise
        self.left -= len(data)
        return data

    def _torn(self) -> TornRecord:
        self.is_broken = True
        return TornRecord("The record ends before it should.")


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
        place: the byte of the file where it, or the member it is in, begins.
    """

    type: str
    id: str
    date: datetime
    target_uri: str
    fields: dict[str, str]
    block: ForeignBlock = field(repr=False)
    place: int = 0

    def get(self, name: str) -> str:
        """A named field; empty if it is missing."""
        return self.fields.get(name, "")


@dataclass(frozen=True, slots=True)
class Skipped:
    """A stretch of a file that no record could be read from: where it begins, and why."""

    place: int
    reason: str


class UnusableHead(InvalidRecord):
    """A head that says how long its record is, but not what it is.

    Attributes:
        block: of the record.
    """

    def __init__(self, message: str, block: ForeignBlock) -> None:
        super().__init__(message)
        self.block = block


class ForeignFile:
    """A file of records, to be iterated over once.

    Attributes:
        content: says by ``offset`` how many bytes of the file were taken.
    """

    def __init__(
        self,
        file: Forward,
        *,
        begins: re.Pattern[bytes],
        begins_record: re.Pattern[bytes],
        read: Callable[[Unpacked, bytes], ForeignRecord | None],
    ) -> None:
        self.content = Unpacked(file, begins)
        self._begins_record = begins_record
        self._read = read

    def __iter__(self) -> Iterator[ForeignRecord | Skipped]:
        """Every record, and what could not be read.

        Raises:
            UnreadableFile: it unpacks to far too much.
        """
        return each_record(self.content, self._begins_record, self._read)


class ForeignWarc(ForeignFile):
    """A WARC file."""

    def __init__(self, file: Forward) -> None:
        super().__init__(file, begins=WARC_BEGINS, begins_record=VERSION, read=_read)


def each_record(
    content: Unpacked,
    begins: re.Pattern[bytes],
    read: Callable[[Unpacked, bytes], ForeignRecord | None],
) -> Iterator[ForeignRecord | Skipped]:
    """Every record of a file, and what could not be read.

    Args:
        content: of the file.
        begins: matches the line that begins a record.
        read: reads a record of which that line was read; None for one that is of no interest.
    """
    while True:
        place = content.place()
        try:
            line = _first_line(content)
            if not line:
                return
            place = content.place(len(line))
            record = read(content, line)
        except UnusableHead as error:
            yield Skipped(place, str(error))
            _leave(error.block, content, begins)
        except (InvalidRecord, TornRecord) as error:
            yield Skipped(place, str(error))
            content.find(begins)
        else:
            if record is None:
                continue
            record.place = place
            yield record
            if problem := _leave(record.block, content, begins):
                yield Skipped(place, problem)


def _leave(block: ForeignBlock, content: Unpacked, begins: re.Pattern[bytes]) -> str:
    """Go past a block; what was wrong with it, unless its reader knows that."""
    was_broken, problem = block.is_broken, ""
    if not was_broken:
        try:
            block.skip()
        except (InvalidRecord, TornRecord) as error:
            problem = str(error)
    if block.is_broken:
        content.find(begins)
    return problem


def _first_line(content: Unpacked) -> bytes:
    line = content.next_line()
    while line and not line.strip():
        line = content.next_line()
    return line


def _read(content: Unpacked, line: bytes) -> ForeignRecord:
    if not VERSION.match(line):
        raise InvalidRecord("There is no WARC record where one should begin.")
    fields = _fields(content)
    length = fields.get("content-length", "")
    if not _LENGTH.fullmatch(length):
        raise InvalidRecord("A record does not say how long it is.")
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


def _fields(content: Unpacked) -> dict[str, str]:
    """Named fields up to the empty line; of fields of one name the first, folded lines joined."""
    fields: dict[str, str] = {}
    left, name, is_new = MOST_HEAD_BYTES, "", False
    while (line := content.line(left)).strip():
        left -= len(line)
        if left <= 0 or not line.endswith(b"\n"):
            raise InvalidRecord("The head of a record does not end.")
        text = line.rstrip(b"\r\n").decode("utf-8", "replace")
        if text[0] in " \t" and name:
            if is_new:
                fields[name] = f"{fields[name]} {text.strip(WHITESPACE)}".strip(WHITESPACE)
            continue
        name, _, value = text.partition(":")
        name = name.strip(WHITESPACE).lower()
        is_new = name not in fields
        fields.setdefault(name, value.strip(WHITESPACE))
    return fields


ARC_FIRST = b"filedesc:"
"""What an ARC file begins with."""
ARC_BEGINS = re.compile(
    rb"[A-Za-z][A-Za-z0-9+.-]{0,30}:[^\n]{1,8000}? (?:[0-9A-Fa-f.:]{2,45}|-) \d{8,17} [^\n]"
)
_IP = re.compile(r"[0-9A-Fa-f.:]{2,45}|-")
_DATE = re.compile(r"\d{8,17}", re.ASCII)

_NOWHERE = ("-", "0.0.0.0")  # noqa: S104 - an address that was not known


class ForeignArc(ForeignFile):
    """An ARC file: its captures are ``response`` records without ids."""

    def __init__(self, file: Forward) -> None:
        super().__init__(file, begins=ARC_BEGINS, begins_record=ARC_BEGINS, read=_read_arc)


def _read_arc(content: Unpacked, line: bytes) -> ForeignRecord:
    words = line.decode("utf-8", "replace").split(" ")
    at = _date_at(words)
    length = words[-1].strip()
    if not at or not _LENGTH.fullmatch(length) or not line.endswith(b"\n"):
        raise InvalidRecord("There is no ARC record where one should begin.")
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
            "warc-ip-address": "" if ip in _NOWHERE else ip,
        },
        block=block,
    )


def _date_at(words: list[str]) -> int:
    """Which word is the date: it follows the address, and the URL may have spaces; 0 if none."""
    for at in range(2, len(words) - 1):
        if _DATE.fullmatch(words[at]) and _IP.fullmatch(words[at - 1]):
            return at
    return 0


class ArchiveForm(StrEnum):
    """The forms of files of records."""

    WARC = "WARC"
    ARC = "ARC"


def recognise(head: bytes) -> ArchiveForm | None:
    """The form of a file, packed or plain, from its first bytes; None for any other."""
    try:
        content = Unpacked(BytesIO(head), WARC_BEGINS)
        while (line := content.next_line()) and not line.strip():
            pass
    except ArchiverError:
        # A dictionary, and a block of Zstandard's, are larger than what is looked at.
        return ArchiveForm.WARC if head.startswith((DICTIONARY, FRAME)) else None
    if WARC_BEGINS.match(line):
        return ArchiveForm.WARC
    return ArchiveForm.ARC if line.startswith(ARC_FIRST) or ARC_BEGINS.match(line) else None
