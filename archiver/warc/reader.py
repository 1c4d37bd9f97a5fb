"""Positional reads of segments; reading and verification of WARC records."""

import errno
import os
import stat
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from archiver.errors import InvalidRecord, StoreError, TruncatedRecord
from archiver.http.headers import WHITESPACE, ResponseHead, is_end_of_head, parse_head
from archiver.http.response_parser import MAX_HEAD_BYTES, dechunk
from archiver.http.timestamps import read_iso
from archiver.model.capture import RecordId
from archiver.warc.decompression import Member, Readable, Source
from archiver.warc.records import DigestCheck, RecordType

MAX_RECORD_HEAD_BYTES = 64 << 10
PIECE = 64 << 10
_HEAD_END = b"\r\n\r\n"
_FOLD = (" ", "\t")


class SegmentBytes(ABC):
    """Bytes of a segment, local or remote, read by position."""

    _position = 0

    @property
    @abstractmethod
    def size(self) -> int:
        """Current size in bytes."""

    @abstractmethod
    def read_at(self, offset: int, size: int) -> bytes:
        """Read up to ``size`` bytes at ``offset``."""

    def seek(self, offset: int) -> int:
        """Set the position to a byte offset."""
        self._position = offset
        return offset

    def read(self, size: int) -> bytes:
        """Read up to ``size`` bytes; empty at the end."""
        data = self.read_at(self._position, size)
        self._position += len(data)
        return data


class ReadOnly(SegmentBytes):
    """File read by position; closed when it is garbage-collected.

    Raises:
        OSError: the file can't be opened, or it is a directory, pipe or device.
    """

    def __init__(self, path: Path) -> None:
        # Without O_NONBLOCK, opening a pipe would wait for a writer.
        self._file = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        if not stat.S_ISREG(os.fstat(self._file).st_mode):
            raise OSError(errno.EINVAL, "Not a regular file", str(path))

    @property
    def size(self) -> int:
        """Current size in bytes."""
        return os.fstat(self._file).st_size

    def read_at(self, offset: int, size: int) -> bytes:
        """Read up to ``size`` bytes at ``offset``."""
        return os.pread(self._file, size, offset)

    def __del__(self) -> None:
        if hasattr(self, "_file"):
            os.close(self._file)


@dataclass(slots=True)
class StoredRecord:
    """Record of a segment, read up to its block.

    The block can be read once, before the next record is read.

    Attributes:
        type, id, date, target_uri, content_type: see ``Record``.
        fields: all named fields by name in lower case.
        offset: offset of the gzip member in bytes.
        block_length: size of the block in bytes.
        block: the block, which can only be read forwards.
    """

    type: RecordType
    id: RecordId
    date: datetime
    target_uri: str | None
    content_type: str
    fields: dict[str, str]
    offset: int
    block_length: int
    block: "Block"
    _member: Member = field(repr=False)
    _finished: bool = field(default=False, repr=False)

    def get(self, name: str) -> str:
        """Return a named field, or an empty string."""
        return self.fields.get(name, "")

    def finish(self) -> int:
        """Read to the end of the record and return the compressed size of its member.

        Raises:
            TruncatedRecord: the segment ends too early.
            InvalidRecord: the record's end is invalid.
        """
        if not self._finished:
            self.block.skip()
            if self._member.read(5) != b"\r\n\r\n":
                raise InvalidRecord(f"The record at byte {self.offset:,} has an invalid end.")
            self._finished = True
        return self._member.compressed


class Block:
    """Block of a record, read from its gzip member."""

    def __init__(self, member: Member, length: int) -> None:
        self._member = member
        self._remaining = length
        self._watch: Callable[[bytes], object] | None = None

    def watch(self, update: Callable[[bytes], object]) -> None:
        """Call ``update`` with all bytes read from now on."""
        self._watch = update

    def read(self, size: int = -1) -> bytes:
        """Read up to ``size`` bytes, or all remaining bytes; empty at the end.

        Raises:
            TruncatedRecord: the segment ends too early.
            InvalidRecord: the member ends too early.
        """
        most = self._remaining if size < 0 else min(size, self._remaining)
        data = self._member.read(most) if most else b""
        if len(data) < most:
            raise InvalidRecord("The block of a record is shorter than its Content-Length.")
        self._remaining -= len(data)
        if self._watch:
            self._watch(data)
        return data

    def line(self, most: int) -> bytes:
        """Read up to and including the next newline, or ``most`` bytes."""
        data = self._member.line(min(most, self._remaining))
        self._remaining -= len(data)
        if self._watch:
            self._watch(data)
        return data

    def pieces(self) -> Iterator[bytes]:
        """Iterate over the remaining bytes in chunks."""
        while data := self.read(PIECE):
            yield data

    def skip(self) -> None:
        """Skip the remaining bytes."""
        for _ in self.pieces():
            pass


def read_record(file: Readable, offset: int, length: int = PIECE) -> StoredRecord:
    """Read the record at ``offset``; ``length`` is its compressed size, if known.

    Raises:
        TruncatedRecord: the file ends in the middle of the record.
        InvalidRecord: there is no record at ``offset``.
    """
    file.seek(offset)
    return _read(Source(file, offset, length))


def iterate(file: Readable, offset: int = 0) -> Iterator[StoredRecord]:
    """Iterate over the records from ``offset`` on; each must be used before the next is read.

    Raises:
        TruncatedRecord: the file ends in the middle of a record.
        InvalidRecord: the next bytes are not a record.
    """
    file.seek(offset)
    source = Source(file, offset)
    while not source.at_end():
        start = source.offset
        try:
            record = _read(source)
            yield record
            record.finish()
        except (InvalidRecord, TruncatedRecord) as error:
            error.offset = start
            raise


def _read(source: Source) -> StoredRecord:
    offset = source.offset
    member = Member(source)
    fields = _fields(member, offset)
    try:
        length = int(fields["content-length"])
        record = StoredRecord(
            type=RecordType(fields["warc-type"]),
            id=RecordId(fields["warc-record-id"].strip("<>")),
            date=read_iso(fields["warc-date"]),
            target_uri=fields.get("warc-target-uri", "").strip("<>") or None,
            content_type=fields.get("content-type", ""),
            fields=fields,
            offset=offset,
            block_length=length,
            block=Block(member, length),
            _member=member,
        )
    except (KeyError, ValueError) as error:
        raise InvalidRecord(
            f"The record at byte {offset:,} has a missing or invalid field: {error}."
        ) from error
    return record


def _fields(member: Member, offset: int) -> dict[str, str]:
    head = member.until(_HEAD_END, MAX_RECORD_HEAD_BYTES)
    if not head.startswith(b"WARC/1."):
        raise InvalidRecord(f"There is no WARC record with a complete header at byte {offset:,}.")
    fields: dict[str, str] = {}
    name = ""
    for line in head.decode("utf-8", "replace").replace("\r\n", "\n").split("\n")[1:-2]:
        if name and line.startswith(_FOLD):
            fields[name] += " " + line.strip(WHITESPACE)
            continue
        name, _, value = line.partition(":")
        name = name.strip(WHITESPACE).lower()
        fields.setdefault(name, value.strip(WHITESPACE))
    return fields


def open_payload(record: StoredRecord) -> tuple[ResponseHead, Iterator[bytes]]:
    """Return the head of a response or revisit record, and its payload in chunks.

    The transfer coding is removed; content codings are kept. The payload of a revisit is empty.

    Raises:
        InvalidRecord: the block is not an HTTP response.
    """
    head = parse_head(read_head(record))
    pieces = record.block.pieces()
    return head, dechunk(pieces) if head.is_chunked else pieces


def read_head(record: StoredRecord) -> bytes:
    """Read the HTTP head of a record's block, including the final empty line.

    Raises:
        InvalidRecord: the head is too long.
    """
    head = bytearray()
    while True:
        line = record.block.line(MAX_HEAD_BYTES)
        head += line
        if is_end_of_head(line):
            return bytes(head)
        if len(head) >= MAX_HEAD_BYTES:
            raise InvalidRecord(
                f"The HTTP header of the record at byte {record.offset:,} has no end."
            )


class Verification:
    """Digest checks of one record. Create it before the record's block is read.

    All bytes that are read from the block are digested. ``problems`` reads the bytes that were not
    read before.
    """

    def __init__(self, record: StoredRecord) -> None:
        self._record = record
        self._problems: list[str] = []
        self._block = self._check("warc-block-digest")
        if self._block:
            record.block.watch(self._block.update)

    def payload(self, pieces: Iterator[bytes]) -> Iterator[bytes]:
        """Iterate over the payload in ``pieces`` and digest it."""
        check = self._check("warc-payload-digest")
        for piece in pieces:
            if check:
                check.update(piece)
            yield piece
        if check and not check.matches():
            self._problems.append("The payload does not match the digest in its record.")

    def problems(self) -> list[str]:
        """Read the rest of the record; return its problems as sentences."""
        try:
            self._record.finish()
        except StoreError as error:
            return [*self._problems, str(error)]
        if self._block and not self._block.matches():
            self._problems.append("The block does not match the digest in its record.")
        return self._problems

    def _check(self, name: str) -> DigestCheck | None:
        digest = self._record.get(name)
        try:
            return DigestCheck(digest) if digest else None
        except InvalidRecord as error:
            self._problems.append(str(error))
            return None
