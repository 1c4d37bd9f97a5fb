"""Makes records of what was fetched, derived and said (ISO 28500 §6)."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any

from archiver.model.capture import RecordId
from archiver.model.exchange import Exchange
from archiver.warc.record import Record, RecordType, new_record_id
from archiver.wire.moments import write_iso

_COMPACT = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"))
SAME_PAYLOAD = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
NOT_MODIFIED = "http://netpreserve.org/warc/1.1/revisit/server-not-modified"


@dataclass(frozen=True, slots=True)
class Original:
    """The earlier record that holds a payload: its id, URL and date."""

    record_id: RecordId
    url: str
    date: datetime


def warcinfo(*, filename: str, software: str, date: datetime) -> Record:
    """The record that opens a segment (ISO 28500 §6.2)."""
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
    """A response as it crossed the wire (§6.3).

    A block that carries chunk framing states no WARC-Payload-Digest: the payload is the body
    without it, and the field's checker digests the framing too.
    """
    fields = [_beside(request_id), ("WARC-IP-Address", exchange.ip), *exchange.fields]
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
    """A response whose payload is stored already: only its head is (§6.7.2)."""
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
            _beside(request_id),
            ("WARC-IP-Address", exchange.ip),
            *exchange.fields,
        ),
    )


def request(exchange: Exchange, *, id: RecordId, response_id: RecordId) -> Record:
    """A request as it crossed the wire (§6.4)."""
    return Record(
        type=RecordType.REQUEST,
        id=id,
        date=exchange.at,
        target_uri=exchange.url,
        content_type="application/http;msgtype=request",
        prefix=exchange.request,
        fields=(_beside(response_id),),
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
    """Another form of a record's payload, made from it (§6.8)."""
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
    """What is known of a URL or of another record, as JSON (§6.6)."""
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


def _beside(other: RecordId | None) -> tuple[str, str]:
    """The field that names the other half of an exchange; a field without a value is left out."""
    return "WARC-Concurrent-To", f"<{other}>" if other else ""


@lru_cache(256)
def iso_date(moment: datetime) -> str:
    """A WARC-Date to the second (§5.4): the precision of a memento's timestamp."""
    return write_iso(moment)
