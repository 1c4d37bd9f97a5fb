"""Conversion of records from other archives to exchanges, revisits and page images.

All functions are blocking. Memory use is limited: large bodies are spooled to a temporary file, and
records above the size limit are not imported.

A page image precedes the record of its page in a file, so images are kept in a temporary file until
the records of their pages are read. Images that belong to no page are dropped. Icons and preview
images are not imported; they are made again from the archived content.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from io import BytesIO
from typing import BinaryIO, TypeGuard

from archiver.errors import ArchiverError, InvalidRecord, InvalidUrl, UnreadableFile
from archiver.helpers import scratch_file, spooled_file
from archiver.http.headers import is_end_of_head, parse_head
from archiver.http.media_types import essence_of, parse_media_type
from archiver.http.response_parser import dechunk
from archiver.http.timestamps import to_timestamp
from archiver.http.urls import parse_url
from archiver.model.capture import Exchange, PayloadDigest, RecordId, Timestamp
from archiver.model.rendering import (
    DERIVED_KINDS,
    MEDIA_TYPES,
    PAGE_TYPE,
    NewRendition,
    RenditionKind,
    RenditionRef,
)
from archiver.warc.foreign_files import ForeignRecord
from archiver.warc.records import (
    HEAD,
    NOT_REPLAYED,
    ORIGINAL_DIGEST,
    SYNTHESISED,
    canonical_digest,
    digest_of,
    digest_with,
    imported_fields,
    is_sha256_field,
    one_line,
    read_moment,
)

MAX_BYTES = 64 << 20
"""Maximum size of a page image in bytes."""
MAX_STORED = 200_000


@dataclass(frozen=True, slots=True)
class ForeignRendition:
    """Conversion record with an image of a page.

    Attributes:
        record_id: record id, by which the record of the page refers to the image.
        block: content of the image file.
    """

    record_id: RecordId
    block: bytes


def is_rendition(record: ForeignRecord) -> bool:
    """Return whether a record can be a page image, by its target URI, media type and length."""
    kind = record.target_uri.rpartition(":")[2]
    if record.type != "conversion" or kind not in set(RenditionKind) - DERIVED_KINDS:
        return False
    essence = essence_of(parse_media_type(record.get("content-type")))
    return essence in MEDIA_TYPES[RenditionKind(kind)] and record.block.remaining <= MAX_BYTES


class StoredRenditions(ExitStack):
    """Page images in a temporary file, until the records of their pages are read. Blocking."""

    def __init__(self) -> None:
        super().__init__()
        self._file = self.enter_context(scratch_file())
        self._places: dict[RecordId, tuple[int, int]] = {}
        self._end = 0

    def note(self, rendition: ForeignRendition) -> None:
        """Store an image, unless ``MAX_STORED`` images are stored already."""
        if len(self._places) < MAX_STORED:
            self._file.seek(self._end)
            self._file.write(rendition.block)
            self._places[rendition.record_id] = self._end, len(rendition.block)
            self._end += len(rendition.block)

    def of(self, named: Sequence[RenditionRef]) -> tuple[NewRendition, ...]:
        """Return the stored images that ``named`` refers to, at most one of each kind.

        Icons and preview images are never taken from a file.
        """
        renditions: dict[RenditionKind, NewRendition] = {}
        for each in named:
            if each.kind in DERIVED_KINDS:
                continue
            media_type = essence_of(parse_media_type(each.media_type))
            if media_type in MEDIA_TYPES[each.kind] and each.record_id in self._places:
                start, length = self._places[each.record_id]
                self._file.seek(start)
                content = self._file.read(length)
                media_type = PAGE_TYPE if each.kind is RenditionKind.PAGE else media_type
                renditions.setdefault(each.kind, NewRendition(each.kind, media_type, content))
        return tuple(renditions.values())


NOT_MODIFIED_HEAD = b"HTTP/1.1 304 Not Modified\r\n\r\n"
_LATIN = "latin-1"


@dataclass(frozen=True, slots=True)
class ForeignRevisit:
    """A response whose payload is in an earlier record (ISO 28500 §6.7).

    Attributes:
        url: the requested URL.
        at: time of the request in Unix seconds.
        ip: IP address of the server.
        request: bytes of the request; empty if unknown.
        head: bytes of the response head; empty if unknown.
        given_id: WARC-Record-ID in the file.
        digest: payload digest in the form of ``canonical_digest``; empty if unknown.
        refers_to_id: record id of the original; empty if unknown.
        refers_to_url: URL of the original; empty if unknown.
        refers_to_date: time of the original request; empty if unknown.
        is_not_modified: whether the server declared the payload unchanged (status 304), so that no
            digests were compared.
        is_framed: whether a browser requested the URL for a frame in another page.
        fields: WARC fields to copy to the stored record.
    """

    url: str
    at: int
    ip: str
    request: bytes
    head: bytes
    given_id: str
    digest: str
    refers_to_id: str
    refers_to_url: str
    refers_to_date: str
    is_not_modified: bool
    is_framed: bool = False
    fields: tuple[tuple[str, str], ...] = ()

    @property
    def timestamp(self) -> Timestamp:
        """Return the time of the request."""
        return to_timestamp(datetime.fromtimestamp(self.at, UTC))


@dataclass(frozen=True, slots=True)
class Payload:
    """Payload that a revisit shares with its original.

    Attributes:
        digest: the payload digest.
        length: the payload length in bytes.
        head: head of the original's response.
        body: the payload if the revisit is to be stored as a response record; else None.
    """

    digest: PayloadDigest
    length: int
    head: bytes = b""
    body: BinaryIO | None = None


def read_revisit(record: ForeignRecord, url: str, head: bytes) -> ForeignRevisit:
    """Parse a revisit record.

    Raises:
        InvalidRecord: the head of the revisit is not an HTTP response.
    """
    if head.strip():
        parse_head(head)
    return ForeignRevisit(
        url=url,
        at=int(record.date.timestamp()),
        ip=one_line(record.get("warc-ip-address")),
        request=b"",
        head=head if head.strip() else b"",
        given_id=record.id,
        digest=_digest(record),
        refers_to_id=record.get("warc-refers-to").strip("<>"),
        refers_to_url=_url(record.get("warc-refers-to-target-uri")),
        refers_to_date=_date(record.get("warc-refers-to-date")),
        is_not_modified="server-not-modified" in record.get("warc-profile"),
        fields=imported_fields(record.fields),
    )


def exchange_of(revisit: ForeignRevisit, payload: Payload) -> Exchange:
    """Return the exchange of a revisit, given its payload.

    Raises:
        InvalidRecord: the head is not an HTTP response.
    """
    head_bytes, named = revisit.head, revisit.fields
    if not head_bytes:
        head_bytes = NOT_MODIFIED_HEAD if revisit.is_not_modified else payload.head
        named += ((HEAD, SYNTHESISED),)
    head = parse_head(head_bytes)
    return Exchange(
        url=revisit.url,
        at=datetime.fromtimestamp(revisit.at, UTC),
        ip=revisit.ip,
        request=revisit.request,
        head=head_bytes,
        body=payload.body or BytesIO(),
        chunked=head.is_chunked,
        status=head.status,
        headers=head.headers,
        payload_digest=payload.digest,
        payload_length=payload.length,
        fields=named,
    )


def write_line(revisit: ForeignRevisit) -> bytes:
    """Serialise a revisit as one line of a temporary file."""
    document = {each.name: getattr(revisit, each.name) for each in fields(revisit)}
    document |= {"request": revisit.request.decode(_LATIN), "head": revisit.head.decode(_LATIN)}
    return json.dumps(document).encode() + b"\n"


def read_lines(lines: Iterator[bytes]) -> Iterator[ForeignRevisit]:
    """Parse lines that ``write_line`` has written."""
    for line in lines:
        document = json.loads(line)
        document["request"], document["head"] = (
            document["request"].encode(_LATIN),
            document["head"].encode(_LATIN),
        )
        document["fields"] = tuple((name, value) for name, value in document["fields"])
        yield ForeignRevisit(**document)


def _digest(record: ForeignRecord) -> str:
    try:
        return canonical_digest(record.get("warc-payload-digest"))
    except InvalidRecord:
        return ""


def _url(text: str) -> str:
    try:
        return parse_url(text.strip("<>")) if text else ""
    except InvalidUrl:
        return ""


def _date(text: str) -> str:
    try:
        return to_timestamp(read_moment(text)) if text else ""
    except InvalidRecord:
        return ""


MAX_HTTP_HEAD = 256 << 10
MAX_ENTRY_RECORD = 4 << 20
SPOOLED_BYTES = 1 << 20
PIECE = 64 << 10
ENTRY_RECORD_PREFIX = "urn:archiver:"
_HTTP = ("http://", "https://")
_HTTP_TYPE = "application/http"
_SCHEMES_WITHOUT_REPLAY = ("ftp:", "ftps:", "gopher:", "file:")
"""Schemes whose records cannot be replayed; the import reports them to the user."""


@dataclass(frozen=True, slots=True)
class ForeignCapture:
    """Response with its payload.

    Attributes:
        exchange: those parts of request and response that the file contains. The receiver must
            close the body.
        given_id: WARC-Record-ID in the file; empty if there is none.
        stated_digest: verified payload digest from the file, in the form of ``canonical_digest``.
            Empty if the file states only a SHA-256 digest, a wrong digest or none.
        is_framed: whether a browser requested the URL for a frame in another page.
    """

    exchange: Exchange
    given_id: str
    stated_digest: str = ""
    is_framed: bool = False


@dataclass(frozen=True, slots=True)
class ForeignEntryRecord:
    """Block of a metadata record that this program has written."""

    block: bytes


@dataclass(frozen=True, slots=True)
class Unusable:
    """URL or position of a record that cannot be imported, and the reason."""

    record: str
    reason: str


@dataclass(frozen=True, slots=True)
class IgnoredRecord:
    """WARC type of a record that an import ignores."""

    kind: str


Found = (
    ForeignCapture
    | ForeignRevisit
    | ForeignEntryRecord
    | ForeignRendition
    | Unusable
    | IgnoredRecord
)


def is_capture(record: Found) -> TypeGuard[ForeignCapture]:
    """Return whether a converted record is a capture of its URL."""
    return isinstance(record, ForeignCapture) and record.exchange.is_shown


def read_found(record: ForeignRecord, *, most_bytes: int) -> Found:
    """Convert a record.

    An invalid record, or one that is larger than ``most_bytes``, becomes ``Unusable``.
    """
    try:
        return _read(record, most_bytes)
    except UnreadableFile:
        raise
    except (ArchiverError, ValueError, ArithmeticError) as error:
        return Unusable(record.target_uri or f"the record at byte {record.place:,}", str(error))


def _read(record: ForeignRecord, most_bytes: int) -> Found:
    target = record.target_uri.lower()
    if record.type == "metadata" and target.startswith(ENTRY_RECORD_PREFIX):
        return ForeignEntryRecord(record.block.read(MAX_ENTRY_RECORD))
    if target.startswith(ENTRY_RECORD_PREFIX) and is_rendition(record):
        return ForeignRendition(RecordId(record.id), record.block.read(MAX_BYTES))
    read = _READ.get(record.type)
    if read and target.startswith(_SCHEMES_WITHOUT_REPLAY):
        raise InvalidRecord("Only responses of http and https addresses can be imported.")
    if read is None or not target.startswith(_HTTP):
        return IgnoredRecord(record.type)
    url = parse_url(record.target_uri)
    if record.block.remaining > most_bytes:
        return Unusable(url, f"Its record is larger than {most_bytes:,} bytes.")
    return read(record, url)


def _revisit(record: ForeignRecord, url: str) -> ForeignRevisit:
    return read_revisit(record, url, _head_bytes(record))


def _response(record: ForeignRecord, url: str) -> ForeignCapture:
    start = record.block.line(MAX_HTTP_HEAD)
    if start.startswith(b"HTTP/") or record.get("content-type").startswith(_HTTP_TYPE):
        return _capture(record, url, _head_bytes(record, start), imported_fields(record.fields))
    return _resource(record, url, start)


def _resource(record: ForeignRecord, url: str, start: bytes = b"") -> ForeignCapture:
    """Convert a resource record (ISO 28500 §6.3) or a response without a head; add a head."""
    kind = one_line(record.get("content-type")) or "application/octet-stream"
    length = len(start) + record.block.remaining
    head = f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n\r\n"
    fields = (*imported_fields(record.fields), (HEAD, SYNTHESISED))
    return _capture(record, url, head.encode("latin-1", "replace"), fields, start)


def _capture(
    record: ForeignRecord,
    url: str,
    head_bytes: bytes,
    fields: tuple[tuple[str, str], ...],
    start: bytes = b"",
) -> ForeignCapture:
    head = parse_head(head_bytes)
    body = _body(record, start)
    pieces = dechunk(pieces_of(body)) if head.is_chunked else pieces_of(body)
    digest, length = digest_of(pieces)
    stated_digest = _stated_digest(record, body, is_chunked=head.is_chunked)
    if stated_digest:
        fields += ((ORIGINAL_DIGEST, stated_digest),)
    if reason := one_line(record.get(NOT_REPLAYED.lower())):
        fields += ((NOT_REPLAYED, reason),)
    exchange = Exchange(
        url=url,
        at=record.date,
        ip=one_line(record.get("warc-ip-address")),
        request=b"",
        head=head_bytes,
        body=body,
        chunked=head.is_chunked,
        status=head.status,
        headers=head.headers,
        payload_digest=digest,
        payload_length=length,
        fields=fields,
        is_shown=not reason,
    )
    return ForeignCapture(exchange, record.id, stated_digest)


def _stated_digest(record: ForeignRecord, body: BinaryIO, *, is_chunked: bool) -> str:
    """Return the payload digest that a record states, if it is correct and not SHA-256.

    The digest may include chunk framing, because most tools hash the bytes that they write.
    """
    for name in ("warc-payload-digest", ORIGINAL_DIGEST.lower()):
        try:
            digest = canonical_digest(record.get(name))
        except InvalidRecord:
            continue
        algorithm = digest.partition(":")[0]
        if is_sha256_field(digest):
            continue
        if digest_with(algorithm, pieces_of(body)) == digest:
            return digest
        if is_chunked and digest_with(algorithm, dechunk(pieces_of(body))) == digest:
            return digest
    return ""


def _head_bytes(record: ForeignRecord, start: bytes = b"") -> bytes:
    line, head = start, bytearray(start)
    while record.block.remaining and not (line and is_end_of_head(line)):
        line = record.block.line(MAX_HTTP_HEAD)
        head += line
        if len(head) >= MAX_HTTP_HEAD:
            raise InvalidRecord("The HTTP header has no end.")
    return bytes(head)


def _body(record: ForeignRecord, start: bytes) -> BinaryIO:
    # The owner of the exchange closes this file.
    body: BinaryIO = BytesIO()
    if record.block.remaining > SPOOLED_BYTES:
        body = scratch_file()
    try:
        body.write(start)
        while piece := record.block.read(PIECE):
            body.write(piece)
    except BaseException:
        body.close()
        raise
    return body


def pieces_of(body: BinaryIO) -> Iterator[bytes]:
    """Yield a body from its start in pieces; only one caller may read the body at a time."""
    body.seek(0)
    while piece := body.read(PIECE):
        yield piece


_READ: dict[str, Callable[[ForeignRecord, str], ForeignCapture | ForeignRevisit]] = {
    "response": _response,
    "resource": _resource,
    "revisit": _revisit,
}

MAX_BUFFERED = 64 << 20
"""Maximum size of all response heads and requests that are kept in memory."""
MAX_SPOOLED = 4 << 30
"""Maximum size of all bodies that are spooled to disk, since a small file can be a gzip bomb."""


@dataclass(frozen=True, slots=True)
class _StoredExchange:
    """Exchange without its body, and the position of the body in the temporary file."""

    exchange: Exchange
    start: int
    length: int


class StoredResponses(ExitStack):
    """Responses in a temporary file, until the records of their pages are read. Blocking."""

    def __init__(self) -> None:
        super().__init__()
        self._file = self.enter_context(scratch_file())
        self._places: dict[RecordId, _StoredExchange] = {}
        self._end = self._size = 0

    def note(self, capture: ForeignCapture) -> None:
        """Store a response unless a size limit is reached; close its body."""
        exchange = capture.exchange
        with closing(exchange.body):
            self._size += len(exchange.head) + len(exchange.request) + PIECE // 64
            if self._size > MAX_BUFFERED:
                return
            start = self._file.seek(self._end)
            for piece in pieces_of(exchange.body):
                if self._file.tell() + len(piece) > MAX_SPOOLED:
                    return
                self._file.write(piece)
            self._end = self._file.tell()
        place = _StoredExchange(replace(exchange, body=BytesIO()), start, self._end - start)
        self._places[RecordId(capture.given_id)] = place

    def take(self, named: RecordId) -> Exchange | None:
        """Remove and return the response with a record id, if any; the caller closes its body."""
        place = self._places.pop(named, None)
        return self._whole(place) if place else None

    def _whole(self, place: _StoredExchange) -> Exchange:
        body, remaining = spooled_file(SPOOLED_BYTES), place.length
        self._file.seek(place.start)
        while remaining and (piece := self._file.read(min(PIECE, remaining))):
            body.write(piece)
            remaining -= len(piece)
        return replace(place.exchange, body=body)
