"""Decides what is sent for a capture: status, media type, charset, protection, fields."""

import re
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from archiver.encoding.labels import UTF_8
from archiver.memento.links import original, timegate, timemap, write_links
from archiver.memento.timestamps import http_date, to_datetime
from archiver.model.capture import Capture
from archiver.replay.asked import Asked
from archiver.replay.charset import (
    DocumentCharset,
    document_charset,
    has_enough,
    stated_charset,
)
from archiver.replay.delivery import deliver
from archiver.replay.protection import protection
from archiver.rewrite.address import Modifier, ReplayAddress
from archiver.rewrite.disposition import content_disposition
from archiver.rewrite.headers import rewrite_headers
from archiver.wire.head import ResponseHead
from archiver.wire.media_type import MediaType, declared_media_type
from archiver.wire.sniff import resolve_media_type

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
