"""Responses of replay: status, media type, charset and protection.

A document that is rewritten is served in its encoding, byte for byte but for what was rewritten,
where that is ASCII-transparent, and else as UTF-8. What is stated in ``Content-Type`` browsers
believe before anything in the document.
"""

import re
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from archiver.http.encoding_detection import Source, choose_encoding, is_enough
from archiver.http.headers import ResponseHead
from archiver.http.media_types import MediaType, declared_media_type, resolve_media_type
from archiver.http.text_decoders import ASCII_TRANSPARENT, UTF_8, Encoding
from archiver.http.timestamps import http_date, to_datetime
from archiver.model.capture import Capture
from archiver.replay.addresses import PLAIN, Modifier, PathWriters, ReplayAddress
from archiver.replay.conditional_requests import UNCONDITIONAL, Conditions, select
from archiver.replay.memento import original, timegate, timemap, write_links
from archiver.replay.response_headers import (
    Viewer,
    content_disposition,
    protection,
    rewrite_headers,
)
from archiver.replay.url_rewriter import UrlRewriter


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked for, and by whom.

    Attributes:
        viewer: whoever asks.
        modifier: what the capture is taken for.
        paths: how the addresses in the answer are written.
        paths_end: whether the permissions in them are over soon.
        is_exact: whether the capture was asked for by its own URL and timestamp.
        conditions: of the request.
        is_head: whether only the head is asked for.
    """

    viewer: Viewer
    modifier: Modifier = Modifier.NONE
    paths: PathWriters = PLAIN
    paths_end: bool = False
    is_exact: bool = True
    conditions: Conditions = UNCONDITIONAL
    is_head: bool = False

    @property
    def page(self) -> Modifier:
        """What the pages are asked for as that the capture links to: within a frame, as framed."""
        return self.modifier if self.modifier is Modifier.FRAME else Modifier.NONE

    def links(self, capture: Capture) -> UrlRewriter:
        """Where the references of a capture's content lead."""
        return UrlRewriter(capture.url, capture.timestamp, page=self.page, paths=self.paths)

    def redirects(self, capture: Capture) -> UrlRewriter:
        """Where its header fields lead: a redirect's target is asked for as the redirect was."""
        paths = replace(self.paths, link=self.paths.redirect)
        return UrlRewriter(capture.url, capture.timestamp, page=self.modifier, paths=paths)


@dataclass(frozen=True, slots=True)
class DocumentCharset:
    """How the text of a document is read and written.

    Attributes:
        encoding: the one it is stored in.
        label: of the one it is served in (WHATWG Encoding §4.2); empty where none is stated.
    """

    encoding: Encoding
    label: str

    @property
    def is_kept(self) -> bool:
        """Whether it can be rewritten in the encoding it is stored in."""
        return self.encoding in ASCII_TRANSPARENT


def document_charset(
    start: bytes, media_type: MediaType, url: str, *, is_rewritten: bool
) -> DocumentCharset:
    """The charset of a document; a style sheet that declares none takes that of its page.

    Args:
        start: its first bytes, so many that ``has_enough``.
        media_type: what it is taken for.
        url: where it was.
        is_rewritten: whether it is served as other bytes than it came in.
    """
    choice = choose_encoding(start, media_type.essence, media_type.get("charset"), url)
    if choice.source is Source.ENVIRONMENT:
        return DocumentCharset(choice.encoding, "")
    is_kept = choice.encoding in ASCII_TRANSPARENT or not is_rewritten
    return DocumentCharset(choice.encoding, choice.encoding if is_kept else UTF_8)


def has_enough(start: bytes, media_type: MediaType) -> bool:
    """Whether these first bytes of a document decide on its charset, whatever follows."""
    return is_enough(start, media_type.essence, media_type.get("charset"))


def stated_charset(media_type: MediaType) -> str:
    """The charset parameter of a media type that is passed on; empty if it is no label."""
    label = media_type.get("charset").strip()
    return label.lower() if re.fullmatch(r"[\w.:-]{1,40}", label, re.ASCII) else ""


_OK = 200
_PARTIAL = 206
_BAD_GATEWAY = 502
_WITHOUT_CONTENT = frozenset({204, 205, 304})
_CONTENT_RANGE = re.compile(r"bytes ([0-9]{1,15})-([0-9]{1,15})/(?:[0-9]{1,15}|\*)")


@dataclass(frozen=True, slots=True)
class Delivery:
    """What of the content is sent, and the fields that say so.

    Attributes:
        status: a final one (RFC 9110 §15).
        part: the bytes that are sent, from the one on and before the other; None for all.
        length: how many those are; None where they have yet to be made.
        headers: ``ETag``, ``Accept-Ranges`` and ``Content-Range``, where they hold.
    """

    status: int
    part: tuple[int, int] | None
    length: int | None
    headers: tuple[tuple[str, str], ...] = ()


def deliver(capture: Capture, head: ResponseHead, asked: Asked, *, is_as_stored: bool) -> Delivery:
    """Apply what the request says of ranges and of copies that it has.

    What is decoded or rewritten has no entity tag: its bytes depend on this program, too.

    Args:
        capture: with digest and length of the payload that is sent.
        head: of its response.
        asked: what is asked for.
        is_as_stored: whether the payload is sent byte for byte.
    """
    length = capture.payload_length
    status = _status(head, length)
    if status in _WITHOUT_CONTENT:
        return Delivery(status, (0, 0), 0)
    if not is_as_stored:
        return Delivery(status, None, None)
    whole = (0, length)
    if status == _PARTIAL:
        return Delivery(status, whole, length, (("Content-Range", _range_of(head, length)),))
    if status != _OK:
        return Delivery(status, whole, length)
    etag = f'"{capture.payload_digest.rpartition(":")[2]}"'
    chosen = select(asked.conditions, etag, length, in_parts=not asked.is_head)
    fields = [("ETag", etag), ("Accept-Ranges", "bytes")]
    if chosen.content_range:
        fields.append(("Content-Range", chosen.content_range))
    part = (chosen.first, chosen.end)
    return Delivery(chosen.status, part, chosen.end - chosen.first, tuple(fields))


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


TIMEGATE: Final = "/timegate/"
TIMEMAP: Final = "/timemap/link/"

_PDF = "application/pdf"
_PDF_SIGNATURE = b"%PDF-"
_CSS = "text/css"
_HTML = "text/html"
_SHOWN = ("text/", "image/", "audio/", "video/", "font/")
_NOT_MODIFIED = 304
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
class Presentation:
    """What is sent for a capture.

    Attributes:
        status: a final one (RFC 9110 §15).
        media_type: the one that is stated, and all that a browser may take the content for.
        rewriting: what its payload is read as, to be led into the archive.
        charset: of what is rewritten.
        is_sandboxed: whether it gets an opaque origin, where no script runs.
        part: the bytes that are sent, from the one on and before the other; None for all.
        length: how many those are, where it is known before they are made.
        headers: all fields but ``Content-Length``.
    """

    status: int
    media_type: MediaType
    rewriting: Rewriting
    charset: DocumentCharset
    is_sandboxed: bool
    part: tuple[int, int] | None
    length: int | None
    headers: tuple[tuple[str, str], ...]


def present(capture: Capture, head: ResponseHead, start: bytes, asked: Asked) -> Presentation:
    """Decide what is sent.

    Args:
        capture: that was asked for.
        head: of its response; a revisit's as ``head_of_revisit`` gives it.
        start: the first bytes of its payload without content codings, so many that ``has_start``.
        asked: what is asked for.
    """
    is_stored = asked.modifier is Modifier.IDENTITY
    given = _media_type(head, start, asked.modifier)
    rewriting = Rewriting.NONE if is_stored else _rewriting(given)
    charset = _charset(capture, start, given, rewriting, is_stored=is_stored)
    media_type = _stated(given, rewriting, charset)
    is_pdf = media_type.essence == _PDF and start.startswith(_PDF_SIGNATURE)
    is_changed = rewriting is not Rewriting.NONE or (not is_stored and _is_coded(head))
    sent = deliver(capture, head, asked, is_as_stored=not is_changed)
    return Presentation(
        status=sent.status,
        media_type=media_type,
        rewriting=rewriting,
        charset=charset,
        is_sandboxed=not is_pdf,
        part=sent.part,
        length=sent.length,
        headers=(
            *protection(asked.viewer, is_sandboxed=not is_pdf),
            ("Content-Type", str(media_type)),
            *_memento(capture),
            *_archived(capture, head, asked),
            *_saved(capture, head, is_shown=is_pdf or _is_shown(media_type)),
            *(_coding(head) if is_stored else ()),
            *_freshness(capture, asked, rewriting),
            *sent.headers,
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
    if modifier is Modifier.STYLE and not head.combined("content-type"):
        return MediaType(_CSS)
    return resolve_media_type(declared_media_type(head.headers), start)


def _rewriting(media_type: MediaType) -> Rewriting:
    if media_type.essence == _HTML:
        return Rewriting.HTML
    if media_type.essence == _CSS:
        return Rewriting.CSS
    return Rewriting.XML if media_type.is_xml else Rewriting.NONE


def has_start(head: ResponseHead, start: bytes, asked: Asked) -> bool:
    """Whether ``start`` is as much of a payload as ``present`` wants to see."""
    return has_enough(start, _media_type(head, start, asked.modifier))


def _charset(
    capture: Capture, start: bytes, media_type: MediaType, rewriting: Rewriting, *, is_stored: bool
) -> DocumentCharset:
    """What is text gets the charset that it is read in, so that browsers need not guess."""
    is_rewritten = rewriting is not Rewriting.NONE
    is_text = media_type.essence.startswith("text/") and not media_type.is_javascript
    if is_rewritten or (is_text and not is_stored):
        return document_charset(start, media_type, capture.url, is_rewritten=is_rewritten)
    return DocumentCharset(UTF_8, stated_charset(media_type))


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
    fields = rewrite_headers(head.headers, asked.redirects(capture))
    unwanted = {"Refresh"} | ({"Link"} if asked.modifier is Modifier.IDENTITY else set())
    if capture.redirect_to is None:
        unwanted.add("Location")
    return [field for field in fields if field[0] not in unwanted]


def _saved(capture: Capture, head: ResponseHead, *, is_shown: bool) -> tuple[tuple[str, str], ...]:
    given = head.header("content-disposition")
    name = content_disposition(given, capture.url, is_shown=is_shown)
    return (("Content-Disposition", name),) if name else ()


def _is_coded(head: ResponseHead) -> bool:
    return head.combined("content-encoding") is not None


def _coding(head: ResponseHead) -> tuple[tuple[str, str], ...]:
    coding = head.combined("content-encoding") or ""
    return (("Content-Encoding", coding),) if _CODINGS.fullmatch(coding) else ()


def _freshness(capture: Capture, asked: Asked, rewriting: Rewriting) -> tuple[tuple[str, str], ...]:
    """What is asked for by its exact name never changes, but for the permissions in it."""
    ends_soon = asked.paths_end and rewriting is not Rewriting.NONE
    if asked.is_exact:
        return (("Cache-Control", f"private, {'no-cache' if ends_soon else 'max-age=3600'}"),)
    here = ReplayAddress(capture.timestamp, asked.modifier, capture.url)
    return (
        ("Cache-Control", "private, no-cache"),
        ("Content-Location", asked.paths.redirect(here)),
    )
