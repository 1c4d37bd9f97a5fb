"""WARC records: values, digests, dates and extension fields.

Most extension fields are for imported records. They preserve values of the original record that had
to be changed.
"""

import base64
import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from enum import StrEnum
from random import Random
from typing import BinaryIO

from archiver.errors import InvalidRecord
from archiver.http.timestamps import in_utc, read_iso, write_iso
from archiver.model.capture import Acquisition, PayloadDigest, Provenance, RecordId


class RecordType(StrEnum):
    """Record types (ISO 28500 §5.5)."""

    WARCINFO = "warcinfo"
    RESPONSE = "response"
    REQUEST = "request"
    REVISIT = "revisit"
    CONVERSION = "conversion"
    METADATA = "metadata"
    RESOURCE = "resource"
    CONTINUATION = "continuation"


@dataclass(slots=True)
class Record:
    """Record to be written.

    Attributes:
        type: record type.
        id: WARC-Record-ID without angle brackets.
        date: WARC-Date (aware, UTC, whole seconds).
        target_uri: WARC-Target-URI, if any.
        content_type: media type of the block.
        prefix: first bytes of the block.
        body: rest of the block, seekable; None if ``prefix`` is the whole block.
        fields: further named fields, in order.
    """

    type: RecordType
    id: RecordId
    date: datetime
    target_uri: str | None
    content_type: str
    prefix: bytes
    body: BinaryIO | None = None
    fields: tuple[tuple[str, str], ...] = ()


_random = Random()  # noqa: S311 - ids are not secret


def new_record_id() -> RecordId:
    """Return a new WARC-Record-ID: a random UUID (RFC 9562 §5.4).

    It need not be unguessable, so the system is not asked for random bytes, which takes longer.
    """
    bits = f"{_random.getrandbits(128):032x}"
    return RecordId(f"urn:uuid:{bits[:8]}-{bits[8:12]}-4{bits[13:16]}-a{bits[17:20]}-{bits[20:]}")


OURS = "sha256"
_SHA256_FIELD = re.compile(rf"{OURS}:[0-9a-f]{{64}}")
_KNOWN = frozenset({"sha256", "sha1", "md5", "sha512"})


def sha256_field(digest: "hashlib._Hash") -> PayloadDigest:
    """Return a SHA-256 digest as a field value: ``sha256:`` and 64 hex digits."""
    return PayloadDigest(f"{OURS}:{digest.hexdigest()}")


def is_sha256_field(value: str) -> bool:
    """Return whether a field value has the form that ``sha256_field`` returns."""
    return _SHA256_FIELD.fullmatch(value) is not None


def digest_of(pieces: Iterable[bytes]) -> tuple[PayloadDigest, int]:
    """Return the sha256 and the length of a payload in chunks."""
    digest, length = hashlib.sha256(), 0
    for piece in pieces:
        digest.update(piece)
        length += len(piece)
    return sha256_field(digest), length


def digest_with(algorithm: str, pieces: Iterable[bytes]) -> str:
    """Return a payload's digest in the form of ``canonical_digest``.

    ``algorithm`` must be one that ``DigestCheck`` supports.
    """
    digest = _new_hash(algorithm)
    for piece in pieces:
        digest.update(piece)
    return f"{algorithm}:{digest.hexdigest()}"


def canonical_digest(value: str) -> str:
    """Normalise a digest for comparison: algorithm, colon, hex digits.

    Raises:
        InvalidRecord: the algorithm or the encoding of the value is unknown.
    """
    check = DigestCheck(value)
    return f"{check.algorithm}:{check.stated.hex()}"


def _new_hash(algorithm: str) -> "hashlib._Hash":
    digest: hashlib._Hash = getattr(hashlib, algorithm)(usedforsecurity=False)
    return digest


class DigestCheck:
    """Incremental comparison of bytes with the hex or base32 digest in a WARC field.

    Attributes:
        algorithm: name of the algorithm.
        stated: the digest in the field, decoded to bytes.

    Raises:
        InvalidRecord: the algorithm or the encoding of the value is unknown.
    """

    def __init__(self, expected: str) -> None:
        name, _, value = expected.strip().partition(":")
        self.algorithm = name.lower().replace("-", "")
        if self.algorithm not in _KNOWN:
            raise InvalidRecord(f"The digest algorithm “{name[:40]}” is unknown.")
        self._digest = _new_hash(self.algorithm)
        self.stated = _digest_bytes(value.strip(), self._digest.digest_size)

    def update(self, data: bytes) -> None:
        """Add the next bytes to the computed digest."""
        self._digest.update(data)

    def matches(self) -> bool:
        """Return whether the computed digest of all added bytes equals ``stated``."""
        return self._digest.digest() == self.stated


def _digest_bytes(text: str, size: int) -> bytes:
    try:
        if len(text) == 2 * size:
            return bytes.fromhex(text)
        text = text.rstrip("=")
        return base64.b32decode(text + "=" * (-len(text) % 8), casefold=True)
    except ValueError as error:
        raise InvalidRecord("The digest has an unknown encoding.") from error


ORIGINAL_ID = "WARC-Archiver-Original-Record-ID"
"""Original WARC-Record-ID, if it was already used here or is not a UUID."""
ORIGINAL_DIGEST = "WARC-Archiver-Original-Payload-Digest"
"""Original WARC-Payload-Digest, if it was correct but in another form."""
HEAD = "WARC-Archiver-Head"
SYNTHESISED = "synthesised"
"""Value of ``HEAD`` if archiver added the HTTP head, because the original block had none."""
NOT_REPLAYED = "WARC-Archiver-Answers"
"""Field of responses that are not replayed.

The value is ``part`` for a partial response; otherwise the method of the request, which is not GET.
"""

ORIGIN = "WARC-Archiver-Origin"
"""Field of pages from an imported or uploaded file: name and format of the file."""
SOURCE_URI = "WARC-Source-URI"
"""Field of records recovered from another archive: the URL of the memento, as in pywb."""
CREATION_DATE = "WARC-Creation-Date"
"""Field of recovered records: when the record was written, as in pywb.

The WARC-Date of such a record is the time of the original capture.
"""
UPLOADED_AT = "WARC-Archiver-Handed-In"
"""Field of pages that the user's own browser saved: when the user uploaded the page."""

MAX_VALUE = 1000
_CARRIED = (
    *("WARC-Truncated", ORIGINAL_ID, HEAD, ORIGIN),
    *(SOURCE_URI, CREATION_DATE, UPLOADED_AT),
)


def imported_fields(fields: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Return the fields that an imported record keeps; ``fields`` has lower-case names."""
    return tuple(
        (name, one_line(fields[name.lower()])) for name in _CARRIED if name.lower() in fields
    )


def read_provenance(fields: Mapping[str, str]) -> Provenance | None:
    """Return the origin of a record; None if it was crawled. ``fields`` has lower-case names."""
    source, origin = fields.get(SOURCE_URI.lower(), ""), fields.get(ORIGIN.lower(), "")
    if uploaded_at := fields.get(UPLOADED_AT.lower()):
        return Provenance(Acquisition.UPLOADED, origin, _moment(uploaded_at))
    if source.startswith(("http://", "https://")):
        return Provenance(
            Acquisition.RECOVERED, source, _moment(fields.get(CREATION_DATE.lower(), ""))
        )
    return Provenance(Acquisition.FROM_FILE, origin) if origin else None


def upload_field(at: datetime | None) -> tuple[tuple[str, str], ...]:
    """Return the field of an uploaded page's record; empty if ``at`` is None."""
    return ((UPLOADED_AT, write_iso(at)),) if at else ()


def _moment(text: str) -> datetime | None:
    try:
        return read_iso(text)
    except ValueError:
        return None


def one_line(value: str) -> str:
    """Shorten a value and put it on one line, for use as a field value."""
    return " ".join(value.split())[:MAX_VALUE]


_W3C = re.compile(
    r"(\d{4})(?:-(\d{2})(?:-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:[.,]\d+)?)?)?)?)?"
    r" ?(Z|UTC|[+-]\d{2}:?\d{2})?",
    re.ASCII | re.IGNORECASE,
)
_DIGITS = re.compile(r"(\d{4})(\d{2})?(\d{2})?(\d{2})?(\d{2})?(\d{2})?\d*", re.ASCII)
_LEAP_SECOND = 60


def read_moment(text: str) -> datetime:
    """Parse a W3C date of any precision, or 4 to 14 digits; return its first second in UTC.

    A leap second becomes the second before. Dates without a time zone are UTC, as in the standard.

    >>> read_moment("2014-01"), read_moment("2016-12-31T23:59:60Z").second
    (datetime.datetime(2014, 1, 1, 0, 0, tzinfo=datetime.timezone.utc), 59)

    Raises:
        InvalidRecord: the text is not a date.
    """
    match = _W3C.fullmatch(text[:64].strip()) or _DIGITS.fullmatch(text[:64].strip())
    if not match:
        raise InvalidRecord(f"Its date “{text[:64]}” is invalid.")
    year, month, day, hour, minute, second, *zone = match.groups()
    seconds = int(second or 0)
    try:
        moment = datetime(
            int(year),
            int(month or 1),
            int(day or 1),
            int(hour or 0),
            int(minute or 0),
            seconds - (seconds == _LEAP_SECOND),
            tzinfo=_zone(*zone),
        )
    except ValueError as error:
        raise InvalidRecord(f"Its date {text[:64]} is invalid: {error}.") from error
    return in_utc(moment)


def _zone(text: str | None = None) -> timezone:
    if not text or text[0] not in "+-":
        return UTC
    minutes = int(text[1:3]) * 60 + int(text[-2:])
    return timezone(timedelta(minutes=-minutes if text[0] == "-" else minutes))
