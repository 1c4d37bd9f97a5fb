"""The parts of a page that was saved as MHTML (RFC 2557): linear, bounded, never nested."""

import binascii
import quopri
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from email import policy
from email.errors import MessageError
from email.parser import HeaderParser

from archiver.model.kept_page import KeptPage, KeptPart, part_url
from archiver.urls.parse import join

MOST_PARTS = 1000
MOST_HEAD = 64 << 10
_HTML = ("text/html", "application/xhtml+xml")
_POINTING = ("text/html", "application/xhtml+xml", "text/css", "image/svg+xml")
_CID = re.compile(rb"cid:([^\"'\s)>&\\]{1,300})")
_BROKEN = (MessageError, ValueError, LookupError, TypeError, AttributeError, IndexError)
"""What the standard library raises on heads that are none."""


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
        """Its media type without parameters."""
        return self.media_type.partition(";")[0].strip().lower()


def read_head(text: str) -> Mapping[str, str]:
    """The fields of a head by lower-case name; empty where it is none."""
    try:
        header = HeaderParser(policy=policy.default).parsestr(text, headersonly=True)
        return {name.lower(): str(value) for name, value in header.items()}
    except _BROKEN:
        return {}


def boundary_of(content_type: str) -> str:
    """What stands between the parts."""
    found = re.search(r'boundary\s*=\s*(?:"([^"]{1,200})"|([^\s;"]{1,200}))', content_type)
    return (found[1] or found[2]) if found else ""


def mime_parts(data: bytes, boundary: str) -> Iterator[MimePart]:
    """The parts of a multipart body, up to some; those that can't be decoded are left out."""
    mark = b"--" + boundary.encode("utf-8", "replace")
    at = data.find(b"\n" + mark) + 1 or -1
    for _ in range(MOST_PARTS):
        end = data.find(b"\n" + mark, at + len(mark)) if at >= 0 else -1
        if end < 0:
            return
        part = _part(data[at + len(mark) : end])
        if part:
            yield part
        at = end + 1


def only_part(data: bytes) -> Iterator[MimePart]:
    """What a message is that is not of several parts."""
    if part := _part(b"\n" + data):
        yield part


def page_of(parts: list[MimePart], url: str) -> KeptPage | None:
    """The page that parts are: that at its URL, or the first that is one, and what it needs."""
    pages = [each for each in parts if each.essence in _HTML]
    root = next((each for each in pages if each.location == url), None) or next(iter(pages), None)
    if root is None:
        return None
    places = {each.content_id: _place(each, url) for each in parts if each.content_id}
    others = tuple(
        KeptPart(_place(each, url), each.media_type, _led(each, places))
        for each in parts
        if each is not root
    )
    return KeptPage(_led(root, places), root.media_type, others)


def _place(part: MimePart, url: str) -> str:
    """Where a part is: at its address, which may be relative to the page's (RFC 2557 §5)."""
    place = join(url, part.location) if part.location else None
    return place or part_url(part.content)


def _led(part: MimePart, places: Mapping[str, str]) -> bytes:
    """A part's content, with references by Content-ID led to where those parts are."""
    if part.essence not in _POINTING or not places:
        return part.content

    def lead(found: re.Match[bytes]) -> bytes:
        place = places.get(found[1].decode("utf-8", "replace"))
        return place.encode() if place else found[0]

    return _CID.sub(lead, part.content)


def _part(data: bytes) -> MimePart | None:
    start = data.find(b"\n") + 1
    found = re.compile(rb"\r?\n\r?\n").search(data, max(start - 2, 0), MOST_HEAD)
    if found is None:
        return None
    head = read_head(data[start : found.start() + 1].decode("utf-8", "replace"))
    body = data[found.end() :].removesuffix(b"\r")
    content = _decoded(body, head.get("content-transfer-encoding", "").strip().lower())
    if content is None:
        return None
    return MimePart(
        media_type=head.get("content-type", "application/octet-stream"),
        location=head.get("content-location", "").strip(),
        content_id=head.get("content-id", "").strip().strip("<>"),
        content=content,
    )


def _decoded(body: bytes, coding: str) -> bytes | None:
    if coding == "base64":
        try:
            return binascii.a2b_base64(body)
        except binascii.Error:
            return None
    return quopri.decodestring(body) if coding == "quoted-printable" else body
