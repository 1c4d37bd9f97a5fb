"""Media types as WHATWG MIME Sniffing and Fetch parse them."""

from archiver.http.headers import parse_head
from archiver.http.media_types import (
    as_image,
    as_style,
    declared_media_type,
    extract_media_type,
    parse_media_type,
    sniff,
)


def test_media_types_are_parsed_and_serialised():
    for field, written in [
        ("TEXT/HTML;CHARSET=GBK", "text/html;charset=GBK"),
        ("\t text/html ;; ; charset=gbk ", "text/html;charset=gbk"),
        ("text/html;charset=gbk(", 'text/html;charset="gbk("'),
        ("text/html;charset=gbk;charset=utf-8", "text/html;charset=gbk"),
        ("text/html;charset =gbk", "text/html"),
        ("text/html;charset= gbk", 'text/html;charset=" gbk"'),
        ("text/html;charset='gbk'", "text/html;charset='gbk'"),
        ("text/html;test;x=;charset=gbk", "text/html;charset=gbk"),
        ('text/html;charset="gbk"x;y=1', "text/html;charset=gbk;y=1"),
        ('text/html;charset="gbk', "text/html;charset=gbk"),
        ('text/html;charset="\\g\\b\\k"', "text/html;charset=gbk"),
        ('text/html;charset=gbk"', 'text/html;charset="gbk\\""'),
        ('x/x;test="\\', 'x/x;test="\\\\"'),
        ("x/x;test=\ufffd;x=x", "x/x;x=x"),
        ("x/x;test=a\r\nSet-Cookie: b", "x/x"),
        *((bad, None) for bad in ("", "\t", "text", "text/", "a/b/c", "text/html(;x=y", "ā/ā")),
    ]:
        parsed = parse_media_type(field)

        assert (parsed and str(parsed)) == written


def test_the_last_valid_type_of_several_is_used():
    for field, expected in [
        (None, None),
        ("", None),
        ("application/pdf, text/html", "text/html"),
        ("text/html, application/pdf", "application/pdf"),
        ("text/html, */*", "text/html"),
        ("text/html, bogus", "text/html"),
        ("text/plain;charset=gbk, text/plain", "text/plain;charset=gbk"),
        ("text/plain;charset=gbk, text/html", "text/html"),
        ("text/html;charset=gbk, text/plain, text/html", "text/html"),
        ('text/html;x=", text/plain', 'text/html;x=", text/plain"'),
        ('text/html;", text/plain', "text/html"),
    ]:
        extracted = extract_media_type(field)

        assert (extracted and str(extracted)) == expected


PNG, SHEET, PAGE = b"\x89PNG\r\n\x1a\n", b"a { b: c }", b" <!DOCTYPE html>"


def test_a_resource_has_the_type_that_browsers_take_it_for():
    for read, declared, start, expected in [
        (as_image, "text/html;charset=utf-8", PNG, "image/png"),
        (as_image, "application/json", b"RIFF....WEBP", "image/webp"),
        (as_image, "application/pdf", b"wOF2", "font/woff2"),
        (as_image, "image/jpeg", PNG, "image/jpeg"),
        (as_image, "text/html", PAGE, "text/html"),
        (as_image, "application/pdf", b"%PDF-", "application/pdf"),
        (as_style, "text/plain;charset=gbk", SHEET, "text/css;charset=gbk"),
        (as_style, "text/html", SHEET, "text/css"),
        (as_style, "text/html", PAGE, "text/html"),
        (as_style, "application/pdf", b"%PDF-", "application/pdf"),
        (as_style, "application/json", b"{}", "application/json"),
    ]:
        assert str(read(parse_media_type(declared), start)) == expected


EPUB = b"mimetypeapplication/epub+zip"
RSS = "application/rss+xml"


def test_a_missing_or_generic_media_type_is_detected():
    for declared, start, kind in [
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
        ("octet/stream", b"%PDF-1.7", "application/pdf"),
        ("image/pdf", b"%PDF-1.7", "application/pdf"),
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
    ]:
        assert sniff(extract_media_type(declared), start) == kind


def test_headers_of_real_servers_are_parsed():
    head = parse_head(
        b'HTTP/1.0 200\nContent-TYPE : text/HTML;Charset="UTF-8"\nX: a\n b\nbroken\n\n'
    )

    assert (head.status, head.header("x")) == (200, "a b")
    declared = declared_media_type(head.headers)
    assert (declared.essence, declared.get("charset")) == ("text/html", "UTF-8")
