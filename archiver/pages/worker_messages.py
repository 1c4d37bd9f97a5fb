"""Messages between the service and page workers.

A message is its length (4 bytes), the length of its JSON (4 bytes), the JSON, and raw bytes.
"""

import json
import struct
from dataclasses import asdict, astuple, dataclass
from enum import StrEnum
from typing import Any

from archiver.http.encoding_detection import (
    ChosenEncoding,
    Decoded,
    choose_encoding,
    decode_document,
)
from archiver.model.page import Article, Charset, Discovery, PageMetadata, Refresh
from archiver.model.rendering import NewRendition, QualitySignals, RenditionKind
from archiver.model.requisite import Requisite, RequisiteKind

PREFIX = struct.Struct(">I")
READY = b"\n"
"""First output of a worker, which is then ready for requests."""
COLLECT = (20_000, 20, 100)
"""Thresholds of Python's garbage collector: workers create many objects and few cycles."""

MAX_PICTURE_BYTES = 16 << 20
"""Maximum size in bytes of an image to scale down."""


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


def pack(head: dict[str, Any], payload: bytes = b"") -> bytes:
    """Return a message of JSON and raw bytes, preceded by its length."""
    encoded = as_json(head)
    body = PREFIX.pack(len(encoded)) + encoded + payload
    return PREFIX.pack(len(body)) + body


def unpack(body: bytes) -> tuple[dict[str, Any], bytes]:
    """Return the head and the payload of a message without its length."""
    (size,) = PREFIX.unpack_from(body)
    start = PREFIX.size
    return json.loads(body[start : start + size]), body[start + size :]


def pack_request(task: Task, document: Document, limit: int) -> bytes:
    """Serialise a request; ``limit`` is the maximum number of requisites."""
    fields = asdict(document)
    payload = fields.pop("payload")
    return pack({"task": task, "document": fields, "limit": limit}, payload)


def parse_request(body: bytes) -> tuple[Task, Document, int]:
    """Parse a request: the task, its document, and the maximum number of requisites."""
    head, payload = unpack(body)
    return Task(head["task"]), Document(payload, **head["document"]), head["limit"]


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


def pack_result(result: Result) -> bytes:
    """Serialise a result."""
    if result is None:
        return pack({})
    if isinstance(result, NewRendition):
        return pack({"kind": result.kind, "media_type": result.media_type}, result.content)
    if isinstance(result, Discovery):
        return pack(_discovery_head(result))
    if isinstance(result, Article):
        return pack(_article_head(result), result.html.encode())
    head, read = _discovery_head(result.discovery), result.article
    if read is None:
        return pack(head)
    return pack(head | {"article": _article_head(read)}, read.html.encode())


def _discovery_head(discovery: Discovery) -> dict[str, Any]:
    appearance = discovery.appearance
    return {
        "requisites": [[each.url, each.kind, each.area] for each in discovery.requisites],
        "charset": [discovery.charset.used, discovery.charset.declared],
        "metadata": asdict(discovery.metadata),
        "needs": [discovery.needs_browser, discovery.may_need_browser],
        "signals": [discovery.wall, discovery.parked, discovery.feed],
        "appearance": [appearance.readable, appearance.source, appearance.is_error],
        "preview_images": [discovery.icons, discovery.covers],
        "refresh": astuple(discovery.refresh) if discovery.refresh else None,
    }


def _article_head(read: Article) -> dict[str, Any]:
    return {
        "metadata": asdict(read.metadata),
        "text": read.text,
        "words": read.words,
        "head": read.head,
    }


def read_discovery(head: dict[str, Any]) -> Discovery:
    """Parse the result of DISCOVER."""
    requisites = tuple(
        Requisite(url, RequisiteKind(kind), area) for url, kind, area in head["requisites"]
    )
    needs_browser, may_need_browser = head["needs"]
    wall, parked, feed = head["signals"]
    icons, covers = head["preview_images"]
    return Discovery(
        requisites=requisites,
        charset=Charset(*head["charset"]),
        metadata=PageMetadata(**head["metadata"]),
        needs_browser=needs_browser,
        may_need_browser=may_need_browser,
        wall=wall,
        parked=parked,
        feed=feed,
        appearance=QualitySignals(*head["appearance"]),
        icons=tuple(icons),
        covers=tuple(covers),
        refresh=Refresh(*head["refresh"]) if head["refresh"] else None,
    )


def read_article(head: dict[str, Any], html: bytes) -> Article:
    """Parse the result of EXTRACT."""
    metadata = PageMetadata(**head["metadata"])
    return Article(metadata, html.decode(), head["text"], words=head["words"], head=head["head"])


def read_page_result(head: dict[str, Any], html: bytes) -> PageResult:
    """Parse the result of INSPECT_AND_EXTRACT."""
    read = head.get("article")
    return PageResult(read_discovery(head), read_article(read, html) if read else None)


def read_rendition(head: dict[str, Any], content: bytes) -> NewRendition | None:
    """Parse the result of ICON and COVER; None if the worker created no image."""
    return NewRendition(RenditionKind(head["kind"]), head["media_type"], content) if head else None


def as_json(value: Any) -> bytes:
    """Serialise a value as compact JSON."""
    return json.dumps(value, separators=(",", ":")).encode()


def decode_payload(document: Document) -> Decoded:
    """Decode a document's text."""
    return decode_document(document.payload, document.media_type, document.charset, document.url)


def choose(document: Document) -> ChosenEncoding:
    """Choose a document's encoding."""
    return choose_encoding(document.payload, document.media_type, document.charset, document.url)
