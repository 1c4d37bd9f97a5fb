"""Decides what is sent for a capture: status, media type, charset, protection, fields."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from archiver.memento.links import original, timegate, timemap, write_links
from archiver.memento.timestamps import http_date, to_datetime
from archiver.model.capture import Capture
from archiver.replay.charset import (
    DocumentCharset,
    charset_of_css,
    charset_of_html,
    charset_of_xml,
    stated_charset,
)
from archiver.replay.protection import Viewer, protection
from archiver.rewrite.address import PREFIX, Modifier, replay_path
from archiver.rewrite.disposition import content_disposition
from archiver.rewrite.headers import rewrite_headers
from archiver.rewrite.url_rewriter import UrlRewriter
from archiver.wire.head import ResponseHead
from archiver.wire.media_type import MediaType
from archiver.wire.sniff import resolve_media_type

SAMPLE_BYTES: Final = 32 << 10
"""Bytes of a payload that its charset and its missing type are told from."""
TIMEGATE: Final = "/timegate/"
TIMEMAP: Final = "/timemap/link/"

_PDF = "application/pdf"
_PDF_SIGNATURE = b"%PDF-"
_CSS = "text/css"
_HTML = "text/html"
_SHOWN = ("text/", "image/", "audio/", "video/", "font/")
_BAD_GATEWAY = 502
_PARTIAL = 206
_NOT_MODIFIED = 304
_WITHOUT_CONTENT = frozenset({204, 205, 304})
_CONTENT_RANGE = re.compile(r"bytes ([0-9]{1,15})-([0-9]{1,15})/(?:[0-9]{1,15}|\*)")
_CODINGS = re.compile(r"[A-Za-z0-9 ,-]{1,64}")
_LONGEST_TYPE = 256
_OF_PAYLOAD = frozenset(
    {"content-encoding", "content-length", "content-range", "content-type", "transfer-encoding"}
)
"""Fields that describe the bytes of the response they came with, and no other's."""


class Rewriting(StrEnum):
    """What a payload is read as, to lead its references into the archive."""

    NONE = "none"
    HTML = "html"
    XML = "xml"
    CSS = "css"


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked for, and by whom.

    Attributes:
        viewer: whoever asks.
        modifier: what the capture is taken for.
        prefix: path under which rewritten links lie, such as ``/web/~capability``.
        frame_prefix: the same for frames.
        is_exact: whether the capture was asked for by its own URL and timestamp.
    """

    viewer: Viewer
    modifier: Modifier = Modifier.NONE
    prefix: str = PREFIX
    frame_prefix: str = PREFIX
    is_exact: bool = True

    @property
    def page(self) -> Modifier:
        """What the pages are asked for as that the capture links to: within a frame, as framed."""
        return self.modifier if self.modifier is Modifier.FRAME else Modifier.NONE

    def links(self, capture: Capture, *, page: Modifier) -> UrlRewriter:
        """Where references of a capture lead; what it links to is asked for as ``page``."""
        return UrlRewriter(
            capture.url,
            capture.timestamp,
            page=page,
            prefix=self.prefix,
            frame_prefix=self.frame_prefix,
        )


@dataclass(frozen=True, slots=True)
class Presentation:
    """What is sent for a capture.

    Attributes:
        status: a final one (RFC 9110 §15).
        media_type: the one that is stated, and all that a browser may take the content for.
        rewriting: what its payload is read as, to be led into the archive.
        charset: of what is rewritten.
        is_decoded: whether content codings are undone.
        is_sandboxed: whether it gets an opaque origin, where no script runs.
        has_content: whether the status may have any.
        headers: all fields but those of the length and the part that is sent.
    """

    status: int
    media_type: MediaType
    rewriting: Rewriting
    charset: DocumentCharset
    is_decoded: bool
    is_sandboxed: bool
    has_content: bool
    headers: tuple[tuple[str, str], ...]


def present(capture: Capture, head: ResponseHead, start: bytes, asked: Asked) -> Presentation:
    """Decide what is sent.

    Args:
        capture: that was asked for.
        head: of its response; a revisit's as ``head_of_revisit`` gives it.
        start: the first bytes of its payload without content codings, ``SAMPLE_BYTES`` if it has
            as many.
        asked: what is asked for.
    """
    stored = asked.modifier is Modifier.IDENTITY
    given = _media_type(head, start, asked.modifier)
    rewriting = Rewriting.NONE if stored else _rewriting(given)
    charset = _charset(rewriting, start, given)
    media_type = _stated(given, rewriting, charset)
    is_pdf = media_type.essence == _PDF and start.startswith(_PDF_SIGNATURE)
    status = _status(head, capture.payload_length)
    return Presentation(
        status=status,
        media_type=media_type,
        rewriting=rewriting,
        charset=charset,
        is_decoded=not stored,
        is_sandboxed=not is_pdf,
        has_content=status not in _WITHOUT_CONTENT,
        headers=(
            *protection(asked.viewer, is_sandboxed=not is_pdf),
            ("Content-Type", str(media_type)),
            *_memento(capture),
            *_archived(capture, head, asked),
            *_of_content(capture, head, status, is_shown=is_pdf or _is_shown(media_type)),
            *(_coding(head) if stored else ()),
            *_freshness(capture, asked),
        ),
    )


def head_of_revisit(own: ResponseHead | None, original: ResponseHead) -> ResponseHead:
    """The head that a revisit is shown with; its payload is that of an earlier response.

    Its own head counts where it has one. One of a 304 updates the original's (RFC 9111 §3.2), as
    a client's cache would have done.

    Args:
        own: of the revisit; None if its block is empty (ISO 28500 §6.7.2).
        original: of the response that has the payload.
    """
    if own is None:
        return original
    if own.status != _NOT_MODIFIED:
        return own
    updates = tuple(field for field in own.headers if field[0] not in _OF_PAYLOAD)
    updated = {name for name, _ in updates}
    kept = tuple(field for field in original.headers if field[0] not in updated)
    return replace(original, headers=kept + updates)


def _media_type(head: ResponseHead, start: bytes, modifier: Modifier) -> MediaType:
    """What it is taken for; what nothing is known of is what it is asked for as."""
    content_type = head.combined("content-type")
    if modifier is Modifier.STYLE and not content_type:
        return MediaType(_CSS)
    return resolve_media_type(content_type, start)


def _rewriting(media_type: MediaType) -> Rewriting:
    if media_type.essence == _HTML:
        return Rewriting.HTML
    if media_type.essence == _CSS:
        return Rewriting.CSS
    return Rewriting.XML if media_type.is_xml else Rewriting.NONE


_CHARSETS: Final[dict[Rewriting, Callable[[bytes, str], DocumentCharset]]] = {
    Rewriting.HTML: charset_of_html,
    Rewriting.XML: charset_of_xml,
    Rewriting.CSS: charset_of_css,
}


def _charset(rewriting: Rewriting, start: bytes, media_type: MediaType) -> DocumentCharset:
    if rewriting is Rewriting.NONE:
        return DocumentCharset("", stated_charset(media_type))
    return _CHARSETS[rewriting](start, stated_charset(media_type))


def _stated(given: MediaType, rewriting: Rewriting, charset: DocumentCharset) -> MediaType:
    """The one media type that is sent, in its canonical form and of bounded length."""
    stated = MediaType(given.essence)
    if rewriting is Rewriting.NONE:
        safe = tuple(pair for pair in given.parameters if pair[1].isascii() and "\t" not in pair[1])
        stated = MediaType(given.essence, safe)
    stated = stated.with_parameter("charset", charset.label)
    if len(str(stated)) <= _LONGEST_TYPE:
        return stated
    if len(given.essence) > _LONGEST_TYPE:
        return MediaType("application/octet-stream")
    return MediaType(given.essence).with_parameter("charset", charset.label)


def _is_shown(media_type: MediaType) -> bool:
    """Whether browsers show it; what they do not is saved."""
    known = media_type.is_xml or media_type.is_json or media_type.is_javascript
    return known or media_type.essence.startswith(_SHOWN)


def _status(head: ResponseHead, length: int) -> int:
    """A status that ends an exchange: what can't is an invalid answer of the server (§15.6.3)."""
    if not 200 <= head.status < 600:
        return _BAD_GATEWAY
    return 200 if head.status == _PARTIAL and not _range_of(head, length) else head.status


def _range_of(head: ResponseHead, length: int) -> str:
    """The Content-Range of a captured part, where it is one of so many bytes."""
    value = head.header("content-range") or ""
    found = _CONTENT_RANGE.fullmatch(value)
    return value if found and int(found[2]) - int(found[1]) + 1 == length else ""


def _memento(capture: Capture) -> tuple[tuple[str, str], ...]:
    """What RFC 7089 §4.2 asks of a memento."""
    links = (
        original(capture.url),
        timegate(TIMEGATE + capture.url),
        timemap(TIMEMAP + capture.url),
    )
    return (
        ("Memento-Datetime", http_date(to_datetime(capture.timestamp))),
        ("Link", write_links(links)),
    )


def _archived(capture: Capture, head: ResponseHead, asked: Asked) -> list[tuple[str, str]]:
    """The response's own fields; what a redirect leads to is asked for as the redirect was."""
    fields = rewrite_headers(head.headers, asked.links(capture, page=asked.modifier))
    unwanted = {"Refresh"} | ({"Link"} if asked.modifier is Modifier.IDENTITY else set())
    if capture.redirect_to is None:
        unwanted.add("Location")
    return [field for field in fields if field[0] not in unwanted]


def _of_content(
    capture: Capture, head: ResponseHead, status: int, *, is_shown: bool
) -> list[tuple[str, str]]:
    fields = []
    given = head.header("content-disposition")
    saved_as = content_disposition(given, capture.url, is_shown=is_shown)
    if saved_as:
        fields.append(("Content-Disposition", saved_as))
    if status == _PARTIAL:
        fields.append(("Content-Range", _range_of(head, capture.payload_length)))
    return fields


def _coding(head: ResponseHead) -> tuple[tuple[str, str], ...]:
    coding = head.combined("content-encoding") or ""
    return (("Content-Encoding", coding),) if _CODINGS.fullmatch(coding) else ()


def _freshness(capture: Capture, asked: Asked) -> tuple[tuple[str, str], ...]:
    """What is asked for by its exact name never changes, but for how it is rewritten."""
    if asked.is_exact:
        return (("Cache-Control", "private, max-age=3600"),)
    here = replay_path(capture.timestamp, asked.modifier, capture.url, prefix=asked.prefix)
    return (("Cache-Control", "private, no-cache"), ("Content-Location", here))
