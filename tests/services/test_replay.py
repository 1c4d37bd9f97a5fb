import gzip
from contextlib import aclosing
from dataclasses import replace

import pytest

from archiver.errors import StoreError, TooLarge
from archiver.replay.addresses import Modifier, ReplayAddress
from archiver.replay.conditional_requests import Conditions
from archiver.replay.response import ReplayRequest
from tests.handmade_archive import HTML, PAGE, T1, T2, T3, VIEWER, archive_in


@pytest.fixture
async def archive(tmp_path):
    async with archive_in(tmp_path) as open_archive:
        yield open_archive


def at(prefix="", url=PAGE, modifier=Modifier.NONE):
    return ReplayAddress(prefix, modifier, url)


async def test_an_address_means_the_capture_nearest_to_its_moment(archive):
    first, second, third = [await archive.add(body=b"x", at=moment) for moment in (T1, T2, T3)]

    results = {
        prefix: await archive.replay.resolve(at(prefix))
        for prefix in ("", T1, T2, "20240229120002", "2023", "202402", "1999", "2099", "20240231")
    }

    assert results == {
        "": third,
        T1: first,
        T2: second,
        "20240229120002": second,
        "2023": first,
        "202402": second,
        "1999": first,
        "2099": third,
        "20240231": second,
    }


async def test_a_memento_has_its_headers(archive):
    capture = await archive.add(headers=(*HTML, ("Server", "x"), ("Set-Cookie", "a=b")))

    _, headers, _ = await archive.get(capture)

    assert ("Memento-Datetime", "Thu, 29 Feb 2024 12:00:01 GMT") in headers
    links = f'<{PAGE}>; rel="original", </timegate/{PAGE}>; rel="timegate", '
    links += f'</timemap/link/{PAGE}>; rel="timemap"; type="application/link-format"'
    assert ("Link", links) in headers
    assert ("X-Archive-Orig-server", "x") in headers
    assert not [name for name, _ in headers if "cookie" in name.lower()]


async def test_codings_are_undone_but_for_the_identity(archive):
    page = b"<a href=x>" * 10
    coded = gzip.compress(page)
    wire = b"".join(b"%x\r\n%b\r\n" % (1, coded[n : n + 1]) for n in range(len(coded)))
    headers = (*HTML, ("Content-Encoding", "gzip"), ("Transfer-Encoding", "chunked"))
    capture = await archive.add(body=coded, wire_body=wire + b"0\r\n\r\n", headers=headers)

    _, shown, body = await archive.get(capture)
    _, stored, identity = await archive.get(capture, Modifier.IDENTITY)

    assert body.count(b"/web/") == 10
    assert "Content-Encoding" not in dict(shown)
    assert identity == coded
    assert dict(stored)["Content-Encoding"] == "gzip"
    assert dict(stored)["Content-Type"] == "text/html;charset=utf-8"


async def test_a_page_is_served_in_the_charset_it_is_read_in(archive):
    for body, declared, charset, text in (
        (b"<p>\xe9\x81.", "; charset=iso-8859-1", "windows-1252", b"<p>\xe9\x81."),
        (b"\xef\xbb\xbf<p>\xc3\xa9\xff", "", "utf-8", b"\xef\xbb\xbf<p>\xc3\xa9\xff"),
        ("\ufeff<p>é".encode("utf-16-le"), "", "utf-8", "<p>é".encode()),
        ("<p>表".encode("cp932"), "; charset=shift_jis", "utf-8", "<p>表".encode()),
        (b"<meta charset=koi8-r><p>\xc1", "", "koi8-r", b"<meta charset=koi8-r><p>\xc1"),
        (
            b"<meta charset=koi8-r><p>\xc1",
            "; charset=idna",
            "koi8-r",
            b"<meta charset=koi8-r><p>\xc1",
        ),
        (
            b"<meta charset=utf-8><p>\xe2\x80\x9c\xff",
            "",
            "utf-8",
            b"<meta charset=utf-8><p>\xe2\x80\x9c\xff",
        ),
        (b"<p>abc", "; charset=iso-2022-kr", "utf-8", "\ufffd".encode()),
        (b"<p>It\x92s", "", "windows-1252", b"<p>It\x92s"),
    ):
        capture = await archive.add(body=body, headers=(("Content-Type", f"text/html{declared}"),))

        _, headers, replayed = await archive.get(capture)

        assert (dict(headers)["Content-Type"], replayed) == (
            f"text/html;charset={charset}",
            text,
        ), body


async def test_queries_are_encoded_in_the_charset_that_the_page_was_read_in(archive):
    page = '<img src="/é?a=Слово"><p style="b:url(?Ж)"><iframe srcdoc="<img src=?Ж>">'
    kind = (("Content-Type", "text/html; charset=koi8-r"),)
    captured = await archive.add(body=page.encode("koi8-r", "xmlcharrefreplace"), headers=kind)

    _, _, replayed = await archive.get(captured)

    assert b'/https://example.com/%C3%A9?a=%F3%CC%CF%D7%CF"' in replayed
    assert b"/page.html?%F6)" in replayed
    assert b"/page.html?%D0%96" in replayed, "a document in srcdoc is UTF-8"


async def test_a_redirect_loop_is_skipped(archive):
    other = "https://example.com/other"
    page = await archive.add(body=b"page", at=T1, headers=HTML)
    await archive.add(status=302, at=T2, headers=(("Location", other),))
    last = await archive.add(other, status=302, at=T2, headers=(("Location", PAGE),))

    assert await archive.replay.resolve(at(T2)) == page
    result = await archive.replay.resolve(at(T2, url=other))
    _, headers, _ = await archive.get(result)

    assert result.record_id == last.record_id
    assert "Location" not in dict(headers)


async def test_the_first_bytes_flow_before_the_last_are_made(archive):
    page = b"<a href=x>" * 50_000
    capture = await archive.add(body=page, headers=HTML)

    replayed = await archive.replay.open(capture, ReplayRequest(VIEWER))
    async with aclosing(replayed.body) as body:
        pieces = [len(piece) async for piece in body]

    assert sum(pieces) > len(page)
    assert max(pieces) < sum(pieces) // 4


async def test_a_record_with_another_id_is_an_error(archive):
    first = await archive.add(body=b"x", headers=HTML)
    second = await archive.add(body=b"y", headers=HTML, at=T3)
    path = archive.store.directory / first.location.segment
    data = path.read_bytes()
    start, end = first.location.offset, second.location.offset
    path.write_bytes(data[:start] + b"\0" * (end - start) + data[end:])

    with pytest.raises(StoreError):
        await archive.replay.open(first, ReplayRequest(VIEWER))


async def test_a_payload_without_a_record_is_an_error(archive):
    first = await archive.add("https://example.com/gone", body=b"gone")
    capture = await archive.add(body=b"other", headers=HTML, revisit_of=first)

    with pytest.raises(StoreError, match="archiver verify"):
        await archive.replay.open(capture, ReplayRequest(VIEWER))


async def test_a_response_that_decompresses_past_the_limit_is_an_error(archive):
    bomb = gzip.compress(b"\0" * (8 << 20))
    headers = (("Content-Type", "image/png"), ("Content-Encoding", "gzip"))
    capture = await archive.add(body=bomb, headers=headers)

    with pytest.raises(TooLarge):
        await archive.get(capture)


PICTURE = (("Content-Type", "image/png"),)


async def test_a_range_is_read_from_the_middle_of_a_record(archive):
    data = bytes(n % 251 for n in range(3 << 20))
    chunked = b"".join(
        b"%x\r\n%b\r\n" % (len(piece), piece)
        for piece in (data[at : at + 5000] for at in range(0, len(data), 5000))
    )
    coded = (*PICTURE, ("Transfer-Encoding", "chunked"))
    capture = await archive.add(body=data, wire_body=chunked + b"0\r\n\r\n", headers=coded)

    for first, last in ((0, 0), (1, 70_000), (2_999_990, 3_000_010), (len(data) - 1, len(data))):
        conditions = Conditions(range=f"bytes={first}-{last}")
        status, headers, body = await archive.get(capture, conditions=conditions)

        end = min(last + 1, len(data))
        assert (status, body) == (206, data[first:end])
        assert dict(headers)["Content-Range"] == f"bytes {first}-{end - 1}/{len(data)}"


async def test_ranges_apply_to_stored_bytes_only(archive):
    coded = gzip.compress(b"x" * 1000)
    capture = await archive.add(body=coded, headers=(*PICTURE, ("Content-Encoding", "gzip")))
    conditions = Conditions(range="bytes=2-5")

    status, shown, body = await archive.get(capture, conditions=conditions)
    stored = await archive.get(capture, Modifier.IDENTITY, conditions=conditions)

    assert (status, body) == (200, b"x" * 1000)
    assert not {"ETag", "Accept-Ranges"} & dict(shown).keys()
    assert (stored[0], stored[2]) == (206, coded[2:6])


async def test_a_revisit_has_the_entity_tag_and_the_length_of_its_payload(archive):
    first = await archive.add(body=b"12345", at=T1, headers=PICTURE)
    again = await archive.add(body=b"12345", at=T2, headers=PICTURE, revisit_of=first)

    replayed = await archive.replay.open(replace(again, payload_length=0), ReplayRequest(VIEWER))

    assert replayed.length == 5
    digest = first.payload_digest.removeprefix("sha256:")
    assert dict(replayed.headers)["ETag"] == f'"{digest}"'


async def test_a_revisit_has_its_own_head_if_it_is_stored(archive):
    first = await archive.add(body=b"12345", at=T1, headers=PICTURE)
    for revisit, status, kind in (
        (b"", 200, "image/png"),
        (b"HTTP/1.1 304 Not Modified\r\nX-Run: 2\r\n\r\n", 200, "image/png"),
        (b"HTTP/1.1 404 Not Found\r\nContent-Type: image/gif\r\n\r\n", 404, "image/gif"),
    ):
        again = await archive.add(body=b"12345", at=T2, head=revisit, revisit_of=first)

        result, headers, body = await archive.get(again)

        assert (result, dict(headers)["Content-Type"], body) == (status, kind, b"12345"), revisit
