"""Documents are decoded with the encoding that browsers choose."""

from hypothesis import given, settings
from hypothesis import strategies as st

from archiver.http.encoding_detection import (
    Source,
    choose_encoding,
    decode_document,
    is_enough_document,
)
from archiver.http.media_types import extract_media_type, sniff
from archiver.http.text_decoders import lookup
from tests.chromium import chromium, new_page
from tests.http.test_odd_responses import chromium_shows_and_refuses_the_same_responses
from tests.http.test_text_decoders import every_byte_and_pair_is_decoded_like_in_chromium
from tests.raw_server import raw_web

URL = "http://127.0.0.1/"
RUSSIAN, OTHER = b"<meta charset=koi8-r>", b"<meta charset=windows-1251>"
KOI, SAME = "; charset=koi8-r", b"<p>\xe9\xa4\xa2\xc1"
DECLARED = b"<?xml version='1.0' encoding='%s'?>"
XHTML = "<html xmlns='http://www.w3.org/1999/xhtml'><p>naé</p></html>"
PRAGMA = b"<meta http-equiv=content-type content='text/html; charset%s'>"
HTML = {
    "header and meta, one byte wrong": (
        "; charset=utf-8",
        b"<meta charset=utf-8><p>\xe2\x80\x9cIt\xe2\x80\x99s\xff\xe2\x80\x9d",
    ),
    "a cut end": ("", b"<meta charset=utf-8><p>caf\xc3"),
    "Latin-1": ("; charset=iso-8859-1", b"<p>\x80\x81\x93\xe9"),
    "UTF-8 that says it is Latin-1": ("; charset=iso-8859-1", "<p>grüße".encode()),
    "ASCII": ("; charset=us-ascii", b"<p>\x80\xe9"),
    "header before meta": ("; charset=windows-1251", RUSSIAN + SAME),
    "mark before header": ("; charset=windows-1251", b"\xef\xbb\xbf<p>\xc3\xa9"),
    "marked UTF-16LE": ("", "\ufeff<p>né".encode("utf-16-le")),
    "marked UTF-16BE": ("; charset=utf-8", "\ufeff<p>né".encode("utf-16-be")),
    "UTF-16 by header": ("; charset=utf-16", "<p>né".encode("utf-16-le")),
    "UTF-16BE by header": ("; charset=utf-16be", "<p>né".encode("utf-16-be")),
    "UTF-16 by meta": ("", b"<meta charset=utf-16><p>\xc3\xa9"),
    "UTF-16 by XML declaration": ("", b"<?xml encoding='utf-16'?><p>\xc3\xa9"),
    "UTF-16 with an XML declaration": ("", "<?xml version='1.0'?><p>né".encode("utf-16-le")),
    "user-defined by meta": ("", b"<meta charset=x-user-defined><p>\xe9"),
    "user-defined by header": ("; charset=x-user-defined", b"<p>\xe9"),
    "no label": ("; charset=nonsense", RUSSIAN + SAME),
    "idna": ("; charset=idna", RUSSIAN + SAME),
    "rot13": ("; charset=rot13", RUSSIAN + SAME),
    "UTF-7": ("; charset=utf-7", RUSSIAN + SAME),
    "replaced by header": ("; charset=iso-2022-kr", b"<p>abc"),
    "replaced by meta": ("", b"<meta charset=hz-gb-2312><p>abc"),
    "quoted": ('; charset="koi8-r"', SAME),
    "in single quotes": ("; charset='koi8-r'", OTHER + SAME),
    "spaces about =": ("; charset = koi8-r", OTHER + SAME),
    "spaces behind =": (";charset= koi8-r ", OTHER + SAME),
    "capitals": ("; CHARSET=KOI8-R", SAME),
    "two charsets": (f"{KOI}; charset=windows-1251", SAME),
    "another parameter": (f"; x=y{KOI}", SAME),
    "a parameter that is like it": ("; xcharset=koi8-r", OTHER + SAME),
    "a list": (f"{KOI}, text/html", SAME),
    "a list of two": (f"{KOI}, text/html; charset=windows-1251", SAME),
    "empty": ("; charset=", RUSSIAN + SAME),
    "an open quote": ('; charset="koi8-r', SAME),
    "a stray quote": ('; charset=koi8-r"', OTHER + SAME),
    "in another's quotes": ('; x="; charset=koi8-r"', OTHER + SAME),
    "in a comment": ("", b"<!-- " + RUSSIAN + b" -->" + OTHER + SAME),
    "behind a short comment": ("", b"<!-->" + RUSSIAN + SAME),
    "in an attribute": ("", b"<p title='" + RUSSIAN + b"'>" + OTHER + SAME),
    "metafoo": ("", b"<metafoo charset=koi8-r>" + OTHER + SAME),
    "a slash": ("", b"<meta/charset=koi8-r>" + SAME),
    "pragma last": ("", b"<meta content='; charset=koi8-r' http-equiv=Content-Type>" + SAME),
    "no pragma": ("", b"<meta content='text/html; charset=koi8-r'>" + OTHER + SAME),
    "refresh": ("", b"<meta http-equiv=refresh content='9; charset=koi8-r'>" + OTHER + SAME),
    "spaces in content": ("", PRAGMA % b" \n = \t koi8-r ; x" + SAME),
    "charset twice in content": ("", PRAGMA % b"x charset=koi8-r" + SAME),
    "quotes in content": ("", PRAGMA % b'="koi8-r"' + SAME),
    "an open quote in content": ("", PRAGMA % b'="koi8-r' + OTHER + SAME),
    "nothing in content": ("", PRAGMA % b"=" + OTHER + SAME),
    "charset before content": (
        "",
        b"<meta charset=koi8-r http-equiv=content-type content='; charset=windows-1251'>" + SAME,
    ),
    "content before charset": (
        "",
        b"<meta http-equiv=content-type content='; charset=windows-1251' charset=koi8-r>" + SAME,
    ),
    "no label, then one": ("", b"<meta charset=bogus>" + RUSSIAN + SAME),
    "no label hides content": (
        "",
        b"<meta charset=bogus http-equiv=content-type content='; charset=koi8-r'>" + OTHER + SAME,
    ),
    "an end tag": ("", b"</meta charset=koi8-r>" + OTHER + SAME),
    "a doctype": ("", b"<!doctype html>" + RUSSIAN + SAME),
    "an instruction": ("", b"<?php " + RUSSIAN + b" ?>" + OTHER + SAME),
    "an XML declaration": ("", b"<?xml version='1.0' encoding='koi8-r'?>" + SAME),
    "an XML declaration and meta": ("", b"<?xml encoding='koi8-r'?>" + OTHER + SAME),
    "a late XML declaration": ("", b" <?xml encoding='koi8-r'?>" + OTHER + SAME),
    "encoding elsewhere": ("", b"<?xml version='1.0'?><i encoding='koi8-r'></i>" + OTHER + SAME),
    "late links": ("", b"<title>x</title>" + b"<link rel=x href=y>" * 80 + RUSSIAN + SAME),
    "late script": ("", b"<script>'" + b"x" * 2000 + b"<p>'</script>" + RUSSIAN + SAME),
    "late style": ("", b"<style>" + b"x{}" * 800 + b"</style>" + RUSSIAN + SAME),
    "late comment": ("", b"<!--" + b"x" * 3000 + b"-->" + RUSSIAN + SAME),
    "late title": ("", b"<title>" + b"x" * 1100 + b"<p></title>" + RUSSIAN + SAME),
    "across the 1,024th byte": ("", b"<title>" + b"x" * 1000 + b"</title>" + RUSSIAN + SAME),
    "in a late script": (
        "",
        b"<script>" + b"x" * 1100 + RUSSIAN + b"</script>" + OTHER + SAME,
    ),
    "in a late noscript": (
        "",
        b"<title>" + b"x" * 1100 + b"</title><noscript>" + RUSSIAN + b"</noscript>" + SAME,
    ),
    "another meta": ("", b"<html><head><meta name=x content='charset=x'>" + RUSSIAN + SAME),
    "space in the label": ("", b"<meta charset=' \n koi8-r\t '>" + SAME),
    "other space in the label": ("", b"<meta charset='\x0bkoi8-r'>" + OTHER + SAME),
    "> in an attribute": ("", b"<meta name='a>b' charset=koi8-r>" + SAME),
    "= as a name": ("", b"<meta =charset=koi8-r>" + OTHER + SAME),
    "line ends": ("", b"<meta\ncharset\n=\nkoi8-r\n>" + SAME),
    "in a template": ("", b"<template>" + RUSSIAN + b"</template>" + SAME),
    "Shift_JIS": ("; charset=shift_jis", "<p>表ソ①髙".encode("cp932") + b"\x81<b>x"),
    "EUC-JP": ("; charset=euc-jp", b"<p>\xc6\xfc\xad\xa1\x8f\xb0\xa1\xa1\xc1<b>x"),
    "GB2312": ("; charset=gb2312", "<p>镕€中".encode("gb18030") + b"\x80x"),
    "Big5": ("; charset=big5", "<p>中文煊".encode("big5hkscs") + b"\xa1\x45\xf9\xfe\x87\x7ax"),
    "EUC-KR": ("; charset=ks_c_5601-1987", "<p>똠방각하".encode("cp949")),
    "ISO-2022-JP": ("; charset=iso-2022-jp", b"<p>\x1b$B-!F|\x1b(B<b>x"),
    "TIS-620": ("; charset=tis-620", b"<p>\xa1\xa2\x80\x93"),
    "Latin-5": ("; charset=iso-8859-9", b"<p>\xfd\xf0\x80"),
    "KOI8-U": ("; charset=koi8-u", b"<p>\xae\xbe\xa4"),
    "visual Hebrew": ("; charset=visual", b"<p>\xe0\xe1"),
    "Macintosh": ("; charset=macintosh", b"<p>\x8e\xdb"),
    "nothing but ASCII": ("", b"<p>abc"),
    "an apostrophe": ("", b"<title>It\x92s</title><p>It\x92s"),
}
OTHERS = {
    "XHTML that declares": (
        "application/xhtml+xml",
        DECLARED % b"koi8-r" + XHTML.encode("cp1252"),
    ),
    "XHTML that does not": ("application/xhtml+xml", XHTML.encode()),
    "XHTML by header": (
        f"application/xhtml+xml{KOI}",
        DECLARED % b"utf-8" + XHTML.encode("cp1252"),
    ),
    "XHTML with meta": (
        "application/xhtml+xml",
        XHTML.replace("<p>", "<meta charset='koi8-r'/><p>").encode(),
    ),
    "XHTML, marked UTF-16": ("application/xhtml+xml", f"\ufeff{XHTML}".encode("utf-16-le")),
    "SVG": (
        "image/svg+xml",
        DECLARED % b"iso-8859-1" + b"<svg xmlns='http://www.w3.org/2000/svg'>\xe9\x93</svg>",
    ),
    "XML": ("text/xml", b'<?xml version="1.0" encoding="windows-1251"?><a>\xc1</a>'),
    "XML that does not declare": ("application/xml", "<a>é</a>".encode()),
    "text by header": ("text/plain" + KOI, b"\xc1\xc2"),
    "text has no meta": ("text/plain", RUSSIAN + b"\x93It\x92s\x94"),
    "text, marked": ("text/plain", b"\xef\xbb\xbf\xc3\xa9"),
    "text, marked UTF-16": ("text/plain", "\ufeffabc é".encode("utf-16-le")),
    "text has no XML declaration": ("text/plain", b"<?xml encoding='koi8-r'?>It\x92s"),
    "JSON": ("application/json", '{"a":"é"}'.encode()),
    "JSON by header": ("application/json; charset=windows-1252", '{"a":"é"}'.encode()),
}
DOCUMENTS = {name: (f"text/html{more}", body) for name, (more, body) in HTML.items()} | OTHERS
SHEETS = {
    "@charset": ("text/css", b'@charset "koi8-r";'),
    "@charset and header": ("text/css; charset=windows-1251", b'@charset "koi8-r";'),
    "marked": ("text/css", b'\xef\xbb\xbf@charset "koi8-r";'),
    "nothing": ("text/css", b""),
    "UTF-16": ("text/css", b'@charset "utf-16";'),
    "no label": ("text/css", b'@charset "bogus";'),
    "single quotes": ("text/css", b"@charset 'koi8-r';"),
    "two spaces": ("text/css", b'@charset  "koi8-r";'),
    "capitals": ("text/css", b'@CHARSET "koi8-r";'),
    "a label in capitals": ("text/css", b'@charset "KOI8-R";'),
    "space before ;": ("text/css", b'@charset "koi8-r" ;'),
    "space before": ("text/css", b' @charset "koi8-r";'),
    "no end": ("text/css", b'@charset "koi8-r"'),
}
RULE = b"p::before{content:'\xc1\xe9'}"
SEEN = "() => [document.characterSet, document.documentElement.textContent]"
STYLE = "() => getComputedStyle(document.querySelector('p'), '::before').content"


def response(content_type: str, body: bytes) -> bytes:
    head = f"HTTP/1.1 200 OK\r\nContent-Type: {content_type}\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


def read(content_type: str, body: bytes):
    declared = extract_media_type(content_type)
    charset = declared.get("charset") if declared else ""
    return decode_document(body, sniff(declared, body), charset, URL)


def answer(target: bytes) -> bytes:
    """Respond with a document, a style sheet, a page that links one, or a page that frames all."""
    kind, _, number = target.removeprefix(b"/").decode().partition("/")
    if kind == "document":
        return response(*[*DOCUMENTS.values()][int(number)])
    if kind == "sheet":
        content_type, head = [*SHEETS.values()][int(number)]
        return response(content_type, head + RULE)
    if kind == "styled":
        page = f"<link rel=stylesheet href=/sheet/{number}><p>"
        return response("text/html; charset=windows-1252", page.encode())
    host = target.rpartition(b"?")[2].decode()
    urls = [f"document/{n}" for n in range(len(DOCUMENTS))]
    urls += [f"styled/{n}" for n in range(len(SHEETS))]
    frames = "".join(f"<iframe src=http://{host}/{each}></iframe>" for each in urls)
    return response("text/html; charset=utf-8", frames.encode())


async def documents_and_style_sheets_are_decoded_as_in_chromium(browser):
    """They are frames of another origin, because a frame inherits the encoding of its origin."""
    differences = {}
    async with raw_web(answer) as origin:
        page = await new_page(browser)
        other = origin.removeprefix("http://").replace("127.0.0.1", "localhost")
        await page.goto(f"{origin}/?{other}", wait_until="load")
        frames = {each.url.partition(other)[2]: each for each in page.frames}
        for number, (name, document) in enumerate(DOCUMENTS.items()):
            encoding, text = await frames[f"/document/{number}"].evaluate(SEEN)
            ours = read(*document)
            if encoding.lower() != ours.choice.encoding or text[-1:] not in ours.text:
                differences[name] = (encoding, text[-9:], ours)
        for number, (name, (content_type, head)) in enumerate(SHEETS.items()):
            theirs = await frames[f"/styled/{number}"].evaluate(STYLE)
            ours = read(content_type, head + RULE)
            if ours.choice.source is Source.ENVIRONMENT:
                ours = read("text/css; charset=windows-1252", head + RULE)
            if theirs[1:-1] not in ours.text:
                differences[name] = (theirs, ours)

    assert differences == {}


async def test_documents_bytes_and_responses_are_read_as_in_chromium(subtests):
    async with chromium() as browser:
        for check in (
            documents_and_style_sheets_are_decoded_as_in_chromium,
            every_byte_and_pair_is_decoded_like_in_chromium,
            chromium_shows_and_refuses_the_same_responses,
        ):
            with subtests.test(check.__name__):
                await check(browser)


def test_the_declared_encoding_is_recorded_even_if_not_used():
    for content_type, body, declared, source in [
        ("text/html", b"<p>", "", Source.BYTES),
        ("text/html; charset=Latin1", RUSSIAN, "Latin1", Source.TRANSPORT),
        ("text/html", b"<meta charset=' KOI8-R'>", "koi8-r", Source.DOCUMENT),
        ("text/html; charset=idna", b"", "idna", Source.BYTES),
        ("text/html", b"\xef\xbb\xbf" + RUSSIAN, "koi8-r", Source.MARK),
        ("text/css", b'@charset "x-sjis";', "x-sjis", Source.DOCUMENT),
        ("text/css", b"a{}", "", Source.ENVIRONMENT),
        ("text/xml", b"<a/>", "", Source.BYTES),
    ]:
        choice = read(content_type, body).choice

        assert (choice.declared, choice.source) == (declared, source)


KINDS = st.sampled_from(["text/html", "text/css", "text/plain", "application/xhtml+xml", "x/json"])
LABELS = st.sampled_from(
    ["", "utf-8", "latin1", "idna", "shift_jis", "utf-16", "\x85", "replacement"]
)


@given(st.binary(), KINDS, LABELS | st.text())
def test_any_bytes_and_label_have_a_result(body, kind, label):
    decoded = decode_document(body, kind, label, URL)

    assert lookup(decoded.choice.encoding)
    decoded.text.encode()


@given(st.text(), st.binary(max_size=3), st.sampled_from(["windows-1252", "utf-8", "koi8-r"]))
def test_a_declared_encoding_is_always_used(text, bad, label):
    body = f"<meta charset={label}>{text}".encode() + bad

    assert decode_document(body, "text/html", "", URL).choice.encoding == label


@settings(deadline=None)
@given(st.binary(max_size=300))
def test_the_start_of_a_document_decides_for_all_of_it(start):
    """Replay chooses the encoding before it has read the whole document."""
    start = (start * 70_000)[:70_000] if start else b""
    if is_enough_document(start, "text/html", ""):
        later = start + b"\xff\xfe" + "Широкая".encode() * 100

        assert choose_encoding(start, "text/html", "", URL) == choose_encoding(
            later, "text/html", "", URL
        )
