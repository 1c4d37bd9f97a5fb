"""Revisits of others: they wait on disk until every payload of their file is in the archive."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from io import BytesIO
from typing import BinaryIO

from archiver.errors import InvalidRecord, InvalidUrl
from archiver.memento.timestamps import to_timestamp
from archiver.model.capture import PayloadDigest, Timestamp
from archiver.model.exchange import Exchange
from archiver.urls.parse import parse_url
from archiver.warc.digest import canonical
from archiver.warc.extension import HEAD, SYNTHESISED, carried, one_line
from archiver.warc.foreign import ForeignRecord
from archiver.warc.moments import read_moment
from archiver.wire.head import parse_head

NOT_MODIFIED_HEAD = b"HTTP/1.1 304 Not Modified\r\n\r\n"
_LATIN = "latin-1"


@dataclass(frozen=True, slots=True)
class ForeignRevisit:
    """A response whose payload is in an earlier record (ISO 28500 §6.7).

    Attributes:
        url: that was asked for.
        at: when, in Unix seconds.
        ip: the address that answered.
        request: the request's bytes; empty if unknown.
        head: the response's head; empty if the record does not tell.
        given_id: the WARC-Record-ID.
        digest: of the payload, as ``digest.canonical`` has it; empty where none that is known.
        refers_to_id: the record id of the original; empty if not told.
        refers_to_url: its URL; empty if not told.
        refers_to_date: when that was asked for; empty if not told.
        is_not_modified: the server said that the payload was the same, and it was not compared.
        is_framed: whether a browser asked for it to put it into another page.
        fields: named fields that its record keeps.
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
        """When it was asked for."""
        return to_timestamp(datetime.fromtimestamp(self.at, UTC))


@dataclass(frozen=True, slots=True)
class Payload:
    """What a revisit shares with an original.

    Attributes:
        digest: of the payload.
        length: bytes of it.
        head: of the original's response.
        body: the payload itself, where the revisit's record must hold it; None where it need not.
    """

    digest: PayloadDigest
    length: int
    head: bytes = b""
    body: BinaryIO | None = None


def read_revisit(record: ForeignRecord, url: str, head: bytes) -> ForeignRevisit:
    """A revisit record as a value.

    Raises:
        InvalidRecord: its head is no HTTP response.
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
        fields=carried(record.fields),
    )


def exchange_of(revisit: ForeignRevisit, payload: Payload) -> Exchange:
    """The exchange that a revisit is, once its payload is known.

    Raises:
        InvalidRecord: the head is no HTTP response.
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
    """A revisit as a line that can be put aside."""
    document = {each.name: getattr(revisit, each.name) for each in fields(revisit)}
    document |= {"request": revisit.request.decode(_LATIN), "head": revisit.head.decode(_LATIN)}
    return json.dumps(document).encode() + b"\n"


def read_lines(lines: Iterator[bytes]) -> Iterator[ForeignRevisit]:
    """The revisits that were put aside."""
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
        return canonical(record.get("warc-payload-digest"))
    except InvalidRecord:
        return ""


def _url(given: str) -> str:
    try:
        return parse_url(given.strip("<>")) if given else ""
    except InvalidUrl:
        return ""


def _date(given: str) -> str:
    try:
        return to_timestamp(read_moment(given)) if given else ""
    except InvalidRecord:
        return ""
