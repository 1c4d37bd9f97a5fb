"""Included pages keep their resources, within limits, with rewritten references."""

import base64
import io
import json
import tarfile
import zipfile
from datetime import UTC, datetime
from hashlib import md5
from html import escape
from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archiver.formats import archive_records
from archiver.formats.archive_members import TarMembers
from archiver.formats.archive_records import ForeignCapture, StoredResponses
from archiver.formats.saved_pages import MAX_MIME_PARTS, mhtml_page, mime_parts
from archiver.model.capture import Exchange, PayloadDigest, RecordId
from archiver.model.seed import part_url
from tests.formats.goldens import GOLDENS, A
from tests.formats.reading import opened

PICTURE = b"\x89PNG a picture"
SHEET = b"body { background: url(cid:back@mhtml) }"
MHTML = b"\r\n".join(
    [
        b"From: <Saved by Blink>",
        b"Snapshot-Content-Location: " + A.partition("#")[0].encode(),
        b"Subject: =?utf-8?Q?Caf=C3=A9?=",
        b"Date: Sun, 13 Sep 2020 12:26:40 -0000",
        b"MIME-Version: 1.0",
        b'Content-Type: multipart/related; type="text/html"; boundary="----Boundary--x----"',
        b"",
        b"",
        b"------Boundary--x----",
        b"Content-Type: text/html",
        b"Content-ID: <frame-1@mhtml>",
        b"Content-Transfer-Encoding: quoted-printable",
        b"Content-Location: " + A.partition("#")[0].encode(),
        b"",
        b'<html><link rel=3D"stylesheet" href=3D"cid:css-1@mhtml"><p>Caf=C3=A9 =',
        b'au lait</p><img src=3D"https://a.example/a.png"></html>',
        b"------Boundary--x----",
        b"Content-Type: image/png",
        b"Content-Transfer-Encoding: base64",
        b"Content-Location: https://a.example/a.png",
        b"",
        base64.encodebytes(PICTURE).replace(b"\n", b"\r\n").rstrip(),
        b"------Boundary--x----",
        b"Content-Type: text/css",
        b"Content-ID: <css-1@mhtml>",
        b"Content-Transfer-Encoding: binary",
        b"Content-Location: cid:css-1@mhtml",
        b"",
        SHEET,
        b"------Boundary--x----",
        b"Content-Type: image/gif",
        b"Content-ID: <back@mhtml>",
        b"Content-Transfer-Encoding: base64",
        b"",
        base64.b64encode(b"GIF89a"),
        b"------Boundary--x------",
        b"",
    ]
)


def pages(data, name="file"):
    return [each.page for each in opened(data, name)[1]]


def test_an_mhtml_page_is_imported_with_its_resources():
    (page,) = pages(MHTML)
    sheet, back = part_url(SHEET), part_url(b"GIF89a")

    assert page.content.decode() == (
        f'<html><link rel="stylesheet" href="{sheet}"><p>Café au lait</p>'
        '<img src="https://a.example/a.png"></html>'
    )
    assert [(each.url, each.media_type, each.content) for each in page.parts] == [
        ("https://a.example/a.png", "image/png", PICTURE),
        (sheet, "text/css", SHEET.replace(b"cid:back@mhtml", back.encode())),
        (back, "image/gif", b"GIF89a"),
    ]


def test_the_url_of_a_page_can_be_that_of_its_html_part_alone():
    (bookmark,) = opened(MHTML.replace(b"Snapshot-Content-Location", b"X-Other"), "file.mht")[1]

    assert bookmark.annotation.url_given == A.partition("#")[0]
    assert len(bookmark.page.parts) == 3


def self_extracting(files):
    head = (
        "<!DOCTYPE html><html data-sfz><!--\n Page saved with SingleFile \n url: https://a.example/x"
        " \n saved date: Sun Sep 13 2020 12:26:40 GMT+0000 (UTC)\n--><meta charset=windows-1252>"
        "<title>An A</title><body hidden><script>unpack()</script><xmp>"
    )
    whole = io.BytesIO(head.encode())
    with zipfile.ZipFile(whole, "a", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return whole.getvalue()


def test_a_self_extracting_page_is_read_as_its_content():
    files = {"index.html": b'<p>Caf\xc3\xa9</p><img src="images/0.png">', "images/0.png": PICTURE}

    form, [bookmark] = opened(self_extracting(files), "x.html")

    assert (form, bookmark.annotation.title) == ("SingleFile HTML", "An A")
    assert bookmark.annotation.url_given == "https://a.example/x"
    assert bookmark.annotation.added_at == datetime(2020, 9, 13, 12, 26, 40, tzinfo=UTC)
    assert bookmark.page.content == (f'<p>Café</p><img src="{part_url(PICTURE)}">'.encode())
    assert [(each.media_type, each.content) for each in bookmark.page.parts] == [
        ("image/png", PICTURE)
    ]


def test_a_clipped_note_is_imported_with_its_pictures():
    key = md5(PICTURE, usedforsecurity=False).hexdigest()
    note = (
        f"<en-export><note><title>A</title><content><![CDATA[<en-note>Here:"
        f'<en-media type="image/png" hash="{key}"/></en-note>]]></content>'
        f"<note-attributes><source-url>https://a.example/</source-url></note-attributes>"
        f'<resource><data encoding="base64">\n{base64.encodebytes(PICTURE).decode()}</data>'
        f"<mime>image/png</mime></resource></note></en-export>"
    )

    (page,) = pages(note)

    assert page.content.decode() == f'<en-note>Here:<img src="{part_url(PICTURE)}"></en-note>'
    assert [(each.url, each.content) for each in page.parts] == [(part_url(PICTURE), PICTURE)]


def test_the_best_copy_of_a_page_is_imported():
    copies = [
        ("text/html", b"<html><p>A whole page</p></html>"),
        ("text/html; charset=utf-8", b"<p>An article</p>"),
    ]
    note = b"<!DOCTYPE html><meta charset=utf-8><article><p>Only words.</p></article>"

    for form, expected in (
        ("Linkwarden zip", [*copies, ("application/pdf", b"%PDF-1.4")]),
        ("Karakeep dump", copies),
        ("Karakeep data directory", [*copies, ("text/html; charset=utf-8", note)]),
    ):
        name, data, _ = GOLDENS[form]
        results = [each for each in pages(data, name) if each]
        assert [(each.media_type, each.content) for each in results] == expected


def test_paths_in_a_tar_archive_cannot_leave_it():
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for name, kind in (("../../etc/passwd", b"2"), ("link", b"1"), ("dev", b"3")):
            info = tarfile.TarInfo(name)
            info.type, info.linkname = kind, "/etc/passwd"
            archive.addfile(info)
    members = TarMembers(packed)

    assert members.names == ()
    assert members.read("link", 100) == b""


LONG = "<p>The otter swam.</p>" * 200


RSS = (
    '<rss xmlns:content="http://purl.org/rss/1.0/modules/content/"><channel><item>'
    "<link>https://a.example/</link><description>A word</description>"
    f"<content:encoded><![CDATA[{LONG}]]></content:encoded></item></channel></rss>"
)
ATOM = (
    '<feed xmlns="http://www.w3.org/2005/Atom"><entry><link href="https://a.example/"/>'
    f'<content type="html">{escape(LONG)}</content></entry></feed>'
)
JSON_FEED = json.dumps(
    {
        "version": "https://jsonfeed.org/version/1.1",
        "items": [{"url": "https://a.example/", "content_html": LONG}],
    }
)


@pytest.mark.parametrize(
    ("name", "feed"), [("RSS or Atom", RSS), ("RSS or Atom", ATOM), ("JSON Feed", JSON_FEED)]
)
def test_an_article_in_a_feed_becomes_the_page_of_its_item(name, feed):
    form, [bookmark] = opened(feed)

    assert (form, bookmark.page.content) == (name, LONG.encode())
    assert len(bookmark.annotation.source_record) < 3_000


@given(st.binary(), st.binary(max_size=20))
def test_any_bytes_are_parsed(data, boundary):
    mark = boundary.hex().encode() or b"x"
    head = b'Content-Type: multipart/related; boundary="' + mark + b'"\n\n'
    wrapped = head + data.replace(b"\n", b"\n--" + mark + b"\n")

    for each in (data, wrapped, MHTML[: len(data) * 20]):
        parts = mime_parts(each)
        is_page = any("html" in part.essence for part in parts)
        assert (mhtml_page(parts, A) is not None) == is_page


def test_nested_parts_are_limited():
    nested = b"Content-Type: multipart/mixed; boundary=x\n\n--x\n"

    assert len(mime_parts(nested * 5000)) <= MAX_MIME_PARTS


ONE, TWO = RecordId("urn:uuid:1"), RecordId("urn:uuid:2")


def answer(given_id: str, body: bytes) -> ForeignCapture:
    exchange = Exchange(
        url="https://example.com/ask",
        at=datetime(2026, 1, 1, tzinfo=UTC),
        ip="192.0.2.1",
        request=b"POST /ask HTTP/1.1\r\n\r\n",
        head=b"HTTP/1.1 200 OK\r\n\r\n",
        body=BytesIO(body),
        chunked=False,
        status=200,
        headers=(),
        payload_digest=PayloadDigest("sha256:0"),
        payload_length=len(body),
        is_shown=False,
    )
    return ForeignCapture(exchange, given_id)


def read(exchange: Exchange) -> bytes:
    with exchange.body as body:
        body.seek(0)
        return body.read()


@pytest.fixture
def stored_responses():
    with StoredResponses() as responses:
        yield responses


def test_a_response_belongs_to_the_first_page_that_names_it(stored_responses):
    stored_responses.note(answer(ONE, b"first"))
    stored_responses.note(answer(TWO, b"second"))

    assert read(stored_responses.take(TWO)) == b"second"
    assert stored_responses.take(TWO) is None
    assert stored_responses.take(RecordId("urn:uuid:3")) is None
    assert read(stored_responses.take(ONE)) == b"first"


def test_responses_that_decompress_beyond_the_limit_are_left_out(stored_responses, monkeypatch):
    monkeypatch.setattr(archive_records, "MAX_SPOOLED", 10)
    stored_responses.note(answer(ONE, b"a" * 11))
    stored_responses.note(answer(TWO, b"b" * 10))

    assert stored_responses.take(ONE) is None
    assert read(stored_responses.take(TWO)) == b"b" * 10
