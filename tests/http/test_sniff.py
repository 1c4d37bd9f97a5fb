"""Media types of payloads, as declared or detected."""

import pytest

from archiver.http.headers import parse_head
from archiver.http.media_types import declared_media_type, extract_media_type, sniff


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
    ],
)
def test_a_declared_type_is_used_and_a_missing_one_is_detected(declared, start, kind):
    assert sniff(extract_media_type(declared), start) == kind


def test_headers_of_real_servers_are_parsed():
    head = parse_head(
        b'HTTP/1.0 200\nContent-TYPE : text/HTML;Charset="UTF-8"\nX: a\n b\nbroken\n\n'
    )

    assert (head.status, head.header("x")) == (200, "a b")
    declared = declared_media_type(head.headers)
    assert (declared.essence, declared.get("charset")) == ("text/html", "UTF-8")
