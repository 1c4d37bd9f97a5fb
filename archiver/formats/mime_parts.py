"""Parts of a page that was saved as MHTML (RFC 2557), read by the standard library's ``email``."""

import email
import re
from collections.abc import Mapping
from dataclasses import dataclass
from email import policy
from email.errors import MessageError
from email.message import Message
from email.parser import HeaderParser
from itertools import islice

from archiver.model.kept_page import KeptPage, KeptPart, part_url
from archiver.urls.parse import join

MOST_PARTS = 1000
_HTML = ("text/html", "application/xhtml+xml")
_POINTING = ("text/html", "application/xhtml+xml", "text/css", "image/svg+xml")
_CID = re.compile(rb"cid:([^\"'\s)>&\\]{1,300})")
_BROKEN = (
    MessageError,
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    RecursionError,
)
"""Exceptions of the standard library for heads and bodies that are damaged."""


@dataclass(frozen=True, slots=True)
class MimePart:
    """One part, decoded.

    Attributes:
        media_type: its Content-Type, with its parameters.
        location: its Content-Location.
        content_id: its Content-ID, without brackets.
        content: its bytes.
    """

    media_type: str
    location: str
    content_id: str
    content: bytes

    @property
    def essence(self) -> str:
        """Return its media type without parameters."""
        return self.media_type.partition(";")[0].strip().lower()


def read_head(text: str) -> Mapping[str, str]:
    """Return the fields of a head by lower-case name; empty where it is damaged."""
    try:
        return _fields(HeaderParser(policy=policy.default).parsestr(text, headersonly=True))
    except _BROKEN:
        return {}


def mime_parts(data: bytes) -> list[MimePart]:
    """Return the parts of a message, up to ``MOST_PARTS``, without those that can't be decoded."""
    try:
        # ``policy.default`` parses each head, in quadratic time.
        message = email.message_from_bytes(data.lstrip(), policy=policy.compat32)
        parts = [*islice(message.walk(), MOST_PARTS)]
    except _BROKEN:
        return []
    return [found for part in parts if not part.is_multipart() and (found := _part(part))]


def page_of(parts: list[MimePart], url: str) -> KeptPage | None:
    """Return the page at a URL, or the first page, with the other parts."""
    pages = [each for each in parts if each.essence in _HTML]
    root = next((each for each in pages if each.location == url), None) or next(iter(pages), None)
    if root is None:
        return None
    places = {each.content_id: _place(each, url) for each in parts if each.content_id}
    others = tuple(
        KeptPart(_place(each, url), each.media_type, _resolved(each, places))
        for each in parts
        if each is not root
    )
    return KeptPage(_resolved(root, places), root.media_type, others)


def _fields(message: Message) -> dict[str, str]:
    return {name.lower(): str(value) for name, value in message.items()}


def _part(message: Message) -> MimePart | None:
    try:
        head = _fields(message)
        content = message.get_payload(decode=True)
    except _BROKEN:
        return None
    if not isinstance(content, bytes):
        return None
    return MimePart(
        media_type=head.get("content-type", "application/octet-stream"),
        location=head.get("content-location", "").strip(),
        content_id=head.get("content-id", "").strip().strip("<>"),
        content=content,
    )


def _place(part: MimePart, url: str) -> str:
    """Return the address of a part, which may be relative to that of the page (RFC 2557 §5)."""
    place = join(url, part.location) if part.location else None
    return place or part_url(part.content)


def _resolved(part: MimePart, places: Mapping[str, str]) -> bytes:
    """Return a part's content, with references by Content-ID replaced by addresses."""
    if part.essence not in _POINTING or not places:
        return part.content

    def resolve(found: re.Match[bytes]) -> bytes:
        place = places.get(found[1].decode("utf-8", "replace"))
        return place.encode() if place else found[0]

    return _CID.sub(resolve, part.content)
