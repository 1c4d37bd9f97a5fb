"""Media types as WHATWG MIME Sniffing and Fetch parse them."""

import pytest

from archiver.http.media_types import as_image, as_style, extract_media_type, parse_media_type


@pytest.mark.parametrize(
    ("given", "written"),
    [
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
    ],
)
def test_media_types_are_parsed_and_serialised(given, written):
    parsed = parse_media_type(given)

    assert (parsed and str(parsed)) == written


@pytest.mark.parametrize(
    ("given", "meant"),
    [
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
    ],
)
def test_the_last_valid_type_of_several_is_used(given, meant):
    extracted = extract_media_type(given)

    assert (extracted and str(extracted)) == meant


PNG, SHEET, PAGE = b"\x89PNG\r\n\x1a\n", b"a { b: c }", b" <!DOCTYPE html>"


@pytest.mark.parametrize(
    ("read", "given", "start", "meant"),
    [
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
    ],
)
def test_a_resource_has_the_type_that_browsers_take_it_for(read, given, start, meant):
    assert str(read(parse_media_type(given), start)) == meant
