"""Captures, exchanges and the locations of their records."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import BinaryIO, NewType

Timestamp = NewType("Timestamp", str)
"""Time in UTC as 14 digits, ``YYYYMMDDhhmmss``, as in the Wayback Machine."""

HashUrl = NewType("HashUrl", str)
"""Identifier of an entry: the MD5 of its serialised URL as lower-case hex digits."""

PayloadDigest = NewType("PayloadDigest", str)
"""``sha256:`` and 64 hex digits: digest of the payload, the body without transfer coding."""

RecordId = NewType("RecordId", str)
"""``urn:uuid:…`` without angle brackets, as in WARC-Record-ID (ISO 28500 §5.2)."""


@dataclass(frozen=True, slots=True)
class Location:
    """Location of a record, which is one gzip member of a segment.

    Attributes:
        segment: name of the segment file in ``warc/``.
        offset: byte offset of the record in the segment.
        length: compressed size of the record in bytes.
    """

    segment: str
    offset: int
    length: int


@dataclass(frozen=True, slots=True)
class Capture:
    """Stored response to a request for one URL at one time.

    Attributes:
        url: the URL (URI-R), serialised, without fragment.
        timestamp: time when the URL was requested.
        status: HTTP status.
        media_type: media type without parameters, in lower case (``text/html``); empty if the
            response has none.
        payload_digest: digest of the payload.
        payload_length: size of the payload in bytes, before content codings are decoded.
        record_id: id of the response or revisit record.
        location: location of the response or revisit record.
        is_revisit: whether the record has no payload, because an earlier record contains the same
            payload.
        redirect_to: absolute URL of the Location header, if the status is 3xx.
        ip: IP address of the server.
        is_chunked: whether the record's block has chunk framing (RFC 9112 §7.1).
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
class KeyRange:
    """Range of captures in the order of SURT and time.

    Attributes:
        first_key: first SURT of the range.
        last_key: SURT at which the range ends; all SURTs in the range are smaller.
        first, last: first and last timestamp of the range as integers.
        newest_first: whether to read the range from its end.
    """

    first_key: str
    last_key: str
    first: int = 0
    last: int = 99991231235959
    newest_first: bool = False


@dataclass(slots=True)
class CaptureRef:
    """Reference from a snapshot record to a capture, which may not be stored yet."""

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


@dataclass(slots=True)
class Exchange:
    """Request and its response as fetched. The receiver must close ``body``.

    Attributes:
        url: the requested URL, serialised, without fragment.
        at: when the request started (aware, UTC, whole seconds).
        ip: IP address of the server.
        request: bytes of the request.
        head: status line and header fields of the final response, with the empty line after them.
        body: seekable file with the bytes after the head as received, including transfer coding.
        chunked: whether ``body`` has chunk framing (RFC 9112 §7.1).
        status: HTTP status.
        headers: (name in lower case, value decoded as Latin-1) of each field, in order.
        payload_digest: digest of the payload, the body without transfer coding.
        payload_length: size of the payload in bytes.
        fields: additional fields of the WARC record as (name, value).
        truncated: reason why ``body`` is incomplete; None if it is complete.
        is_shown: whether replay may use the response. Only a complete response to a GET request is
            replayed.
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
        """Return the value of the first header field with this lower-case name, if any."""
        for key, value in self.headers:
            if key == name:
                return value
        return None


class Acquisition(StrEnum):
    """Way in which a snapshot was acquired."""

    RECOVERED = "recovered"
    """From a public web archive."""
    UPLOADED = "uploaded"
    """As a page uploaded by a browser extension or a program."""
    FROM_FILE = "from-file"
    """From an imported file."""


@dataclass(frozen=True, slots=True)
class Provenance:
    """Origin of a snapshot that was not crawled.

    Attributes:
        acquisition: how the snapshot was acquired.
        source: URL of the memento in another archive, or name and format of the imported file.
        at: time when the snapshot was obtained (aware, UTC), if known.
    """

    acquisition: Acquisition
    source: str
    at: datetime | None = None

    @property
    def name(self) -> str:
        """Host of the other archive, or name of the imported file."""
        return (
            self.source.split("/", 3)[2]
            if self.acquisition is Acquisition.RECOVERED
            else self.source
        )
