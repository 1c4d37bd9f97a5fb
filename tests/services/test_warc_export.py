"""Exports contain all parts of a snapshot, each record once, in formats of other tools."""

import asyncio
import gzip
import hashlib
import io
import json
import zipfile
from collections import defaultdict
from datetime import UTC, datetime, timedelta

import pytest
import warcio.cli
from warcio.archiveiterator import ArchiveIterator

from archiver.app import open_app
from archiver.config import Settings
from archiver.crawl.visit_result import Visit, VisitResult
from archiver.db import new_entries
from archiver.http.timestamps import to_timestamp
from archiver.http.urls import hash_url, host
from archiver.model.annotation import Annotation
from archiver.model.capture import Exchange, PayloadDigest
from archiver.model.export_kinds import BY_KEY
from archiver.model.job import EntryRef
from archiver.model.listing import ListingQuery
from archiver.model.page import Article
from archiver.model.seed import Seed
from archiver.services import warc_export
from archiver.services.export_selection import Report, Selected
from tests.conftest import exported, filled_by, saved_url
from tests.crawler import Crawl, crawler

EVERYTHING = Selected()
ANIMALS = Selected(ListingQuery(tag="animals"))
PIXEL = "<link rel=stylesheet href=/style.css><img src=/missing.png>"


@filled_by
async def fill(archive, live):
    """Save two pages with one style sheet, the first one twice."""
    live.put("/style.css", "p { color: red }", kind="text/css")
    pages = [live.article(name, head=PIXEL) for name in ("foxes", "geese")]
    for urls in (pages, pages[:1]):
        await archive.entries.save(urls, tags=["animals"], source="cli")
        await archive.crawling.work()


@pytest.fixture
async def runtime(settings, prepared, open_archive):
    await prepared.copy(fill, settings.data)
    async with open_archive() as archive:
        yield archive


async def whole(pieces):
    return b"".join([piece async for piece in pieces])


async def warc_of(runtime, selection):
    return await exported(runtime, "warc", selection)


async def wacz_of(runtime, selection):
    return await exported(runtime, "wacz", selection)


def records(warc):
    """Return (type, target, record id) of each record."""
    return [
        (
            record.rec_type,
            record.rec_headers.get_header("WARC-Target-URI"),
            record.rec_headers.get_header("WARC-Record-ID"),
        )
        for record in ArchiveIterator(io.BytesIO(warc))
    ]


def is_checked(path):
    with pytest.raises(SystemExit) as ended:
        warcio.cli.main(["check", str(path)])
    return ended.value.code == 0


async def test_a_warc_has_every_selected_record_once(runtime, tmp_path):
    for selection in (EVERYTHING, ANIMALS):
        warc = await warc_of(runtime, selection)
        (tmp_path / "all.warc.gz").write_bytes(warc)

        result = records(warc)
        kinds = [kind for kind, _, _ in result]
        assert len({record_id for _, _, record_id in result}) == len(result)
        assert kinds[0] == "warcinfo"
        assert kinds.count("metadata") == 3
        assert kinds.count("conversion") == 2
        assert kinds.count("response") + kinds.count("revisit") == kinds.count("request")
        assert is_checked(tmp_path / "all.warc.gz")

    # The export of one entry includes the payload that its second snapshot refers to.
    entry = (await runtime.entries.get(saved_url(runtime.settings, "/foxes"))).entry
    selection = Selected(hash_url=entry.hash_url)

    result = records(await warc_of(runtime, selection))

    of_page = [kind for kind, target, _ in result if target == entry.url]
    assert sorted(of_page) == ["request", "request", "response", "revisit"]


async def test_the_digests_index_and_pages_of_a_wacz_are_right(runtime, tmp_path):
    for selection in (EVERYTHING, Selected(ListingQuery(q="geese"))):
        check_package(await wacz_of(runtime, selection), tmp_path)


def check_package(packed, tmp_path):
    """Compare the lists of a package with its content."""
    with zipfile.ZipFile(io.BytesIO(packed)) as package:
        assert package.testzip() is None
        description = json.loads(package.read("datapackage.json"))
        for each in description["resources"]:
            data = package.read(each["path"])
            assert each["hash"] == f"sha256:{hashlib.sha256(data).hexdigest()}"
            assert each["bytes"] == len(data)
        digest = json.loads(package.read("datapackage-digest.json"))["hash"]
        assert digest == f"sha256:{hashlib.sha256(package.read('datapackage.json')).hexdigest()}"
        warc = package.read("archive/data.warc.gz")
        index = gzip.decompress(package.read("indexes/index.cdx.gz")).decode().splitlines()
        pages = [json.loads(line) for line in package.read("pages/pages.jsonl").splitlines()]
    (tmp_path / "data.warc.gz").write_bytes(warc)
    assert is_checked(tmp_path / "data.warc.gz")
    assert index == sorted(index)
    assert len(index) == sum(1 for kind, *_ in records(warc) if kind in ("response", "revisit"))
    for line in index:
        place = json.loads(line.split(" ", 2)[2])
        member = warc[int(place["offset"]) : int(place["offset"]) + int(place["length"])]
        (record,) = records(member)
        assert record[1] == place["url"]
    assert {page["title"] for page in pages[1:]} >= {"geese"}
    assert (description["wacz_version"], description["title"]) == ("1.1.1", "all")


def entry_records(warc):
    """Return the JSON of each entry record, by its URL."""
    result = defaultdict(list)
    for record in ArchiveIterator(io.BytesIO(warc)):
        if record.rec_type == "metadata" and record.content_type == "application/json":
            document = json.loads(record.content_stream().read())
            result[document["entry"]["url"]].append(document)
    return result


def ids(warc):
    return {record_id for kind, _, record_id in records(warc) if kind != "warcinfo"}


def damage(data, kind, url):
    """Flip a bit in the middle of the first record of this type and URL; return its id."""
    (segment,) = (data / "warc").glob("*.warc.gz")
    content = bytearray(segment.read_bytes())
    reader = ArchiveIterator(io.BytesIO(content))
    for record in reader:
        target, start = record.rec_headers.get_header("WARC-Target-URI"), reader.get_record_offset()
        reader.read_to_end()
        if record.rec_type == kind and url in target:
            content[start + reader.get_record_length() // 2] ^= 0x10
            segment.write_bytes(content)
            return record.rec_headers.get_header("WARC-Record-ID")
    raise AssertionError("there is no such record")


@pytest.mark.parametrize("kind", ["response", "request", "metadata"])
async def test_a_damaged_record_is_left_out_and_reported(runtime, tmp_path, kind):
    # The missing image may be requested twice within a second; a selection has it once.
    ids_before = [ids(await warc_of(runtime, each)) for each in (EVERYTHING, ANIMALS)]
    geese = saved_url(runtime.settings, "/geese")
    key = hash_url(geese) if kind == "metadata" else geese
    record_id = damage(tmp_path / "data", kind, key)
    for form, selection, before in zip(
        ("warc", "wacz"), (EVERYTHING, ANIMALS), ids_before, strict=True
    ):
        export_report = Report()
        warc = await exported(runtime, form, selection, export_report)
        if form == "wacz":
            with zipfile.ZipFile(io.BytesIO(warc)) as open_archive:
                warc = open_archive.read("archive/data.warc.gz")
                about = json.loads(open_archive.read("datapackage.json"))["description"]
                assert about.startswith("1 damaged part")
                index = (
                    gzip.decompress(open_archive.read("indexes/index.cdx.gz")).decode().splitlines()
                )
            for line in index:
                place = json.loads(line.split(" ", 2)[2])
                member = warc[int(place["offset"]) : int(place["offset"]) + int(place["length"])]
                assert records(member)[0][1] == place["url"]
        (tmp_path / "some.warc.gz").write_bytes(warc)

        assert is_checked(tmp_path / "some.warc.gz")
        after = ids(warc)
        assert record_id in before - after
        report = warc[warc.rindex(b"\x1f\x8b\x08") :]
        assert f"left-out: {export_report.damaged[0]}\r\n".encode() in gzip.decompress(report)
        # A selection finds the requests of a snapshot through the snapshot's metadata record.
        assert len(before - after) == 1 or (kind == "metadata" and selection is not EVERYTHING)
        assert len(export_report.damaged) == 1
        assert "archiver-" in export_report.damaged[0]
        # A new entry record has the snapshot of the index, or none if the page is lost.
        entry_record = entry_records(warc)[geese]
        assert all("animals" in each["entry"]["tags"] for each in entry_record)
        assert ["snapshot" in each for each in entry_record] == [True, False][
            : 1 + (kind == "response")
        ]


async def test_a_missing_segment_is_left_out_and_reported(runtime, tmp_path):
    geese = saved_url(runtime.settings, "/geese")
    for segment in (tmp_path / "data" / "warc").iterdir():
        segment.unlink()
    for selection in (EVERYTHING, ANIMALS):
        export_report = Report()
        warc = await exported(runtime, "warc", selection, export_report)

        assert "No such file" in export_report.damaged[0]
        (record,) = entry_records(warc)[geese]
        assert "animals" in record["entry"]["tags"]
        assert record["failure"]["kind"] == "lost"


async def test_entries_saved_during_an_export_move_nothing_out_of_it(runtime, live):
    await runtime.entries.save([live.article("owl")], tags=["animals"], source="cli")
    before = await wacz_of(runtime, ANIMALS)
    pieces = await runtime.exporting.begin(BY_KEY["wacz"], ANIMALS, name="all.wacz")

    first_piece = await anext(pieces)
    await runtime.crawling.work()
    packed = first_piece + await whole(pieces)

    for package in (before, packed):
        with zipfile.ZipFile(io.BytesIO(package)) as open_archive:
            pages = open_archive.read("pages/pages.jsonl").splitlines()
            records = entry_records(open_archive.read("archive/data.warc.gz"))
        assert len(pages) == 1 + 3
        assert {url.rpartition("/")[2] for url in records} == {"foxes", "geese", "owl"}


async def visit_often(data, url, times):
    """Return visits of a page, one per second, like those of a crawl."""
    async with crawler(data) as context, Crawl(context).recording():
        seed = Seed(hash_url(url), url, host(url), Annotation(url, datetime.now(UTC)))
        async with context.db.write() as conn:
            entry_id = (await new_entries.ensure(conn, [seed]))[seed.hash_url]
        entry = EntryRef(entry_id, seed.hash_url, url, seed.host)
        ended = []
        for n in range(times):
            at = datetime(2020, 1, 1, tzinfo=UTC) + timedelta(seconds=n)
            page = await context.recorder.keep(ticking(url, at))
            visit = Visit(to_timestamp(at), at, page, Article(), ())
            ended.append(await context.recorder.end(VisitResult(entry, at, visit)))
        await asyncio.gather(*ended)


def ticking(url, at):
    return Exchange(
        url=url,
        at=at,
        ip="",
        request=b"",
        head=b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n",
        body=io.BytesIO(b"tick"),
        chunked=False,
        status=200,
        headers=(("content-type", "text/plain"),),
        payload_digest=PayloadDigest(f"sha256:{hashlib.sha256(b'tick').hexdigest()}"),
        payload_length=4,
    )


async def test_every_snapshot_of_an_entry_is_exported_however_many(tmp_path, monkeypatch):
    monkeypatch.setattr(warc_export, "PAGE", 10)
    url = "http://a.example/clock.txt"
    await visit_often(tmp_path, url, 25)
    async with open_app(Settings(data=tmp_path)) as runtime:
        for selection in (EVERYTHING, Selected(hash_url=hash_url(url))):
            with zipfile.ZipFile(io.BytesIO(await wacz_of(runtime, selection))) as package:
                pages = package.read("pages/pages.jsonl").splitlines()[1:]
                kinds = [kind for kind, *_ in records(package.read("archive/data.warc.gz"))]
            assert len({json.loads(page)["ts"] for page in pages}) == len(pages) == 25
            assert kinds.count("metadata") == 25
            assert kinds.count("response") + kinds.count("revisit") == 25
