"""Building and writing of WARC records.

The functions that build records are pure.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from io import BytesIO
from typing import Any, BinaryIO, Protocol

from isal import igzip_lib, isal_zlib

from archiver.http.timestamps import write_iso
from archiver.model.capture import Exchange, RecordId
from archiver.warc.reader import StoredRecord
from archiver.warc.records import Record, RecordType, new_record_id, sha256_field

_COMPACT = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"))
SAME_PAYLOAD = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
NOT_MODIFIED = "http://netpreserve.org/warc/1.1/revisit/server-not-modified"


@dataclass(frozen=True, slots=True)
class Original:
    """Earlier record that holds a payload: its id, URL and date."""

    record_id: RecordId
    url: str
    date: datetime


def warcinfo(*, filename: str, software: str, date: datetime) -> Record:
    """Return the warcinfo record for the start of a segment (ISO 28500 §6.2)."""
    fields = {
        "software": software,
        "format": "WARC File Format 1.1",
        "conformsTo": "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/",
    }
    block = "".join(f"{name}: {value}\r\n" for name, value in fields.items()).encode()
    named = (("WARC-Filename", filename),)
    return Record(
        RecordType.WARCINFO,
        new_record_id(),
        date,
        None,
        "application/warc-fields",
        block,
        fields=named,
    )


def response(exchange: Exchange, *, id: RecordId, request_id: RecordId | None) -> Record:
    """Return a response record as received (§6.3).

    The record of a chunked body has no WARC-Payload-Digest: the payload is the body without the
    chunk framing, but validators compute the digest with the framing.
    """
    fields = [_concurrent_to(request_id), ("WARC-IP-Address", exchange.ip), *exchange.fields]
    if not exchange.chunked:
        fields.append(("WARC-Payload-Digest", exchange.payload_digest))
    if exchange.truncated:
        fields.append(("WARC-Truncated", exchange.truncated))
    return Record(
        type=RecordType.RESPONSE,
        id=id,
        date=exchange.at,
        target_uri=exchange.url,
        content_type="application/http;msgtype=response",
        prefix=exchange.head,
        body=exchange.body,
        fields=tuple(fields),
    )


def revisit(
    exchange: Exchange, *, id: RecordId, request_id: RecordId | None, refers_to: Original
) -> Record:
    """Return a revisit record: the head of a response whose payload is already stored (§6.7.2)."""
    return Record(
        type=RecordType.REVISIT,
        id=id,
        date=exchange.at,
        target_uri=exchange.url,
        content_type="application/http;msgtype=response",
        prefix=exchange.head,
        fields=(
            ("WARC-Profile", NOT_MODIFIED if exchange.status == 304 else SAME_PAYLOAD),
            ("WARC-Refers-To", f"<{refers_to.record_id}>"),
            ("WARC-Refers-To-Target-URI", refers_to.url),
            ("WARC-Refers-To-Date", iso_date(refers_to.date)),
            ("WARC-Payload-Digest", exchange.payload_digest),
            _concurrent_to(request_id),
            ("WARC-IP-Address", exchange.ip),
            *exchange.fields,
        ),
    )


def request(exchange: Exchange, *, id: RecordId, response_id: RecordId) -> Record:
    """Return a request record as sent (§6.4)."""
    return Record(
        type=RecordType.REQUEST,
        id=id,
        date=exchange.at,
        target_uri=exchange.url,
        content_type="application/http;msgtype=request",
        prefix=exchange.request,
        fields=(_concurrent_to(response_id),),
    )


def conversion(
    *,
    id: RecordId,
    url: str,
    date: datetime,
    refers_to: RecordId,
    content_type: str,
    block: bytes,
) -> Record:
    """Return a conversion record: another form of a record's payload (§6.8)."""
    return Record(
        RecordType.CONVERSION,
        id,
        date,
        url,
        content_type,
        block,
        fields=(("WARC-Refers-To", f"<{refers_to}>"),),
    )


def metadata(
    *,
    id: RecordId,
    url: str,
    date: datetime,
    document: Mapping[str, Any],
    refers_to: RecordId | None = None,
) -> Record:
    """Return a metadata record: JSON about a URL or about another record (§6.6)."""
    block = _COMPACT.encode(document)
    return Record(
        RecordType.METADATA,
        id,
        date,
        url,
        "application/json",
        block.encode(),
        fields=(("WARC-Refers-To", f"<{refers_to}>"),) if refers_to else (),
    )


def _concurrent_to(other: RecordId | None) -> tuple[str, str]:
    """Return the field that names the other record of an exchange; empty if there is none."""
    return "WARC-Concurrent-To", f"<{other}>" if other else ""


iso_date = lru_cache(256)(write_iso)
"""Format a WARC-Date to the second (§5.4), the precision of memento timestamps.

Cached, because many records of a batch have the same date.
"""


_OF_EVERY_RECORD = frozenset(
    "warc-type warc-record-id warc-date warc-target-uri warc-block-digest content-type "
    "content-length".split()
)
_OF_REVISITS = frozenset(
    "warc-profile warc-refers-to warc-refers-to-target-uri warc-refers-to-date".split()
)
_DIGEST = "warc-payload-digest"


def as_response(
    revisit: StoredRecord, head: bytes, body: BinaryIO, *, digest: str, is_chunked: bool
) -> Record:
    """Return the full response record that replaces a revisit record.

    Args:
        revisit: the revisit record; its block is not read.
        head: the response head.
        body: the body with the transfer coding that the head states.
        digest: the payload digest.
        is_chunked: whether the body has chunk framing; then the record has no payload digest.
    """
    fields = _kept_fields(revisit, without=_OF_REVISITS | {_DIGEST})
    if not is_chunked:
        fields[_header_name(_DIGEST)] = digest
    return _replaced(revisit, RecordType.RESPONSE, head, body, fields)


def referring_to(revisit: StoredRecord, block: bytes, original: Original) -> Record:
    """Return a revisit record that refers to another original."""
    fields = _kept_fields(revisit, without=frozenset())
    fields |= {
        "WARC-Profile": revisit.get("warc-profile") or SAME_PAYLOAD,
        "WARC-Refers-To": f"<{original.record_id}>",
        "WARC-Refers-To-Target-URI": original.url,
        "WARC-Refers-To-Date": iso_date(original.date),
    }
    return _replaced(revisit, RecordType.REVISIT, block, BytesIO(), fields)


def with_block(record: StoredRecord, block: bytes) -> Record:
    """Return a record with another block."""
    fields = _kept_fields(record, without=frozenset({_DIGEST}))
    return _replaced(record, record.type, block, BytesIO(), fields)


def _replaced(
    record: StoredRecord, kind: RecordType, head: bytes, body: BinaryIO, fields: Mapping[str, str]
) -> Record:
    """Return a record with the id, date and URI of another one, and a new block."""
    return Record(
        type=kind,
        id=record.id,
        date=record.date,
        target_uri=record.target_uri,
        content_type=record.content_type or "application/http;msgtype=response",
        prefix=head,
        body=body,
        fields=tuple(fields.items()),
    )


def _kept_fields(record: StoredRecord, *, without: frozenset[str]) -> dict[str, str]:
    """Return the fields of a record that are not attributes of ``Record``, except ``without``."""
    dropped = _OF_EVERY_RECORD | without
    names = (name for name in record.fields if name not in dropped)
    return {_header_name(name): record.fields[name] for name in names}


def _header_name(name: str) -> str:
    """Return a field name, capitalised as in the standard."""
    upper = {"warc", "ip", "id", "uri"}
    return "-".join(
        each.upper() if each in upper else each.capitalize() for each in name.split("-")
    )


class Sink(Protocol):
    """Writable destination for bytes."""

    def write(self, data: bytes, /) -> int:
        """Write all of ``data`` and return the number of bytes."""


PIECE = 1 << 20
LEVEL = 2
_GZIP = 31
_END = b"\r\n\r\n"


def write_record(record: Record, sink: Sink) -> int:
    """Write one record and return its compressed size. Reads ``record.body`` twice."""
    digest, length = hashlib.sha256(record.prefix), len(record.prefix)
    for piece in _body(record):
        digest.update(piece)
        length += len(piece)
    head = _head(record, sha256_field(digest), length)
    if length <= PIECE:
        return sink.write(_small(head, record))
    return _write_large(head, record, sink)


def _small(head: bytes, record: Record) -> bytes:
    whole = b"".join((head, record.prefix, *_body(record), _END))
    return igzip_lib.compress(whole, LEVEL, igzip_lib.COMP_GZIP)


def _write_large(head: bytes, record: Record, sink: Sink) -> int:
    packer = isal_zlib.compressobj(level=LEVEL, wbits=_GZIP)
    written = sink.write(packer.compress(head + record.prefix))
    for piece in _body(record):
        written += sink.write(packer.compress(piece))
    return written + sink.write(packer.compress(_END) + packer.flush())


def _body(record: Record) -> Iterator[bytes]:
    if record.body is None:
        return
    record.body.seek(0)
    while piece := record.body.read(PIECE):
        yield piece


def _head(record: Record, block_digest: str, length: int) -> bytes:
    fields = [
        ("WARC-Type", record.type.value),
        ("WARC-Record-ID", f"<{record.id}>"),
        ("WARC-Date", iso_date(record.date)),
    ]
    if record.target_uri:
        fields.append(("WARC-Target-URI", record.target_uri))
    fields += [
        *record.fields,
        ("WARC-Block-Digest", block_digest),
        ("Content-Type", record.content_type),
        ("Content-Length", str(length)),
    ]
    lines = "".join([f"{name}: {value}\r\n" for name, value in fields if value])
    return f"WARC/1.1\r\n{lines}\r\n".encode()
