"""A capture: one response of one URL at one moment, and where its record lies."""

from dataclasses import dataclass
from typing import NewType

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
    """Where a record lies: one gzip member.

    Attributes:
        segment: the file's name inside ``warc/``.
        offset: bytes from its start.
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
        payload_length: bytes of the payload, content codings left on.
        record_id: of the response or revisit record.
        location: of that record.
        is_revisit: the record has no payload; the earlier one with this digest has.
        redirect_to: absolute URL of the Location header of a 3xx, else None.
        ip: the address it came from.
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
    """A capture that is on disk or on its way there: what a snapshot needs to point at it."""

    record_id: RecordId
    url: str
    timestamp: Timestamp
    status: int
    media_type: str
    payload_digest: PayloadDigest

    @classmethod
    def of(cls, capture: Capture) -> "CaptureRef":
        """The reference to a capture."""
        return cls(
            record_id=capture.record_id,
            url=capture.url,
            timestamp=capture.timestamp,
            status=capture.status,
            media_type=capture.media_type,
            payload_digest=capture.payload_digest,
        )
