"""A WARC record as a value."""

import os
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import BinaryIO
from uuid import UUID

from archiver.model.capture import RecordId

IDS_AT_ONCE = 256
_random: list[bytes] = []


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
    return RecordId(f"urn:uuid:{UUID(bytes=_random_bytes(), version=4)}")


def _random_bytes() -> bytes:
    """16 of the system's random bytes; it is asked for those of many ids at once."""
    try:
        return _random.pop()
    except IndexError:
        drawn = os.urandom(16 * IDS_AT_ONCE)
        _random.extend(drawn[n : n + 16] for n in range(16, len(drawn), 16))
        return drawn[:16]
