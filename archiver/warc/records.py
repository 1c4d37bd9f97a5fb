"""WARC records as values, with their digests, dates and extension fields.

Most are on records that were imported: what another program wrote of one and ours had to change,
so that it is still known.
"""

import base64
import hashlib
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from enum import StrEnum
from typing import BinaryIO

from archiver.errors import InvalidRecord
from archiver.http.timestamps import in_utc, read_iso, write_iso
from archiver.model.capture import PayloadDigest, Provenance, RecordId, Way

IDS_AT_ONCE = 256
_VARIANTS = "89ab"
_random: list[str] = []


class RecordType(StrEnum):
    """The record types of ISO 28500 §5.5."""

    WARCINFO = "warcinfo"
    RESPONSE = "response"
    REQUEST = "request"
    REVISIT = "revisit"
    CONVERSION = "conversion"
    METADATA = "metadata"
    RESOURCE = "resource"
    CONTINUATION = "continuation"


@dataclass(frozen=True, slots=True)
class Record:
    """A record that is to be written.

    Attributes:
        type: of the record.
        id: its WARC-Record-ID, without angle brackets.
        date: its WARC-Date (aware, UTC, whole seconds).
        target_uri: its WARC-Target-URI, if it has one.
        content_type: of the block.
        prefix: the first bytes of the block.
        body: the rest of the block, seekable; None where ``prefix`` is all of it.
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


def new_record_id() -> RecordId:
    """A fresh WARC-Record-ID: a random UUID (RFC 9562 §5.4)."""
    drawn = _random_digits()
    variant = _VARIANTS[int(drawn[16], 16) & 3]
    return RecordId(
        f"urn:uuid:{drawn[:8]}-{drawn[8:12]}-4{drawn[13:16]}-{variant}{drawn[17:20]}-{drawn[20:]}"
    )


def _random_digits() -> str:
    """32 random hex digits; the system is asked for those of many ids at once."""
    try:
        return _random.pop()
    except IndexError:
        drawn = os.urandom(16 * IDS_AT_ONCE).hex()
        _random.extend(drawn[n : n + 32] for n in range(32, len(drawn), 32))
        return drawn[:32]


OURS = "sha256"
_LABELLED = re.compile(rf"{OURS}:[0-9a-f]{{64}}")
_KNOWN = frozenset({"sha256", "sha1", "md5", "sha512"})


def label(digest: "hashlib._Hash") -> PayloadDigest:
    """The field's value for a finished sha256: ``sha256:`` and 64 hex digits."""
    return PayloadDigest(f"{OURS}:{digest.hexdigest()}")


def is_ours(stated: str) -> bool:
    """Whether a field's value is of the form that ``label`` gives."""
    return _LABELLED.fullmatch(stated) is not None


def digest_of(pieces: Iterable[bytes]) -> tuple[PayloadDigest, int]:
    """The sha256 of bytes in pieces, and how many there are."""
    digest, length = hashlib.sha256(), 0
    for piece in pieces:
        digest.update(piece)
        length += len(piece)
    return label(digest), length


def digest_by(algorithm: str, pieces: Iterable[bytes]) -> str:
    """The digest of bytes in pieces by an algorithm that is known, as ``canonical`` has it."""
    digest = _begun(algorithm)
    for piece in pieces:
        digest.update(piece)
    return f"{algorithm}:{digest.hexdigest()}"


def canonical(stated: str) -> str:
    """A digest as it is compared: the algorithm, a colon, and hex digits.

    Raises:
        InvalidRecord: the algorithm is unknown, or the value is in no known encoding.
    """
    check = Check(stated)
    return f"{check.algorithm}:{check.wanted.hex()}"


def _begun(algorithm: str) -> "hashlib._Hash":
    begun: hashlib._Hash = getattr(hashlib, algorithm)(usedforsecurity=False)
    return begun


class Check:
    """A digest in the making, to be compared with what a field states, in hex or base32.

    Attributes:
        algorithm: its name.
        wanted: the bytes that are stated.

    Raises:
        InvalidRecord: the algorithm is unknown, or the value is in no known encoding.
    """

    def __init__(self, stated: str) -> None:
        name, _, value = stated.strip().partition(":")
        self.algorithm = name.lower().replace("-", "")
        if self.algorithm not in _KNOWN:
            raise InvalidRecord(f"The digest algorithm “{name[:40]}” is unknown.")
        self._digest = _begun(self.algorithm)
        self.wanted = _value(value.strip(), self._digest.digest_size)

    def update(self, data: bytes) -> None:
        """Take more bytes in."""
        self._digest.update(data)

    def holds(self) -> bool:
        """Whether the bytes so far have the digest that was stated."""
        return self._digest.digest() == self.wanted


def _value(text: str, size: int) -> bytes:
    try:
        if len(text) == 2 * size:
            return bytes.fromhex(text)
        text = text.rstrip("=")
        return base64.b32decode(text + "=" * (-len(text) % 8), casefold=True)
    except ValueError as error:
        raise InvalidRecord("The digest is in no encoding that is known.") from error


ORIGINAL_ID = "WARC-Archiver-Original-Record-ID"
"""The WARC-Record-ID that a record had, where another record has that id or it is no UUID."""
ORIGINAL_DIGEST = "WARC-Archiver-Original-Payload-Digest"
"""The WARC-Payload-Digest that a record had, where it is none of ours and holds."""
HEAD = "WARC-Archiver-Head"
SYNTHESISED = "synthesised"
"""Said of a block whose HTTP head was made here: there was none."""
ANSWERS = "WARC-Archiver-Answers"
"""Of a response that is not what its URL shows: the method of its request, or ``part``."""

ORIGIN = "WARC-Archiver-Origin"
"""Where a page came from that no site sent: a file of links that held it, and its format."""
SOURCE_URI = "WARC-Source-URI"
"""The memento of another archive that a record was made of, as pywb has it."""
CREATION_DATE = "WARC-Creation-Date"
"""When a record was made whose date is that of the capture it was made of, as pywb has it."""
HANDED_IN = "WARC-Archiver-Handed-In"
"""When somebody handed a page in that their own browser had saved."""

MOST_VALUE = 1000
_CARRIED = (
    *("WARC-Truncated", ORIGINAL_ID, HEAD, ORIGIN),
    *(SOURCE_URI, CREATION_DATE, HANDED_IN),
)


def carried(fields: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """The fields that a record keeps on its way in, from its fields by lower-case name."""
    return tuple(
        (name, one_line(fields[name.lower()])) for name in _CARRIED if name.lower() in fields
    )


def read_provenance(fields: Mapping[str, str]) -> Provenance | None:
    """Where a record came from, by its fields (names lower case); None where a site sent it."""
    source, origin = fields.get(SOURCE_URI.lower(), ""), fields.get(ORIGIN.lower(), "")
    if handed_in := fields.get(HANDED_IN.lower()):
        return Provenance(Way.HANDED_IN, origin, _moment(handed_in))
    if source.startswith(("http://", "https://")):
        return Provenance(Way.RESCUED, source, _moment(fields.get(CREATION_DATE.lower(), "")))
    return Provenance(Way.FROM_FILE, origin) if origin else None


def handed_in_field(at: datetime | None) -> tuple[tuple[str, str], ...]:
    """The field of a record that somebody handed in; none where nobody did."""
    return ((HANDED_IN, write_iso(at)),) if at else ()


def _moment(text: str) -> datetime | None:
    try:
        return read_iso(text)
    except ValueError:
        return None


def one_line(value: str) -> str:
    """A value as it can stand in a head: on one line, and bounded."""
    return " ".join(value.split())[:MOST_VALUE]


_W3C = re.compile(
    r"(\d{4})(?:-(\d{2})(?:-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:[.,]\d+)?)?)?)?)?"
    r" ?(Z|UTC|[+-]\d{2}:?\d{2})?",
    re.ASCII | re.IGNORECASE,
)
_DIGITS = re.compile(r"(\d{4})(\d{2})?(\d{2})?(\d{2})?(\d{2})?(\d{2})?\d*", re.ASCII)
_LEAP_SECOND = 60


def read_moment(text: str) -> datetime:
    """A date of any precision, or up to 14 digits: the first second it names, aware, UTC.

    A leap second is the one before it. Without a zone it is UTC, as the standard has it.

    >>> read_moment("2014-01"), read_moment("2016-12-31T23:59:60Z").second
    (datetime.datetime(2014, 1, 1, 0, 0, tzinfo=datetime.timezone.utc), 59)

    Raises:
        InvalidRecord: it is no date.
    """
    found = _W3C.fullmatch(text[:64].strip()) or _DIGITS.fullmatch(text[:64].strip())
    if not found:
        raise InvalidRecord(f"Its date, “{text[:64]}”, is none.")
    year, month, day, hour, minute, second, *zone = found.groups()
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
        raise InvalidRecord(f"Its date, {text[:64]}, is none: {error}.") from error
    return in_utc(moment)


def _zone(given: str | None = None) -> timezone:
    if not given or given[0] not in "+-":
        return UTC
    minutes = int(given[1:3]) * 60 + int(given[-2:])
    return timezone(timedelta(minutes=-minutes if given[0] == "-" else minutes))
