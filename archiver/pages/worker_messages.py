"""Messages between the service and its child processes.

A message is its length (4 bytes) and a value in MessagePack. The receiver states the type of the
value; any other value is an error.
"""

import struct
from dataclasses import dataclass
from enum import StrEnum

from msgspec import msgpack

from archiver.http.encoding_detection import (
    ChosenEncoding,
    Decoded,
    choose_encoding,
    decode_document,
)
from archiver.model.page import Article, Discovery
from archiver.model.rendering import NewRendition

PREFIX = struct.Struct(">I")
READY = b"\n"
"""First output of a worker, which is then ready for requests."""
COLLECT = (20_000, 20, 100)
"""Thresholds of Python's garbage collector: workers create many objects and few cycles."""

MAX_PICTURE_BYTES = 16 << 20
"""Maximum size in bytes of an image to scale down."""


def pack(value: object) -> bytes:
    """Return the message for a value of dataclasses, lists and other types that msgspec knows."""
    body = msgpack.encode(value)
    return PREFIX.pack(len(body)) + body


class Task(StrEnum):
    """Task of a worker."""

    DISCOVER = "discover"
    EXTRACT = "extract"
    INSPECT_AND_EXTRACT = "inspect and extract"
    ICON = "icon"
    COVER = "cover"


@dataclass(frozen=True, slots=True)
class Document:
    """Content to be processed.

    Attributes:
        payload: its bytes without content coding; a long payload may be truncated.
        media_type: the media type as which it is processed.
        charset: the charset declared by its Content-Type; empty without one.
        url: its URL, to resolve references against.
        link_header: the ``Link`` fields of its response, joined with commas.
        is_rendered: whether it is a page rendered by a browser.
        part: the number of this page in a multi-page article, from 1.
    """

    payload: bytes
    media_type: str
    charset: str
    url: str
    link_header: str = ""
    is_rendered: bool = False
    part: int = 1


@dataclass(frozen=True, slots=True)
class Request:
    """A task, its document, and the maximum number of requisites."""

    task: Task
    document: Document
    limit: int


@dataclass(frozen=True, slots=True)
class PageResult:
    """Result of INSPECT_AND_EXTRACT.

    Attributes:
        discovery: requisites and metadata of the page.
        article: its article; None if the worker did not extract it.
    """

    discovery: Discovery
    article: Article | None = None


Result = Article | Discovery | PageResult | NewRendition | None
"""Result of a task; None for an image that is not worth displaying.

The message with the result has a second value: the error if there is no result, else empty.
"""


def decode_payload(document: Document) -> Decoded:
    """Decode a document's text."""
    return decode_document(document.payload, document.media_type, document.charset, document.url)


def choose(document: Document) -> ChosenEncoding:
    """Choose a document's encoding."""
    return choose_encoding(document.payload, document.media_type, document.charset, document.url)
