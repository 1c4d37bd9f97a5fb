"""Captures, exchanges and where their records are stored."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import BinaryIO, NewType

Timestamp = NewType("Timestamp", str)
"""14 digits, UTC: ``YYYYMMDDhhmmss``, the Wayback Machine's form."""

HashUrl = NewType("HashUrl", str)
"""Lower-case hex MD5 of a serialised URL without its fragment."""

PayloadDigest = NewType("PayloadDigest", str)
"""``sha256:`` and 64 hex digits, over the payload: the body without its transfer coding."""

RecordId = NewType("RecordId", str)
"""``urn:uuid:…`` without angle brackets, as in WARC-Record-ID (ISO 28500 §5.2)."""


@dataclass(frozen=True, slots=True)
class Location:
    """Position of a record: one gzip member.

    Attributes:
        segment: file name inside ``warc/``.
        offset: byte offset in the file.
        length: compressed bytes of the member.
    """

    segment: str
    offset: int
    length: int


@dataclass(frozen=True, slots=True)
class Capture:
    """One row of the index over response and revisit records.

    Attributes:
        url: the URI-R, serialised, without fragment.
        timestamp: when it was fetched.
        status: the HTTP status.
        media_type: essence of Content-Type, lower case (``text/html``); empty if none was sent.
        payload_digest: over the payload.
        payload_length: bytes of the payload, with content codings.
        record_id: of the response or revisit record.
        location: of that record.
        is_revisit: the record has no payload; an earlier record with this digest does.
        redirect_to: absolute URL of the Location header of a 3xx, else None.
        ip: the server's IP address.
        is_chunked: its record's block carries chunk framing (RFC 9112 §7.1).
    """

    url: str
    timestamp: Timestamp
    status: int
    media_type: str
    payload_digest: PayloadDigest
    payload_length: int
    record_id: RecordId
    location: Location
    is_revisit: bool = False
    redirect_to: str | None = None
    ip: str = ""
    is_chunked: bool = False


@dataclass(frozen=True, slots=True)
class CaptureRef:
    """Reference to a capture that is stored or about to be, as a snapshot needs it."""

    record_id: RecordId
    url: str
    timestamp: Timestamp
    status: int
    media_type: str
    payload_digest: PayloadDigest

    @classmethod
    def of(cls, capture: Capture) -> "CaptureRef":
        """Return the reference to a capture."""
        return cls(
            record_id=capture.record_id,
            url=capture.url,
            timestamp=capture.timestamp,
            status=capture.status,
            media_type=capture.media_type,
            payload_digest=capture.payload_digest,
        )


class Truncation(StrEnum):
    """The values of WARC-Truncated (ISO 28500 §5.13)."""

    LENGTH = "length"
    TIME = "time"
    DISCONNECT = "disconnect"
    UNSPECIFIED = "unspecified"


@dataclass(frozen=True, slots=True)
class Exchange:
    """A fetched request and response. The receiver closes ``body``.

    Attributes:
        url: the URL requested, serialised, without fragment.
        at: when the request started (aware, UTC, whole seconds).
        ip: the server's IP address.
        request: the request's bytes, including its body if any.
        head: the final response's status line and header fields with the closing empty line.
        body: the bytes after the head as received, including transfer coding; seekable.
        chunked: whether ``body`` has chunk framing (RFC 9112 §7.1).
        status: the HTTP status.
        headers: (name, value) in order, names lower case, values latin-1 decoded.
        payload_digest: of the body without transfer coding, with content codings.
        payload_length: bytes of that payload.
        fields: additional named fields of its record.
        truncated: why ``body`` is incomplete, if it is.
        is_shown: whether replay may use it: the complete answer to a GET.
    """

    url: str
    at: datetime
    ip: str
    request: bytes
    head: bytes
    body: BinaryIO
    chunked: bool
    status: int
    headers: tuple[tuple[str, str], ...]
    payload_digest: PayloadDigest
    payload_length: int
    fields: tuple[tuple[str, str], ...] = ()
    truncated: Truncation | None = None
    is_shown: bool = True

    def header(self, name: str) -> str | None:
        """Return the first field of that lower-case name."""
        for key, value in self.headers:
            if key == name:
                return value
        return None


class Way(StrEnum):
    """How a snapshot was obtained."""

    RESCUED = "rescued"
    HANDED_IN = "handed-in"
    FROM_FILE = "from-file"


@dataclass(frozen=True, slots=True)
class Provenance:
    """Origin of a snapshot that was not crawled.

    Attributes:
        way: how it was obtained.
        source: the memento of another archive, or the name and format of a file.
        at: when it was obtained (aware, UTC), if known.
    """

    way: Way
    source: str
    at: datetime | None = None

    @property
    def name(self) -> str:
        """Host of the archive, or name of the file."""
        return self.source.split("/", 3)[2] if self.way is Way.RESCUED else self.source
