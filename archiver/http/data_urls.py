"""Data URLs (Fetch §6)."""

import re
from base64 import b64decode, b64encode
from binascii import Error
from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote_to_bytes

from archiver.http.encoding_detection import decode_document
from archiver.http.media_types import MediaType, parse_media_type

_BASE64 = re.compile(r";[ ]*base64[ ]*\Z", re.IGNORECASE)
_NOT_BASE64 = re.compile(rb"[^A-Za-z0-9+/]+")
_PLAIN: Final = MediaType("text/plain", (("charset", "US-ASCII"),))
NO_BASE: Final = "data:,"
"""Base URL of a document in a data URL; relative references can't be resolved against it."""


@dataclass(frozen=True, slots=True)
class DataUrl:
    """The content of a data URL.

    Attributes:
        media_type: media type that the URL states; ``text/plain`` if it states none.
        text: decoded content.
        fragment: fragment with ``#``; empty if the URL has none.
    """

    media_type: MediaType
    text: str
    fragment: str


def is_data_url(reference: str) -> bool:
    """Return whether a reference is a data URL."""
    return reference[:5].lower() == "data:"


def read_data_url(url: str) -> DataUrl | None:
    """Return the content of a data URL; None if it is malformed."""
    header_text, mark, fragment = url[5:].partition("#")
    head, comma, body = header_text.partition(",")
    if not comma:
        return None
    payload = unquote_to_bytes(body.encode("utf-8", "replace"))
    is_base64 = _BASE64.search(head)
    if is_base64:
        head = head[: is_base64.start()]
        packed = _NOT_BASE64.sub(b"", payload)
        try:
            payload = b64decode(packed + b"=" * (-len(packed) % 4))
        except Error:
            return None
    media_type = parse_media_type(f"text/plain{head}" if head.startswith(";") else head) or _PLAIN
    decoded = decode_document(payload, media_type.essence, media_type.get("charset"), NO_BASE)
    return DataUrl(media_type, decoded.text, mark + fragment)


def write_data_url(essence: str, text: str, fragment: str = "") -> str:
    """Return the data URL of a text."""
    packed = b64encode(text.encode("utf-8", "replace")).decode()
    return f"data:{essence};charset=utf-8;base64,{packed}{fragment}"
