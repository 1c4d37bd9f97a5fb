"""A WARC record as a value."""

import os
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import BinaryIO

from archiver.model.capture import RecordId

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
