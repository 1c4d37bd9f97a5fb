"""What records that others wrote say, each for itself: captures, revisits, entry records.

Blocking, and bounded: a body of some size lies in a temporary file, one above the limit is passed
over.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from io import BytesIO
from typing import BinaryIO, TypeGuard

from archiver.errors import ArchiverError, InvalidRecord, UnreadableFile
from archiver.ingest.likenesses import MOST_BYTES, ForeignLikeness, is_likeness
from archiver.ingest.revisits import ForeignRevisit, read_revisit
from archiver.model.capture import RecordId
from archiver.model.exchange import Exchange
from archiver.scratch import scratch_file
from archiver.urls.parse import parse_url
from archiver.warc.digest import canonical, digest_by, digest_of, is_ours
from archiver.warc.extension import ANSWERS, HEAD, ORIGINAL_DIGEST, SYNTHESISED, carried, one_line
from archiver.warc.foreign import ForeignRecord
from archiver.wire.chunked import dechunk
from archiver.wire.head import is_end_of_head, parse_head

MOST_HTTP_HEAD = 256 << 10
MOST_ENTRY_RECORD = 4 << 20
SPOOLED_BYTES = 1 << 20
PIECE = 64 << 10
ENTRY_RECORD_PREFIX = "urn:archiver:"
_HTTP = ("http://", "https://")
_HTTP_TYPE = "application/http"
_NO_RESPONSE = ("ftp:", "ftps:", "gopher:", "file:")
"""Schemes whose records hold what somebody may look for, and that can't be replayed."""


@dataclass(frozen=True, slots=True)
class ForeignCapture:
    """A response, with its payload.

    Attributes:
        exchange: what crossed the wire, as far as the file tells. The receiver closes its body.
        given_id: the WARC-Record-ID, whatever it is; empty if there was none.
        stated_digest: of the payload, as ``digest.canonical`` has it and not as ours are; empty
            where none held.
        is_framed: whether a browser asked for it to put it into another page.
    """

    exchange: Exchange
    given_id: str
    stated_digest: str = ""
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


@dataclass(frozen=True, slots=True)
class PassedOver:
    """A record that is no capture, and nothing that is kept: its type."""

    kind: str


Found = (
    ForeignCapture | ForeignRevisit | ForeignEntryRecord | ForeignLikeness | Unusable | PassedOver
)


def is_capture(found: Found) -> TypeGuard[ForeignCapture]:
    """Whether something is what its URL shows."""
    return isinstance(found, ForeignCapture) and found.exchange.is_shown


def read_found(record: ForeignRecord, *, most_bytes: int) -> Found:
    """What a record says; bodies larger than ``most_bytes`` are not kept."""
    try:
        return _read(record, most_bytes)
    except UnreadableFile:
        raise
    except (ArchiverError, ValueError, ArithmeticError) as error:
        return Unusable(record.target_uri or f"the record at byte {record.place:,}", str(error))


def _read(record: ForeignRecord, most_bytes: int) -> Found:
    target = record.target_uri.lower()
    if record.type == "metadata" and target.startswith(ENTRY_RECORD_PREFIX):
        return ForeignEntryRecord(record.block.read(MOST_ENTRY_RECORD))
    if target.startswith(ENTRY_RECORD_PREFIX) and is_likeness(record):
        return ForeignLikeness(RecordId(record.id), record.block.read(MOST_BYTES))
    read = _READ.get(record.type)
    if read and target.startswith(_NO_RESPONSE):
        raise InvalidRecord("Only what http and https addresses gave is kept.")
    if read is None or not target.startswith(_HTTP):
        return PassedOver(record.type)
    url = parse_url(record.target_uri)
    if record.block.left > most_bytes:
        return Unusable(url, f"Its record is larger than {most_bytes:,} bytes.")
    return read(record, url)


def _revisit(record: ForeignRecord, url: str) -> ForeignRevisit:
    return read_revisit(record, url, _head_bytes(record))


def _response(record: ForeignRecord, url: str) -> ForeignCapture:
    start = record.block.line(MOST_HTTP_HEAD)
    if start.startswith(b"HTTP/") or record.get("content-type").startswith(_HTTP_TYPE):
        return _capture(record, url, _head_bytes(record, start), carried(record.fields))
    return _resource(record, url, start)


def _resource(record: ForeignRecord, url: str, start: bytes = b"") -> ForeignCapture:
    """What was had without HTTP (ISO 28500 §6.3), or kept without its head, with a head for it."""
    kind = one_line(record.get("content-type")) or "application/octet-stream"
    length = len(start) + record.block.left
    head = f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n\r\n"
    fields = (*carried(record.fields), (HEAD, SYNTHESISED))
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
    stated = _stated_digest(record, body, is_chunked=head.is_chunked)
    if stated:
        fields += ((ORIGINAL_DIGEST, stated),)
    if answers := one_line(record.get(ANSWERS.lower())):
        fields += ((ANSWERS, answers),)
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
        is_shown=not answers,
    )
    return ForeignCapture(exchange, record.id, stated)


def _stated_digest(record: ForeignRecord, body: BinaryIO, *, is_chunked: bool) -> str:
    """The payload digest that a record states, if it holds: of the body, or without its framing.

    Most of the field's tools digest what they wrote, chunk framing included.
    """
    for name in ("warc-payload-digest", ORIGINAL_DIGEST.lower()):
        try:
            stated = canonical(record.get(name))
        except InvalidRecord:
            continue
        algorithm = stated.partition(":")[0]
        if is_ours(stated):
            continue
        if digest_by(algorithm, pieces_of(body)) == stated:
            return stated
        if is_chunked and digest_by(algorithm, dechunk(pieces_of(body))) == stated:
            return stated
    return ""


def _head_bytes(record: ForeignRecord, start: bytes = b"") -> bytes:
    line, head = start, bytearray(start)
    while record.block.left and not (line and is_end_of_head(line)):
        line = record.block.line(MOST_HTTP_HEAD)
        head += line
        if len(head) >= MOST_HTTP_HEAD:
            raise InvalidRecord("Its HTTP head does not end.")
    return bytes(head)


def _body(record: ForeignRecord, start: bytes) -> BinaryIO:
    # Closed by whoever takes the exchange over.
    body: BinaryIO = BytesIO()
    if record.block.left > SPOOLED_BYTES:
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
    """A body from its start, piece by piece; one reading at a time."""
    body.seek(0)
    while piece := body.read(PIECE):
        yield piece


_READ: dict[str, Callable[[ForeignRecord, str], ForeignCapture | ForeignRevisit]] = {
    "response": _response,
    "resource": _resource,
    "revisit": _revisit,
}
