"""Media types of payloads, as declared or detected."""

import pytest

from archiver.http.headers import parse_head
from archiver.http.media_types import declared_media_type, extract_media_type, sniff

EPUB = b"mimetypeapplication/epub+zip"
RSS = "application/rss+xml"


@pytest.mark.parametrize(
    ("declared", "start", "kind"),
    [
        ("text/html; charset=x", b"", "text/html"),
        ("text/plain", b"<html>", "text/plain"),
        ("image/png", b"<html>", "image/png"),
        (None, b"  \n<!DOCTYPE HTML><p>", "text/html"),
        (None, b"\xef\xbb\xbf<html lang=en>", "text/html"),
        ("", b"%PDF-1.7", "application/pdf"),
        (None, b"\x89PNG\r\n\x1a\n", "image/png"),
        (None, b"just words", "text/plain"),
        (None, b"\x00\x01\x02", "application/octet-stream"),
        ("*/*", b"<htmlx", "text/plain"),
        (None, b"\xfe\xff\x00a", "text/plain"),
        ("application/octet-stream", b"%PDF-1.7", "application/pdf"),
        ("binary/octet-stream", b"%PDF-1.7", "application/pdf"),
        ("application/x-pdf", b"%PDF-1.7", "application/pdf"),
        ("application/force-download", b"%PDF-1.7", "application/pdf"),
        ("application/octet-stream", b"RIFF\x00\x00\x00\x00WEBPVP8 ", "image/webp"),
        ("application/octet-stream", b"\xff\xd8\xff\xe0", "image/jpeg"),
        ("application/octet-stream", b"\x00\x00\x00\x20ftypavif", "image/avif"),
        ("application/octet-stream", b"PK\x03\x04" + b"\0" * 26 + EPUB, "application/epub+zip"),
        ("application/octet-stream", b"PK\x03\x04" + b"\0" * 40, "application/zip"),
        ("application/octet-stream", b"<?xml version='1.0'?>\n<rss version='2.0'>", RSS),
        ("application/octet-stream", b"<!-- a --><feed xmlns='x'>", "application/atom+xml"),
        ("application/octet-stream", b"<rdf:RDF xmlns='http://purl.org/rss/1.0/'>", RSS),
        ("application/octet-stream", b"<!DOCTYPE html><p>", "application/octet-stream"),
        ("application/octet-stream", b"just words", "application/octet-stream"),
        ("text/plain", b"%PDF-1.7\n%\x01\x02", "application/pdf"),
        ("text/plain; charset=koi8-r", b"%PDF-1.7\n%\x01\x02", "text/plain"),
        ("text/plain", b"%PDF-1.7 is how such a file begins", "text/plain"),
        ("application/pdf; charset=utf-8", b"", "application/pdf"),
    ],
)
def test_a_missing_or_generic_media_type_is_detected(declared, start, kind):
    assert sniff(extract_media_type(declared), start) == kind


def test_headers_of_real_servers_are_parsed():
    head = parse_head(
        b'HTTP/1.0 200\nContent-TYPE : text/HTML;Charset="UTF-8"\nX: a\n b\nbroken\n\n'
    )

    assert (head.status, head.header("x")) == (200, "a b")
    declared = declared_media_type(head.headers)
    assert (declared.essence, declared.get("charset")) == ("text/html", "UTF-8")
