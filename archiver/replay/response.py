"""Responses of replay: status, media type, charset and security headers.

A rewritten document keeps its encoding if the encoding is ASCII-transparent, so that bytes outside
of references are unchanged. Otherwise the document is served as UTF-8. In browsers, the charset in
``Content-Type`` has precedence over the charset that the document declares.
"""

import re
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from archiver.http.encoding_detection import Source, choose_encoding, is_enough_document
from archiver.http.headers import ResponseHead
from archiver.http.media_types import (
    MediaType,
    as_image,
    as_style,
    declared_media_type,
    resolve_media_type,
)
from archiver.http.text_decoders import ASCII_TRANSPARENT, UTF_8, Encoding
from archiver.http.timestamps import http_date, to_datetime
from archiver.model.capture import Capture
from archiver.replay.addresses import PLAIN, Modifier, PathWriters, ReplayAddress
from archiver.replay.conditional_requests import UNCONDITIONAL, Conditions, select
from archiver.replay.html_rewriter import rewrite_data_url
from archiver.replay.memento import original, timegate, timemap, write_links
from archiver.replay.response_headers import (
    Viewer,
    content_disposition,
    rewrite_headers,
    security_headers,
)
from archiver.replay.svg_copies import ReadSvg, SvgCopies, no_svg
from archiver.replay.url_rewriter import Embedding, UrlRewriter


@dataclass(frozen=True, slots=True)
class ReplayRequest:
    """A replay request.

    Attributes:
        viewer: properties of the client that the response depends on.
        modifier: the expected kind of content.
        paths: functions that write the paths of references in the response, by kind of reference.
        paths_end: whether the access tokens in the paths expire soon.
        is_exact: whether the capture was requested by its exact URL and timestamp.
        conditions: conditional headers of the request.
        is_head: whether the method is HEAD.
        read_svg: reader of SVG files whose elements are copied into the response.
    """

    viewer: Viewer
    modifier: Modifier = Modifier.NONE
    paths: PathWriters = PLAIN
    paths_end: bool = False
    is_exact: bool = True
    conditions: Conditions = UNCONDITIONAL
    is_head: bool = False
    read_svg: ReadSvg = no_svg

    @property
    def page(self) -> Modifier:
        """Return the modifier for linked pages, which are shown in the same frame as this page."""
        return self.modifier if self.modifier is Modifier.FRAME else Modifier.NONE

    def links(self, capture: Capture, encoding: Encoding) -> UrlRewriter:
        """Return the rewriter for references in a capture's content.

        Args:
            capture: the capture.
            encoding: the encoding of its content as captured.
        """
        return UrlRewriter(
            capture.url,
            capture.timestamp,
            page=self.page,
            paths=self.paths,
            embedding=Embedding(self.viewer.origin, rewrite_data_url, SvgCopies(self.read_svg)),
            encoding=encoding,
        )

    def redirects(self, capture: Capture) -> UrlRewriter:
        """Return the rewriter for headers; the target of a redirect has the same modifier."""
        paths = replace(self.paths, link=self.paths.redirect)
        return UrlRewriter(capture.url, capture.timestamp, page=self.modifier, paths=paths)


@dataclass(frozen=True, slots=True)
class DocumentCharset:
    """The charset in which a document is read and served.

    Attributes:
        encoding: encoding of the stored bytes.
        label: label of the served encoding (WHATWG Encoding §4.2); empty if none is stated.
    """

    encoding: Encoding
    label: str

    @property
    def keeps_encoding(self) -> bool:
        """Return whether the document can be rewritten without changing its encoding."""
        return self.encoding in ASCII_TRANSPARENT


def document_charset(
    start: bytes, media_type: MediaType, url: str, *, is_rewritten: bool
) -> DocumentCharset:
    """Return the charset of a document.

    A style sheet that declares no charset is served without one, so that it inherits that of its
    page.

    Args:
        start: its first bytes, enough to detect the charset.
        media_type: its media type.
        url: its URL.
        is_rewritten: whether the served bytes differ from the stored bytes.
    """
    choice = choose_encoding(start, media_type.essence, media_type.get("charset"), url)
    if choice.source is Source.ENVIRONMENT:
        return DocumentCharset(choice.encoding, "")
    keeps_encoding = choice.encoding in ASCII_TRANSPARENT or not is_rewritten
    return DocumentCharset(choice.encoding, choice.encoding if keeps_encoding else UTF_8)


def stated_charset(media_type: MediaType) -> str:
    """Return the charset parameter of a media type; empty if it is not a valid label."""
    label = media_type.get("charset").strip()
    return label.lower() if re.fullmatch(r"[\w.:-]{1,40}", label, re.ASCII) else ""


_OK = 200
_PARTIAL = 206
_BAD_GATEWAY = 502
_WITHOUT_CONTENT = frozenset({204, 205, 304})
_CONTENT_RANGE = re.compile(r"bytes ([0-9]{1,15})-([0-9]{1,15})/(?:[0-9]{1,15}|\*)")


@dataclass(frozen=True, slots=True)
class Delivery:
    """The part of the content to send, and its headers.

    Attributes:
        status: final HTTP status (RFC 9110 §15).
        part: byte range (the end is exclusive); None for all.
        length: number of bytes; None if the number is not known in advance.
        headers: ``ETag``, ``Accept-Ranges`` and ``Content-Range``, if they apply.
    """

    status: int
    part: tuple[int, int] | None
    length: int | None
    headers: tuple[tuple[str, str], ...] = ()


def select_delivery(
    capture: Capture, head: ResponseHead, request: ReplayRequest, *, is_as_stored: bool
) -> Delivery:
    """Evaluate range and conditional headers.

    Decoded or rewritten content has no entity tag, because its bytes also depend on the version of
    this program.

    Args:
        capture: the capture, with the digest and the length of its payload.
        head: head of the archived response.
        request: the replay request.
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
    chosen = select(request.conditions, etag, length, in_parts=not request.is_head)
    fields = [("ETag", etag), ("Accept-Ranges", "bytes")]
    if chosen.content_range:
        fields.append(("Content-Range", chosen.content_range))
    part = (chosen.first, chosen.end)
    return Delivery(chosen.status, part, chosen.end - chosen.first, tuple(fields))


def _status(head: ResponseHead, length: int) -> int:
    """Return the status to send; a status that is not final becomes 502 (RFC 9110 §15.6.3).

    A 206 without a valid Content-Range becomes 200.
    """
    if not 200 <= head.status < 600:
        return _BAD_GATEWAY
    return 200 if head.status == _PARTIAL and not _range_of(head, length) else head.status


def _range_of(head: ResponseHead, length: int) -> str:
    """Return the captured Content-Range if it matches the payload's length, else ""."""
    value = head.header("content-range") or ""
    match = _CONTENT_RANGE.fullmatch(value)
    return value if match and int(match[2]) - int(match[1]) + 1 == length else ""


TIMEGATE: Final = "/timegate/"
TIMEMAP: Final = "/timemap/link/"

_PDF = "application/pdf"
_PDF_SIGNATURE = b"%PDF-"
_CSS = "text/css"
_HTML = "text/html"
_DISPLAYED_TYPES = ("text/", "image/", "audio/", "video/", "font/")
_NOT_MODIFIED = 304
_CODINGS = re.compile(r"[A-Za-z0-9 ,-]{1,64}")
_MAX_TYPE_LENGTH = 256
_PAYLOAD_HEADERS = frozenset(
    {"content-encoding", "content-length", "content-range", "content-type", "transfer-encoding"}
)
"""Headers of a 304 that are ignored, because the body belongs to an earlier response."""


class Rewriting(StrEnum):
    """The syntax in which references in a payload are rewritten."""

    NONE = "none"
    HTML = "html"
    XML = "xml"
    CSS = "css"


@dataclass(frozen=True, slots=True)
class Presentation:
    """The response for a capture.

    Attributes:
        status: final HTTP status (RFC 9110 §15).
        media_type: the stated media type, which browsers must not override.
        rewriting: syntax for rewriting references.
        charset: charset of the document.
        is_sandboxed: whether the document gets an opaque origin and no scripts.
        part: byte range (the end is exclusive); None for all.
        length: number of bytes; None if the number is not known in advance.
        headers: all headers except ``Content-Length``.
    """

    status: int
    media_type: MediaType
    rewriting: Rewriting
    charset: DocumentCharset
    is_sandboxed: bool
    part: tuple[int, int] | None
    length: int | None
    headers: tuple[tuple[str, str], ...]


def build_presentation(
    capture: Capture, head: ResponseHead, start: bytes, request: ReplayRequest
) -> Presentation:
    """Return the response for a capture.

    Args:
        capture: the requested capture.
        head: head of the archived response; for a revisit, from ``head_of_revisit``.
        start: first bytes of the payload without content codings, for which ``has_start`` returns
            True.
        request: the replay request.
    """
    is_stored = request.modifier is Modifier.IDENTITY
    stated_type = _media_type(head, start, request.modifier)
    rewriting = Rewriting.NONE if is_stored else _rewriting(stated_type)
    charset = _charset(capture, start, stated_type, rewriting, is_stored=is_stored)
    media_type = _stated_media_type(stated_type, rewriting, charset)
    is_pdf = media_type.essence == _PDF and start.startswith(_PDF_SIGNATURE)
    is_changed = rewriting is not Rewriting.NONE or (
        not is_stored and head.combined("content-encoding") is not None
    )
    sent = select_delivery(capture, head, request, is_as_stored=not is_changed)
    return Presentation(
        status=sent.status,
        media_type=media_type,
        rewriting=rewriting,
        charset=charset,
        is_sandboxed=not is_pdf,
        part=sent.part,
        length=sent.length,
        headers=(
            *security_headers(request.viewer, is_sandboxed=not is_pdf),
            ("Content-Type", str(media_type)),
            *_memento_headers(capture, request.viewer.base),
            *_archived_headers(capture, head, request),
            *_disposition(capture, head, is_shown=is_pdf or _is_displayed(media_type)),
            *(_coding_headers(head) if is_stored else ()),
            *_cache_headers(capture, request, rewriting),
            *sent.headers,
        ),
    )


def head_of_revisit(revisit: ResponseHead | None, original: ResponseHead) -> ResponseHead:
    """Return the head for replay of a revisit, whose payload belongs to an earlier response.

    The revisit's own head is used if it has one. The headers of a 304 update the original head (RFC
    9111 §3.2), as in a client's cache.

    Args:
        revisit: head of the revisit; None if its block is empty (ISO 28500 §6.7.2).
        original: head of the response with the payload.
    """
    if revisit is None:
        return original
    if revisit.status != _NOT_MODIFIED:
        return revisit
    updates = tuple(field for field in revisit.headers if field[0] not in _PAYLOAD_HEADERS)
    updated = {name for name, _ in updates}
    unchanged = tuple(field for field in original.headers if field[0] not in updated)
    return replace(original, headers=unchanged + updates)


def _media_type(head: ResponseHead, start: bytes, modifier: Modifier) -> MediaType:
    """Return the media type as browsers determine it for the content that the modifier expects."""
    media_type = resolve_media_type(declared_media_type(head.headers), start)
    if modifier is Modifier.STYLE:
        return as_style(media_type, start)
    return as_image(media_type, start) if modifier is Modifier.IMAGE else media_type


def _rewriting(media_type: MediaType) -> Rewriting:
    if media_type.essence == _HTML:
        return Rewriting.HTML
    if media_type.essence == _CSS:
        return Rewriting.CSS
    return Rewriting.XML if media_type.is_xml else Rewriting.NONE


def has_start(head: ResponseHead, start: bytes, request: ReplayRequest) -> bool:
    """Return whether `start` is enough of the payload for ``build_presentation``."""
    media_type = _media_type(head, start, request.modifier)
    return is_enough_document(start, media_type.essence, media_type.get("charset"))


def _charset(
    capture: Capture, start: bytes, media_type: MediaType, rewriting: Rewriting, *, is_stored: bool
) -> DocumentCharset:
    """Return the charset to state.

    It is detected for rewritten documents, and for text unless the bytes are sent as stored, so
    that browsers need not guess.
    """
    is_rewritten = rewriting is not Rewriting.NONE
    is_text = media_type.essence.startswith("text/") and not media_type.is_javascript
    if is_rewritten or (is_text and not is_stored):
        return document_charset(start, media_type, capture.url, is_rewritten=is_rewritten)
    return DocumentCharset(UTF_8, stated_charset(media_type))


def _stated_media_type(
    media_type: MediaType, rewriting: Rewriting, charset: DocumentCharset
) -> MediaType:
    """Return the media type to send, in canonical form and of bounded length."""
    header_type = MediaType(media_type.essence)
    if rewriting is Rewriting.NONE:
        safe = tuple(
            pair for pair in media_type.parameters if pair[1].isascii() and "\t" not in pair[1]
        )
        header_type = MediaType(media_type.essence, safe)
    header_type = header_type.with_parameter("charset", charset.label)
    if len(str(header_type)) <= _MAX_TYPE_LENGTH:
        return header_type
    if len(media_type.essence) > _MAX_TYPE_LENGTH:
        return MediaType("application/octet-stream")
    return MediaType(media_type.essence).with_parameter("charset", charset.label)


def _is_displayed(media_type: MediaType) -> bool:
    """Return whether browsers display the media type; other files are downloaded."""
    is_known_type = media_type.is_xml or media_type.is_json or media_type.is_javascript
    return is_known_type or media_type.essence.startswith(_DISPLAYED_TYPES)


def _memento_headers(capture: Capture, base: str) -> tuple[tuple[str, str], ...]:
    """Return the headers that RFC 7089 §4.2 requires of a memento."""
    links = (
        original(capture.url),
        timegate(base + TIMEGATE + capture.url),
        timemap(base + TIMEMAP + capture.url),
    )
    return (
        ("Memento-Datetime", http_date(to_datetime(capture.timestamp))),
        ("Link", write_links(links)),
    )


def _archived_headers(
    capture: Capture, head: ResponseHead, request: ReplayRequest
) -> list[tuple[str, str]]:
    """Return the archived headers with rewritten references."""
    fields = rewrite_headers(head.headers, request.redirects(capture))
    unwanted = {"Link"} if request.modifier is Modifier.IDENTITY else set()
    if capture.redirect_to is None:
        unwanted.add("Location")
    return [field for field in fields if field[0] not in unwanted]


def _disposition(
    capture: Capture, head: ResponseHead, *, is_shown: bool
) -> tuple[tuple[str, str], ...]:
    disposition = head.header("content-disposition")
    name = content_disposition(disposition, capture.url, is_shown=is_shown)
    return (("Content-Disposition", name),) if name else ()


def _coding_headers(head: ResponseHead) -> tuple[tuple[str, str], ...]:
    coding = head.combined("content-encoding") or ""
    return (("Content-Encoding", coding),) if _CODINGS.fullmatch(coding) else ()


def _cache_headers(
    capture: Capture, request: ReplayRequest, rewriting: Rewriting
) -> tuple[tuple[str, str], ...]:
    """Return caching headers; an exact memento changes only if its access tokens expire."""
    ends_soon = request.paths_end and rewriting is not Rewriting.NONE
    if request.is_exact:
        return (("Cache-Control", f"private, {'no-cache' if ends_soon else 'max-age=3600'}"),)
    address = ReplayAddress(capture.timestamp, request.modifier, capture.url)
    return (
        ("Cache-Control", "private, no-cache"),
        ("Content-Location", request.paths.redirect(address)),
    )
