"""What records that others wrote say: exchanges, revisits and statements, in the file's order.

Blocking, and bounded: a body of some size lies in a temporary file, one above the limit is passed
over. A request is joined to the response it stands beside, whichever comes first.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from io import BytesIO
from tempfile import TemporaryFile
from typing import BinaryIO, cast
from uuid import UUID

from archiver.errors import ArchiverError, InvalidRecord, InvalidUrl
from archiver.memento.timestamps import to_timestamp
from archiver.model.capture import PayloadDigest, RecordId
from archiver.model.exchange import Exchange
from archiver.urls.parse import parse_url
from archiver.warc.digest import digest_of
from archiver.warc.foreign import ForeignRecord
from archiver.warc.record import new_record_id
from archiver.wire.coding import dechunk
from archiver.wire.head import ResponseHead, is_end_of_head, parse_head
from archiver.wire.moments import read_iso

MOST_HTTP_HEAD = 256 << 10
MOST_REQUEST = 64 << 10
MOST_STATEMENT = 4 << 20
SPOOLED_BYTES = 1 << 20
PIECE = 64 << 10
PAGE_PREFIX = "urn:archiver:"
_FRAMED = re.compile(
    rb"^sec-fetch-dest: *(?:iframe|frame|object|embed)\r?$", re.MULTILINE | re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class ForeignCapture:
    """A response; for a revisit, of whose payload ``original`` tells.

    Attributes:
        exchange: what crossed the wire, as far as the file tells. The receiver closes its body.
        record_id: of the record.
        original: (URL, moment or None) of the record that holds the payload; None if this does.
        is_framed: whether a browser asked for it to put it into another page.
    """

    exchange: Exchange
    record_id: RecordId
    original: tuple[str, datetime | None] | None = None
    is_framed: bool = False


@dataclass(frozen=True, slots=True)
class ForeignEntryRecord:
    """The block of a metadata record that says it is of this program."""

    block: bytes


@dataclass(frozen=True, slots=True)
class Unusable:
    """A record that can't be kept: what it is of, and why."""

    what: str
    reason: str


Found = ForeignCapture | ForeignEntryRecord | Unusable


def read_foreign(records: Iterator[ForeignRecord], *, most_bytes: int) -> Iterator[Found]:
    """What records say, until they end or break off: then the last thing says so.

    Args:
        records: of one file.
        most_bytes: the largest body that is kept.
    """
    pairs = _Pairs()
    try:
        for record in records:
            if record.type == "request":
                yield from pairs.request(record.target_uri, record.block.read(MOST_REQUEST))
            elif found := _read(record, most_bytes):
                yield from pairs.found(found)
    except (ArchiverError, ValueError, OSError) as error:
        yield from pairs.end()
        yield Unusable("the rest of the file", str(error))
        return
    yield from pairs.end()


class _Pairs:
    """Joins requests to responses: the half that comes first waits for the very next record."""

    def __init__(self) -> None:
        self._response: ForeignCapture | None = None
        self._request: tuple[str, bytes] | None = None

    def request(self, url: str, block: bytes) -> Iterator[Found]:
        response, self._response = self._response, None
        self._request = (url, block)
        if response and _is_of(self._request, response):
            response, self._request = _joined(response, self._request), None
        if response:
            yield response

    def found(self, found: Found) -> Iterator[Found]:
        yield from self.end()
        request, self._request = self._request, None
        if not isinstance(found, ForeignCapture):
            yield found
        elif request and _is_of(request, found):
            yield _joined(found, request)
        else:
            self._response = found

    def end(self) -> Iterator[Found]:
        response, self._response = self._response, None
        if response:
            yield response


def _read(record: ForeignRecord, most_bytes: int) -> Found | None:
    try:
        match record.type:
            case "response" | "revisit":
                return _capture(record, most_bytes)
            case "metadata" if record.target_uri.startswith(PAGE_PREFIX):
                return ForeignEntryRecord(record.block.read(MOST_STATEMENT))
            case _:
                return None
    except (InvalidRecord, InvalidUrl) as error:
        return Unusable(record.target_uri, str(error))


def _capture(record: ForeignRecord, most_bytes: int) -> Found | None:
    if not record.target_uri.lower().startswith(("http://", "https://")):
        return None  # DNS answers and the like
    url = parse_url(record.target_uri)
    is_revisit = record.type == "revisit"
    if record.block.left > most_bytes:
        return Unusable(url, f"Its record is larger than {most_bytes:,} bytes.")
    head_bytes = _head_bytes(record, optional=is_revisit)
    if not head_bytes:
        return Unusable(url, "It is a revisit that does not tell the response's head.")
    head = parse_head(head_bytes)
    body: BinaryIO = BytesIO() if is_revisit else _body(record)
    return ForeignCapture(
        exchange=_exchange(record, url, head_bytes, head, body),
        record_id=_record_id(record.id),
        original=_original(record, url) if is_revisit else None,
    )


def _exchange(
    record: ForeignRecord, url: str, head_bytes: bytes, head: ResponseHead, body: BinaryIO
) -> Exchange:
    pieces = dechunk(_pieces(body)) if head.is_chunked else _pieces(body)
    digest, length = digest_of(pieces)
    body.seek(0)
    return Exchange(
        url=url,
        at=record.date,
        ip=record.get("warc-ip-address"),
        request=b"",
        head=head_bytes,
        body=body,
        chunked=head.is_chunked,
        status=head.status,
        headers=head.headers,
        payload_digest=digest,
        payload_length=length,
    )


def _original(record: ForeignRecord, url: str) -> tuple[str, datetime | None]:
    target = record.get("warc-refers-to-target-uri").strip("<>")
    try:
        moment = read_iso(record.get("warc-refers-to-date"))
    except ValueError:
        return parse_url(target) if target else url, None
    return parse_url(target) if target else url, moment


def _head_bytes(record: ForeignRecord, *, optional: bool) -> bytes:
    head = bytearray()
    while line := record.block.line(MOST_HTTP_HEAD):
        head += line
        if is_end_of_head(line):
            return bytes(head)
        if len(head) >= MOST_HTTP_HEAD:
            raise InvalidRecord("Its HTTP head does not end.")
    if optional and not head:
        return b""
    return bytes(head) + b"\r\n"


def _body(record: ForeignRecord) -> BinaryIO:
    # Closed by whoever takes the exchange over.
    body: BinaryIO = BytesIO()
    if record.block.left > SPOOLED_BYTES:
        body = cast("BinaryIO", TemporaryFile(prefix="archiver-"))  # noqa: SIM115
    while piece := record.block.read(PIECE):
        body.write(piece)
    return body


def _pieces(body: BinaryIO) -> Iterator[bytes]:
    body.seek(0)
    while piece := body.read(PIECE):
        yield piece


def _record_id(given: str) -> RecordId:
    """The record's own id where it is a UUID, so that what refers to it still does."""
    try:
        return RecordId(f"urn:uuid:{UUID(given.removeprefix('urn:uuid:'))}")
    except ValueError:
        return new_record_id()


def _is_of(request: tuple[str, bytes], capture: ForeignCapture) -> bool:
    try:
        return parse_url(request[0]) == capture.exchange.url
    except InvalidUrl:
        return False


def _joined(capture: ForeignCapture, request: tuple[str, bytes]) -> ForeignCapture:
    framed = _FRAMED.search(request[1]) is not None
    return replace(
        capture, exchange=replace(capture.exchange, request=request[1]), is_framed=framed
    )


def mark_of(exchange: Exchange) -> tuple[str, str, PayloadDigest]:
    """What tells a capture from others: URL, timestamp, digest."""
    return exchange.url, to_timestamp(exchange.at), exchange.payload_digest
