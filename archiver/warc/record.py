"""A WARC record as a value."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import BinaryIO
from uuid import uuid4

from archiver.model.capture import RecordId


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
    """A fresh WARC-Record-ID."""
    return RecordId(f"urn:uuid:{uuid4()}")
