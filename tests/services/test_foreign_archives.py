"""Files of other programs are imported or reported, and nothing is invented."""

import base64
import gzip
import hashlib
import io
import struct
import sys
import zipfile
from contextlib import aclosing

import pytest

from archiver.app import open_app
from archiver.config import Settings
from archiver.model.listing import ListingQuery
from archiver.replay.addresses import Modifier, parse_replay_path
from archiver.replay.response import ReplayRequest
from archiver.replay.response_headers import Viewer
from archiver.services.reindex import reindex
from archiver.warc import wacz
from tests.segments import segments
from tests.warcs import Warc, head

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

ONE, TWO = "http://a.example/one", "http://b.example/two"
ID = "urn:uuid:11111111-1111-4111-8111-111111111111"
EARLY, LATE = "2020-01-02T03:04:05Z", "2021-01-02T03:04:05Z"
PAGE = b"<!DOCTYPE html><title>Herons</title><p>The heron stands in the water."
OTHER = b"<!DOCTYPE html><title>Storks</title><p>The stork stands on the roof."
CHUNKED = b"5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n"
PROFILE = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
NOT_MODIFIED = "http://netpreserve.org/warc/1.1/revisit/server-not-modified"


def sha1(data):
    return "sha1:" + base64.b32encode(hashlib.sha1(data).digest()).decode()


def response(warc, url, body, **more):
    warc.response(url, body, "text/html", **more)


def revisit(warc, url, *, original=None, block=None, at=LATE, profile=PROFILE, **fields):
    block = head("HTTP/1.1 200 OK", "Content-Type: text/html") if block is None else block
    if original:
        fields |= {"Refers_To_Target_URI": original, "Refers_To_Date": EARLY}
    warc.add("revisit", url, block, at=at, Profile=profile, **fields)


@pytest.fixture
async def runtime(tmp_path):
    async with open_app(Settings(data=tmp_path / "data", allow_networks=())) as open_archive:
        yield open_archive


async def import_warc(runtime, tmp_path, data, name="a.warc.gz"):
    (tmp_path / name).write_bytes(data)
    with (tmp_path / name).open("rb") as source:
        return await runtime.imports.read_file(source, name=name)


async def payload(runtime, url, when="2020"):
    capture = await runtime.replay.resolve(parse_replay_path(f"/web/{when}id_/{url}"))
    replayed = await runtime.replay.open(
        capture, ReplayRequest(Viewer("http://x"), Modifier.IDENTITY)
    )
    async with aclosing(replayed.body) as body:
        return b"".join([piece async for piece in body])


async def captures(runtime, url):
    return await runtime.replay.captures_of(url)


async def problems(runtime):
    return [each async for each in runtime.fixity.verify()]


def stored(runtime):
    """Return every record of the archive as bytes."""
    return b"".join(map(gzip.decompress, segments(runtime.settings.data).values()))


async def test_records_with_the_same_id_get_different_ones(tmp_path):
    """Real files have them, and previously the archive could not be opened again."""
    settings, warc = Settings(data=tmp_path / "data"), Warc()
    response(warc, ONE, PAGE, id=ID)
    response(warc, TWO, OTHER, id=ID)
    response(warc, ONE, OTHER, id=ID, at=LATE)

    async with open_app(settings) as runtime:
        status = await import_warc(runtime, tmp_path, warc.bytes)

        assert (status.merged, status.added, status.error) == (3, 3, "")
        imported = [*await captures(runtime, ONE), *await captures(runtime, TWO)]
        assert len({each.record_id for each in imported}) == 3
        assert stored(runtime).count(f"Original-Record-ID: <{ID}>".encode()) == 2
        listed = await runtime.search.listing(ListingQuery())
        assert {each.entry.title for each in listed.items} == {"Herons", "Storks"} - {"Herons"}
        assert await problems(runtime) == []
        assert (await import_warc(runtime, tmp_path, warc.bytes)).merged == 0

    await reindex(settings)
    async with open_app(settings) as runtime:
        assert await payload(runtime, ONE) == PAGE
        assert await payload(runtime, TWO) == await payload(runtime, ONE, "2021") == OTHER
        assert len((await runtime.entries.get(ONE)).snapshots) == 2
        assert await problems(runtime) == []


async def test_an_imported_record_does_not_reuse_an_id_of_the_archive(runtime, tmp_path):
    first, second = Warc(), Warc()
    response(first, ONE, PAGE, id=ID)
    response(second, TWO, OTHER, id=ID)

    await import_warc(runtime, tmp_path, first.bytes)
    await import_warc(runtime, tmp_path, second.bytes)

    (one,), (two,) = await captures(runtime, ONE), await captures(runtime, TWO)
    assert one.record_id == ID != two.record_id


async def test_a_revisit_without_its_original_is_reported_as_unusable(runtime, tmp_path):
    warc = Warc()
    response(warc, ONE, PAGE)
    revisit(warc, ONE, original=ONE, Payload_Digest="sha256:" + "0" * 64)

    status = await import_warc(runtime, tmp_path, warc.bytes)

    assert (status.merged, status.rejected) == (1, 1)
    (gap,) = status.rejected_samples
    assert gap.given == f"{ONE} at 20210102030405"
    assert "neither in the archive nor in the file" in gap.reason
    assert len(await captures(runtime, ONE)) == 1


async def test_a_revisit_waits_for_a_file_with_its_original(runtime, tmp_path):
    """Also if that is read much later; a file of nothing but revisits is no error."""
    first, second, third = Warc(), Warc(), Warc()
    revisit(first, ONE, Payload_Digest=sha1(PAGE))
    revisit(first, TWO, Payload_Digest=sha1(OTHER))
    response(second, "http://elsewhere.example/", PAGE, Payload_Digest=sha1(PAGE))
    response(third, "http://elsewhere.example/2", OTHER, Payload_Digest=sha1(OTHER))

    pending = runtime.settings.data / "pending-revisits"
    for warc, read, remaining in (
        (first, 2, 1),
        (first, 2, 1),
        (second, 2, 1),
        (third, 2, 0),
        (first, 2, 0),
    ):
        status = await import_warc(runtime, tmp_path, warc.bytes)

        assert (status.read, status.error) == (read, "")
        assert len([*pending.iterdir()]) == remaining
    assert [each.timestamp for each in await captures(runtime, ONE)] == ["20210102030405"]
    assert len(await captures(runtime, TWO)) == 1
    assert "waits until a file" not in "".join(each.reason for each in status.rejected_samples)


@pytest.mark.parametrize(("url", "digest"), [(ONE, None), (TWO, lambda data: sha1(data).lower())])
async def test_a_revisit_has_the_payload_of_its_digest(runtime, tmp_path, url, digest):
    """The original is at the same or another URL, with a digest or not."""
    warc = Warc()
    fields = {"Payload_Digest": digest(PAGE)} if digest else {}
    revisit(warc, url, original=ONE if not digest else None, Payload_Digest=sha1(PAGE))
    response(warc, ONE, OTHER, at="2020-06-01T00:00:00Z")
    response(warc, ONE, PAGE, **fields)

    status = await import_warc(runtime, tmp_path, warc.bytes)
    again = await import_warc(runtime, tmp_path, warc.bytes)

    assert (status.merged, status.rejected, again.merged) == (3, 0, 0)
    assert await payload(runtime, url, "2021") == PAGE
    assert await problems(runtime) == []


@pytest.mark.parametrize(
    "named",
    [
        {"Refers_To": f"<{ID}>"},
        {"Refers_To": f"<{ID}>", "Payload_Digest": sha1(PAGE)},
        {"Refers_To_Target_URI": ONE},
    ],
)
async def test_a_revisit_finds_its_original_at_another_url(runtime, tmp_path, named):
    """It names the record id or the URL, and the original states no digest."""
    made = Warc()
    response(made, ONE, PAGE, id=ID)
    response(made, "http://a.example/", OTHER)
    revisit(made, TWO, **named)

    status = await import_warc(runtime, tmp_path, made.bytes)

    assert (status.merged, status.rejected) == (3, 0)
    assert await payload(runtime, TWO, "2021") == PAGE


async def test_a_url_without_a_date_names_no_original_if_its_payload_changed(runtime, tmp_path):
    made = Warc()
    response(made, ONE, PAGE)
    response(made, ONE, OTHER, at="2020-06-01T00:00:00Z")
    revisit(made, TWO, Refers_To_Target_URI=ONE)

    status = await import_warc(runtime, tmp_path, made.bytes)

    assert (status.merged, status.rejected) == (2, 1)


async def test_a_chain_of_revisits_is_resolved_in_any_order_of_records_and_files(runtime, tmp_path):
    """Each revisit names the one before it; the files are read last to first."""
    files, urls = [Warc() for _ in range(3)], [f"http://c{n}.example/" for n in range(6)]
    response(files[0], urls[0], PAGE)
    for n in range(5, 0, -1):
        at = f"202{n + 1}-01-02T03:04:05Z"
        fields = {"Refers_To_Target_URI": urls[n - 1], "Refers_To_Date": f"202{n}-01-02T03:04:05Z"}
        fields = fields if n > 1 else {"Refers_To_Target_URI": urls[0], "Refers_To_Date": EARLY}
        revisit(files[n // 2], urls[n], at=at, **fields)

    read = [await import_warc(runtime, tmp_path, made.bytes) for made in reversed(files)]

    assert [(each.read, each.error) for each in read] == [(2, ""), (2, ""), (6, "")]
    assert [await payload(runtime, url, "2029") for url in urls] == [PAGE] * 6
    assert not [*(runtime.settings.data / "pending-revisits").iterdir()]
    assert await problems(runtime) == []


async def test_a_revisit_finds_a_payload_of_an_earlier_import_by_its_own_digest(tmp_path):
    """Also after the index was rebuilt from the records."""
    settings, first, second = Settings(data=tmp_path / "data"), Warc(), Warc()
    response(first, ONE, PAGE, Payload_Digest=sha1(PAGE))
    revisit(second, TWO, Payload_Digest=sha1(PAGE))
    async with open_app(settings) as runtime:
        await import_warc(runtime, tmp_path, first.bytes)
    await reindex(settings)

    async with open_app(settings) as runtime:
        status = await import_warc(runtime, tmp_path, second.bytes)

        assert (status.merged, status.rejected) == (1, 0)
        assert await payload(runtime, TWO) == PAGE


async def test_a_digest_that_a_record_states_and_does_not_have_names_nothing(runtime, tmp_path):
    warc = Warc()
    response(warc, ONE, PAGE, Payload_Digest=sha1(OTHER))
    revisit(warc, TWO, original=ONE, Payload_Digest=sha1(OTHER))

    status = await import_warc(runtime, tmp_path, warc.bytes)

    assert (status.merged, status.rejected) == (1, 1)


async def test_a_not_modified_revisit_is_imported_with_or_without_a_head(runtime, tmp_path):
    warc = Warc()
    response(warc, ONE, PAGE)
    revisit(warc, ONE, block=b"", profile=NOT_MODIFIED)
    unmodified = head("HTTP/1.1 304 Not Modified", "ETag: x")
    revisit(
        warc, ONE, block=unmodified, profile=NOT_MODIFIED, at="2022-01-02T03:04:05Z", original=ONE
    )

    status = await import_warc(runtime, tmp_path, warc.bytes)

    assert (status.merged, status.rejected, status.added) == (3, 0, 1)
    stored = await captures(runtime, ONE)
    assert [(each.status, each.is_revisit) for each in stored] == [
        (200, False), (304, True), (304, True)
    ]  # fmt: skip
    assert await payload(runtime, ONE, "2022") == PAGE
    assert await problems(runtime) == []


async def test_a_revisit_of_a_chunked_payload_at_another_url_holds_the_payload(runtime, tmp_path):
    """Other programs could not find it, because such a record has no digest."""
    warc, framed = Warc(), ["Transfer-Encoding: chunked"]
    warc.response(ONE, CHUNKED, "text/plain", extra=framed, Payload_Digest=sha1(CHUNKED))
    block = head("HTTP/1.1 200 OK", "Content-Type: text/plain", *framed)
    for digest, at in ((CHUNKED, LATE), (b"hello world", "2022-01-02T03:04:05Z")):
        revisit(warc, TWO, block=block, original=ONE, at=at, Payload_Digest=sha1(digest))

    status = await import_warc(runtime, tmp_path, warc.bytes)

    assert (status.merged, status.rejected) == (3, 0)
    stored = await captures(runtime, TWO)
    assert [each.is_revisit for each in stored] == [False, True]
    assert await payload(runtime, TWO, "2021") == b"hello world"
    assert await problems(runtime) == []


def package(records, *, name="archive/a.warc.gz", compression=zipfile.ZIP_STORED, pages=()):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", compression) as archive:
        archive.writestr(name, records)
        for url, title in pages:
            line = f'{{"url": "{url}", "ts": "{EARLY}", "title": "{title}"}}\n'
            archive.writestr("pages/pages.jsonl", line)
    return packed.getvalue()


async def test_packages_within_a_package_are_read(runtime, tmp_path):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as whole:
        for number, (url, body) in enumerate(((ONE, PAGE), (TWO, OTHER))):
            warc = Warc()
            response(warc, url, body)
            response(warc, f"{url}/frame", body)
            inner = package(warc.bytes, pages=[(url, f"Page {number}")])
            whole.writestr(f"{number}.wacz", inner)
        whole.writestr("datapackage.json", '{"profile": "multi-wacz-package"}')

    status = await import_warc(runtime, tmp_path, packed.getvalue(), "crawl.wacz")

    assert (status.merged, status.added, status.rejected) == (4, 2, 0)
    assert (await runtime.entries.get(TWO)).entry.title == "Page 1"


ARC_HEAD = b"1 0 Here\nURL IP-address Archive-date Content-type Archive-length\n"


def arc(*records):
    first = b"filedesc://a.arc 0.0.0.0 20200102030405 text/plain %d\n" % len(ARC_HEAD)
    parts = [first + ARC_HEAD + b"\n"]
    for url, content in records:
        line = f"{url} 192.0.2.1 20200102030405 text/html {len(content)}\n".encode()
        parts.append(line + content + b"\n")
    return b"".join(map(gzip.compress, parts))


async def test_captures_of_an_arc_file_are_imported(runtime, tmp_path):
    arc_file = arc(
        ("dns:a.example", b"20200102030405\na.example. 1 IN A 192.0.2.1\n"),
        (ONE, head("HTTP/1.1 200 OK", "Content-Type: text/html") + PAGE),
        ("http://a.example/with a space", head("HTTP/1.0 404 Not Found") + b"none"),
        (TWO, OTHER),
    )

    status = await import_warc(runtime, tmp_path, arc_file, "a.arc.gz")
    again = await import_warc(runtime, tmp_path, arc_file, "a.arc.gz")

    assert (status.format, status.merged, status.rejected, status.added) == ("ARC", 3, 0, 2)
    assert (status.passed_over, again.merged) == (2, 0)
    assert await payload(runtime, ONE) == PAGE
    assert await payload(runtime, TWO) == OTHER
    assert (await captures(runtime, ONE))[0].ip == "192.0.2.1"
    assert await problems(runtime) == []


async def test_a_zstandard_file_with_a_dictionary_is_imported(runtime, tmp_path):
    parts = []
    for number in range(20):
        warc = Warc(packed=False)
        response(warc, f"{ONE}/{number}", PAGE * 9 + b"%d" % number)
        parts.append(warc.bytes)
    dictionary = zstd.train_dict(parts, 2048)
    content = zstd.compress(dictionary.dict_content)
    start = b"\x5d\x2a\x4d\x18" + struct.pack("<I", len(content)) + content
    packed = start + b"".join(zstd.compress(each, zstd_dict=dictionary) for each in parts)

    status = await import_warc(runtime, tmp_path, packed, "a.warc.zst")

    assert (status.format, status.merged, status.rejected) == ("WARC", 20, 0)
    assert await payload(runtime, f"{ONE}/7") == PAGE * 9 + b"7"


async def test_resources_are_captures_where_they_have_the_address_of_one(runtime, tmp_path):
    warc = Warc()
    warc.add("resource", ONE, PAGE)
    warc.add("resource", "ftp://a.example/file", b"content")
    warc.add("resource", "urn:thumbnail:http://a.example/", b"\x89PNG")
    warc.add("conversion", ONE, b"text")
    warc.add("response", "dns:a.example", b"20200102030405")
    warc.add("warcinfo", "", b"software: x")

    status = await import_warc(runtime, tmp_path, warc.bytes)

    assert (status.read, status.merged, status.rejected, status.passed_over) == (2, 1, 1, 4)
    assert status.rejected_samples[0].given == "ftp://a.example/file"
    assert await payload(runtime, ONE) == PAGE
    assert (await captures(runtime, ONE))[0].status == 200
    assert b"WARC-Archiver-Head: synthesised" in stored(runtime)


async def test_the_segments_of_a_record_are_joined_and_those_that_lack_one_are_named(
    runtime, tmp_path
):
    warc, block = Warc(), head("HTTP/1.1 200 OK", "Content-Type: text/html") + PAGE
    other = ID.replace("1", "2")
    warc.add("response", ONE, block[:90], id=ID, Segment_Number=1)
    warc.add("response", TWO, block[:50], id=other, Segment_Number=1)
    warc.add("continuation", ONE, block[90:99], Segment_Number=2, Segment_Origin_ID=f"<{ID}>")
    warc.add(
        "continuation", ONE, block[99:], Segment_Number=3, Segment_Origin_ID=f"<{ID}>",
        Segment_Total_Length=len(block),
    )  # fmt: skip
    warc.add("continuation", "http://c.example/", b"x", Segment_Number=2, Segment_Origin_ID="<x:y>")

    status = await import_warc(runtime, tmp_path, warc.bytes)

    assert (status.merged, status.rejected) == (1, 2)
    assert await payload(runtime, ONE) == PAGE
    assert [TWO in each.reason for each in status.rejected_samples] == [False, True]


def with_entry(change):
    """Return a package in whose directory a field of its entry was changed."""
    warc = Warc()
    response(warc, ONE, PAGE)
    packed = bytearray(package(warc.bytes, compression=zipfile.ZIP_DEFLATED))
    change(packed, packed.rindex(b"PK\x01\x02"))
    return bytes(packed)


def patch(offset, value):
    return lambda packed, at: packed.__setitem__(
        slice(at + offset, at + offset + len(value)), value
    )


def bomb():
    warc = Warc(packed=False)
    warc.add("resource", ONE, b"\0" * (8 << 20))
    return package(warc.bytes, name="archive/a.warc", compression=zipfile.ZIP_DEFLATED)


def contents_of(size):
    return (
        b"PK\x03\x04" + b"0" * 60 + struct.pack("<4sHHHHIIH", b"PK\x05\x06", 0, 0, 9, 9, size, 0, 0)
    )


DAMAGED = {
    "encrypted": (with_entry(patch(8, b"\x01\x00")), "encrypted"),
    "a compression that nobody knows": (with_entry(patch(10, b"\x63\x00")), "Cannot read"),
    "a checksum that is wrong": (with_entry(patch(16, b"\0\0\0\0")), "damaged"),
    "an entry that begins nowhere": (with_entry(patch(42, b"\xff\xff\xff\x7f")), "Cannot read"),
    "an endless list of contents": (contents_of(0x7FFFFFFF), "too many files"),
    "a list of contents that is none": (contents_of(46), "damaged zip file"),
    "no list of contents": (b"PK\x03\x04" + b"0" * 100, "damaged zip file"),
    "bytes that unpack to far too much": (bomb(), "decompresses to more than"),
    "what is no record": (package(b"something else entirely"), "not a WARC file"),
    "a package within a package": (
        package(package(package(b"x"), name="b.wacz"), name="c.wacz"),
        "no readable captures",
    ),
}


async def test_a_package_that_can_not_be_read_ends_its_import_with_a_sentence(
    runtime, tmp_path, monkeypatch
):
    monkeypatch.setattr(wacz, "BASE_ALLOWANCE", 1 << 20)
    for name, (data, sentence) in DAMAGED.items():
        status = await import_warc(runtime, tmp_path, data, "a.wacz")

        assert not status.reading, name
        assert sentence in status.error, name


@pytest.mark.parametrize(("name", "at"), [("a.warc.gz", 12), ("a.wacz", -6)])
async def test_records_after_a_damaged_first_one_are_imported(runtime, tmp_path, name, at):
    first, second = Warc(), Warc()
    response(first, ONE, PAGE)
    response(second, TWO, OTHER)
    damaged = bytearray(first.bytes)
    damaged[at] ^= 0xFF
    data = bytes(damaged) + second.bytes

    status = await import_warc(runtime, tmp_path, package(data) if name == "a.wacz" else data, name)

    assert (status.merged, status.rejected, status.error) == (1, 1, "")
    assert await payload(runtime, TWO) == OTHER


async def test_intact_files_of_a_damaged_package_are_imported(runtime, tmp_path):
    warc, packed = Warc(), io.BytesIO()
    response(warc, ONE, PAGE)
    with zipfile.ZipFile(packed, "w") as whole:
        whole.writestr("archive/a.warc.gz", b"nothing of the kind")
        whole.writestr("archive/b.warc.gz", warc.bytes)

    status = await import_warc(runtime, tmp_path, packed.getvalue(), "a.wacz")

    assert (status.merged, status.rejected, status.error) == (1, 1, "")
    assert status.rejected_samples[0].given == "archive/a.warc.gz"
