"""Recognition of archive files of other programs, and reader of their records.

The segments of a record are joined, and a request is joined to the response before or after it.
"""

import re
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from io import BufferedReader
from typing import IO

from archiver.errors import InvalidRecord, InvalidUrl, StoreError, UnreadableFile
from archiver.formats.archive_members import member_names
from archiver.formats.archive_records import (
    SPOOLED_BYTES,
    ForeignCapture,
    ForeignEntryRecord,
    ForeignRendition,
    ForeignRevisit,
    Found,
    IgnoredRecord,
    Unusable,
    read_found,
)
from archiver.helpers import scratch_file
from archiver.http.urls import parse_url
from archiver.warc.foreign_files import ForeignBlock, ForeignRecord, Skipped, recognise

WACZ = "WACZ"
_PEEKED_BYTES = 8192
_PACKAGED = (".warc", ".warc.gz", ".arc.gz", ".wacz")
_ZIP = b"PK\x03\x04"


def archive_kind(file: BufferedReader, name: str) -> str | None:
    """Return the kind of a file, ``WARC``, ``ARC`` or ``WACZ``; None for other files. Blocking.

    The file position is unchanged. A zip archive is identified by the names of its members. If it
    is damaged, is not seekable or has too many members, it is identified by its own name.
    """
    head = file.peek(_PEEKED_BYTES)
    if not head.startswith(_ZIP):
        return recognise(head[:_PEEKED_BYTES], name)
    names = _members(file) if file.seekable() else ()
    if not names:
        return WACZ if name.lower().endswith(WACZ.lower()) else None
    return WACZ if any(map(_is_of_package, names)) else None


def _members(file: BufferedReader) -> tuple[str, ...]:
    place = file.tell()
    try:
        return member_names(file)
    except UnreadableFile:  # importing the file reports the problem
        return ()
    finally:
        file.seek(place)


def _is_of_package(name: str) -> bool:
    return name == "datapackage.json" or name.lower().endswith(_PACKAGED)


MAX_OPEN = 16
"""Maximum number of incomplete segmented records; if there are more, the oldest is dropped."""
PIECE = 64 << 10
_CONTINUATION = "continuation"


@dataclass(slots=True)
class _PartialRecord:
    """Segmented record of which some segments have been read."""

    first: ForeignRecord
    block: IO[bytes]
    length: int = 0
    segments: int = 1


class Segments(ExitStack):
    """Joiner of records that were written in several segments (ISO 28500 §7).

    Args:
        most_bytes: the maximum length of a joined block.
    """

    def __init__(self, most_bytes: int) -> None:
        super().__init__()
        self._most_bytes = most_bytes
        self._partial: dict[str, _PartialRecord] = {}
        self._current: IO[bytes] | None = None
        self.callback(self._close_all)

    def joined(
        self, records: Iterable[ForeignRecord | Skipped]
    ) -> Iterator[ForeignRecord | Skipped]:
        """Yield records in order; a segmented record is yielded at its last segment."""
        for each in records:
            if isinstance(each, Skipped) or not each.get("warc-segment-number"):
                yield each
                continue
            try:
                record = self._continue(each) if each.type == _CONTINUATION else self._begin(each)
            except StoreError as error:
                yield Skipped(each.place, f"A segment of {each.target_uri}: {error}")
            else:
                yield from record
                self._close_current()
        for partial in self._partial.values():
            yield _incomplete(partial)

    def _begin(self, record: ForeignRecord) -> list[ForeignRecord | Skipped]:
        partial = _PartialRecord(record, scratch_file())
        self._append_block(partial, record)
        records: list[ForeignRecord | Skipped] = []
        if len(self._partial) >= MAX_OPEN:
            records.append(self._drop(next(iter(self._partial))))
        if record.id in self._partial:
            records.append(self._drop(record.id))
        self._partial[record.id] = partial
        return records

    def _continue(self, record: ForeignRecord) -> list[ForeignRecord | Skipped]:
        origin = record.get("warc-segment-origin-id").strip("<>")
        partial = self._partial.get(origin)
        if partial is None:
            raise InvalidRecord("The preceding segment is not in this file.")
        if record.get("warc-segment-number") != str(partial.segments + 1):
            return [self._drop(origin)]
        partial.segments += 1
        self._append_block(partial, record)
        total = record.get("warc-segment-total-length")
        if not total:
            return []
        if total != str(partial.length):
            return [self._drop(origin)]
        del self._partial[origin]
        partial.block.seek(0)
        self._current = partial.block
        return [
            replace(partial.first, block=ForeignBlock(_LineReader(partial.block), partial.length))
        ]

    def _append_block(self, partial: _PartialRecord, record: ForeignRecord) -> None:
        if partial.length + record.block.remaining > self._most_bytes:
            self._partial.pop(partial.first.id, None)
            partial.block.close()
            raise InvalidRecord(f"Its segments are larger than {self._most_bytes:,} bytes.")
        partial.length += record.block.remaining
        while data := record.block.read(PIECE):
            partial.block.write(data)

    def _close_all(self) -> None:
        for partial in self._partial.values():
            partial.block.close()
        self._close_current()

    def _close_current(self) -> None:
        if self._current:
            self._current.close()
        self._current = None

    def _drop(self, record_id: str) -> Skipped:
        partial = self._partial.pop(record_id)
        partial.block.close()
        return _incomplete(partial)


def _incomplete(partial: _PartialRecord) -> Skipped:
    return Skipped(
        partial.first.place,
        f"{partial.first.target_uri}: only the segments {partial.segments} are in this file.",
    )


class _LineReader:
    """Block of a joined record, with the interface of ``foreign_files.Content``."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def read(self, size: int, /) -> bytes:
        return self._file.read(size)

    def line(self, most: int, /) -> bytes:
        return self._file.readline(most)


MAX_REQUEST = 64 << 10
_FRAMED = re.compile(
    rb"^sec-fetch-dest: *(?:iframe|frame|object|embed)\r?$", re.MULTILINE | re.IGNORECASE
)
_Response = ForeignCapture | ForeignRevisit


def read_records(records: Iterable[ForeignRecord | Skipped], *, most_bytes: int) -> Iterator[Found]:
    """Yield the exchanges in records, each with its request and response, and all other objects.

    Args:
        records: the records of one file.
        most_bytes: the maximum size of a body.

    Raises:
        UnreadableFile: the rest of the file cannot be read.
    """
    pairs = _Pairs()
    with Segments(most_bytes) as segments:
        for record in segments.joined(records):
            if isinstance(record, Skipped):
                yield Unusable(f"byte {record.place:,} of the file", record.reason)
            elif record.type == "request":
                yield from pairs.request(record)
            else:
                yield from pairs.other(read_found(record, most_bytes=most_bytes))
        yield from pairs.end()


class _Pairs:
    """Joiner of a request and its response, in either order."""

    def __init__(self) -> None:
        self._response: _Response | None = None
        self._request: tuple[str, bytes] | None = None

    def request(self, record: ForeignRecord) -> Iterator[Found]:
        """Add a request; yield the exchange that it completes.

        If it completes none, yield the response or request before it, which has no partner.
        """
        try:
            request = record.target_uri, record.block.read(MAX_REQUEST)
        except StoreError as error:
            yield Unusable(record.target_uri, str(error))
            return
        response, self._response = self._response, None
        if response and _is_response_to(request, response):
            yield _joined(response, request)
            return
        if response:
            yield response
        yield from self._forget_request()
        self._request = request

    def other(self, found_record: Found) -> Iterator[Found]:
        """Add an object other than a request; yield the objects that need no further record."""
        if not isinstance(found_record, _Response):
            yield found_record
            return
        if self._response:
            yield self._response
        self._response = None
        if self._request and _is_response_to(self._request, found_record):
            yield _joined(found_record, self._request)
            self._request = None
            return
        yield from self._forget_request()
        self._response = found_record

    def end(self) -> Iterator[Found]:
        """Yield the request or response that is left at the end of the file."""
        if self._response:
            yield self._response
        self._response = None
        yield from self._forget_request()

    def _forget_request(self) -> Iterator[Found]:
        if self._request:
            yield IgnoredRecord("request")
        self._request = None


def _is_response_to(request: tuple[str, bytes], response: _Response) -> bool:
    url = response.url if isinstance(response, ForeignRevisit) else response.exchange.url
    try:
        return parse_url(request[0]) == url
    except InvalidUrl:
        return False


def _joined(response: _Response, request: tuple[str, bytes]) -> _Response:
    framed = _FRAMED.search(request[1]) is not None
    if isinstance(response, ForeignRevisit):
        return replace(response, request=request[1], is_framed=framed)
    exchange = replace(response.exchange, request=request[1])
    return replace(response, exchange=exchange, is_framed=framed)


BATCH = 200
_MAX_BYTES = 32 << 20
_LEAST_MEMORY_SIZE = 16 << 10


def in_batches(records: Iterator[Found]) -> Iterator[list[Found]]:
    """Yield converted records in batches, limited by memory. Blocking.

    Raises:
        UnreadableFile: the rest of the file cannot be read; raised after the last batch.
    """
    batch: list[Found] = []
    weight = 0
    try:
        for each in records:
            batch.append(each)
            weight += _memory_size(each)
            if len(batch) >= BATCH or weight >= _MAX_BYTES:
                yield batch
                batch, weight = [], 0
    except UnreadableFile:
        if batch:
            yield batch
        raise
    if batch:
        yield batch


def _memory_size(record: Found) -> int:
    match record:
        case ForeignCapture():
            return _LEAST_MEMORY_SIZE + min(record.exchange.payload_length, SPOOLED_BYTES)
        case ForeignEntryRecord() | ForeignRendition():
            return len(record.block)
        case ForeignRevisit():
            return len(record.head) + len(record.request)
        case _:
            return 0
