"""What a payload is to be treated as: the useful part of WHATWG MIME Sniffing."""

from archiver.wire.media_type import MediaType

_UNKNOWN = frozenset({"unknown/unknown", "application/unknown"})
_HTML = frozenset({"text/html", "application/xhtml+xml"})
_HTML_STARTS = (
    b"<!doctype html",
    b"<html",
    b"<head",
    b"<script",
    b"<iframe",
    b"<h1",
    b"<div",
    b"<font",
    b"<table",
    b"<a",
    b"<style",
    b"<title",
    b"<b",
    b"<body",
    b"<br",
    b"<p",
    b"<!--",
)
_SIGNATURES = (
    (b"%PDF-", "application/pdf"),
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"BM", "image/bmp"),
    (b"\x00\x00\x01\x00", "image/x-icon"),
    (b"\x1f\x8b\x08", "application/gzip"),
    (b"PK\x03\x04", "application/zip"),
    (b"wOFF", "font/woff"),
    (b"wOF2", "font/woff2"),
    (b"<?xml", "text/xml"),
)
_BINARY = frozenset(bytes(range(9)) + b"\x0b" + bytes(range(0x0E, 0x1B)) + bytes(range(0x1C, 0x20)))


def resolve_media_type(declared: MediaType | None, start: bytes) -> MediaType:
    """The media type to treat a payload as, with its parameters.

    A declared type is believed; only where there is none the first bytes decide, so that nothing
    that was sent as text or an image ever becomes a page.

    Args:
        declared: as ``declared_media_type`` has it.
        start: the first bytes of the decoded payload, up to 1,445 of them are looked at.
    """
    if declared is not None and declared.essence not in _UNKNOWN:
        return declared
    return MediaType(_guess(start[:1445]))


def sniff(declared: MediaType | None, start: bytes) -> str:
    """The essence of ``resolve_media_type``."""
    return resolve_media_type(declared, start).essence


def is_html(kind: str) -> bool:
    """Whether a media type is one of a page."""
    return kind in _HTML


def is_pdf(kind: str) -> bool:
    """Whether a media type is that of a PDF."""
    return kind == "application/pdf"


def is_css(kind: str) -> bool:
    """Whether a media type is a style sheet's."""
    return kind == "text/css"


def _guess(start: bytes) -> str:
    text = start.removeprefix(b"\xef\xbb\xbf").lstrip(b"\t\n\x0c\r ")
    if _starts_like_html(text.lower()):
        return "text/html"
    for signature, kind in _SIGNATURES:
        if start.startswith(signature):
            return kind
    if start.startswith(b"RIFF") and start[8:14] == b"WEBPVP":
        return "image/webp"
    return "application/octet-stream" if _BINARY.intersection(start) else "text/plain"


def _starts_like_html(text: bytes) -> bool:
    return any(
        text.startswith(tag) and (tag == b"<!--" or text[len(tag) : len(tag) + 1] in (b" ", b">"))
        for tag in _HTML_STARTS
    )
