"""Imported captures can be replayed, extracted, found and verified, without fetching."""

import io
import json
import zipfile
from contextlib import aclosing

import pytest

from archiver.app import open_app
from archiver.config import Settings
from archiver.model.job import State
from archiver.model.listing import ListingQuery
from archiver.replay.addresses import Modifier, parse_replay_path
from archiver.replay.response import ReplayRequest
from archiver.replay.response_headers import Viewer
from tests.warcs import Warc

PAGE = "http://a.example/page"
STYLE = "http://a.example/style.css"
WORDS = "The heron stands in the shallow water and waits, as it has done every morning. " * 9
HTML = (
    f"<!DOCTYPE html><title>Herons</title><link rel=stylesheet href=/style.css>"
    f"<img src=/gone.png><article><h1>Herons</h1><p>{WORDS}</p></article>"
).encode()


def wget_like():
    warc = Warc()
    warc.request(PAGE, "User-Agent: Wget")
    warc.response(PAGE, HTML, "text/html")
    warc.response(STYLE, b"p { color: red }", "text/css")
    return warc.bytes


@pytest.fixture
async def runtime(tmp_path):
    settings = Settings(data=tmp_path / "data", allow_networks=())
    async with open_app(settings) as open_archive:
        yield open_archive


async def import_warc(runtime, tmp_path, data, name="a.warc.gz"):
    (tmp_path / name).write_bytes(data)
    with (tmp_path / name).open("rb") as source:
        return await runtime.imports.read_file(source, name=name)


async def payload(runtime, url):
    capture = await runtime.replay.resolve(parse_replay_path(f"/web/2020id_/{url}"))
    request = ReplayRequest(Viewer("http://localhost"), Modifier.IDENTITY)
    replayed = await runtime.replay.open(capture, request)
    async with aclosing(replayed.body) as body:
        return b"".join([piece async for piece in body])


async def problems(runtime):
    return [each async for each in runtime.fixity.verify()]


async def test_an_imported_page_can_be_replayed_read_and_found(runtime, tmp_path):
    status = await import_warc(runtime, tmp_path, wget_like())

    assert (status.format, status.read, status.merged, status.added) == ("WARC", 2, 2, 1)
    assert (status.reading, status.error, status.counts.open) == (False, "", 0)
    assert await payload(runtime, PAGE) == HTML
    detail = await runtime.entries.snapshot(PAGE)
    assert detail.snapshot.timestamp == "20200102030405"
    assert detail.entry.state is State.SAVED
    assert "heron" in detail.article
    outcomes = {each.url: each for each in detail.requisites}
    assert outcomes[STYLE].status == 200
    assert outcomes["http://a.example/gone.png"].failure.kind == "not-in-file"
    listing = await runtime.search.listing(ListingQuery(q="shallow water"))
    assert [each.entry.url for each in listing.items] == [PAGE]
    assert await problems(runtime) == []


async def test_the_intact_part_of_a_truncated_file_is_imported(runtime, tmp_path):
    whole = wget_like()

    status = await import_warc(runtime, tmp_path, whole[:-20])

    assert (status.merged, status.rejected) == (1, 1)
    (truncated,) = status.rejected_samples
    assert (truncated.given, "ends" in truncated.reason) == (STYLE, True)
    assert await payload(runtime, PAGE) == HTML


async def test_the_page_list_of_a_wacz_decides_which_captures_are_pages(runtime, tmp_path):
    warc = Warc()
    warc.response(PAGE, HTML, "text/html")
    warc.response("http://a.example/frame", b"<p>in a frame", "text/html")
    warc.response("urn:text:http://a.example/page", b"text", "text/plain")
    listed = {"url": PAGE, "ts": "2020-01-02T03:04:05.678Z", "title": "A title of its own\ud800"}
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as package:
        package.writestr("archive/rec-1.warc.gz", warc.bytes)
        package.writestr(
            "pages/pages.jsonl", f'{{"format":"json-pages-1.0"}}\n{json.dumps(listed)}'
        )
        package.writestr("datapackage.json", "{}")

    status = await import_warc(runtime, tmp_path, packed.getvalue(), "crawl.wacz")

    assert (status.format, status.merged, status.added) == ("WACZ", 2, 1)
    assert (await runtime.entries.get(PAGE)).entry.title == "A title of its own\ufffd"


async def test_a_capture_of_a_frame_is_not_a_page(runtime, tmp_path):
    warc = Warc()
    warc.response(PAGE, HTML, "text/html")
    warc.request(PAGE, "Sec-Fetch-Dest: document")
    warc.response("http://a.example/frame", b"<p>in a frame", "text/html")
    warc.request("http://a.example/frame", "Sec-Fetch-Dest: iframe")

    status = await import_warc(runtime, tmp_path, warc.bytes)

    assert (status.merged, status.added) == (2, 1)


async def test_an_invalid_snapshot_record_affects_only_its_own_page(runtime, tmp_path):
    for n, change in enumerate(
        (
            {"timestamp": "2020\n20200102030405 {}"},
            {"timestamp": 7},
            {"requisites": [{"url": 1, "kind": "style", "status": "x"}]},
            {"requisites": 5},
            {"metadata": []},
            {"capture_record": {}},
        )
    ):
        url = f"{PAGE}{n}"
        snapshot = {
            "timestamp": "20200102030405", "capture_url": url,
            "capture_timestamp": "20200102030405", "capture_record": "urn:uuid:0",
            "article": None, "article_of": None, "extractor": "1", "metadata": {}, "requisites": [],
        }  # fmt: skip
        document = {
            "format": "archiver/1", "at": "2020-01-02T03:04:05Z",
            "entry": {
                "hash_url": "../../x", "url": url, "url_given": url, "title": "t", "tags": [],
                "note": "", "source": "cli", "added_at": "2020-01-02T03:04:05Z",
            },
            "snapshot": snapshot | change,
        }  # fmt: skip
        warc = Warc()
        warc.response(url, HTML, "text/html")
        warc.add("metadata", "urn:archiver:x", json.dumps(document).encode())

        status = await import_warc(runtime, tmp_path, warc.bytes)

        assert (status.merged, status.error, status.reading) == (1, "", False), change
    assert await problems(runtime) == []


async def test_metadata_of_a_page_that_the_file_lacks_becomes_a_link(runtime, tmp_path):
    entry = {
        "hash_url": "x", "url": PAGE, "url_given": PAGE, "title": "Mine", "tags": ["t"],
        "note": "", "source": "cli", "added_at": "2020-01-02T03:04:05Z",
    }  # fmt: skip
    document = {"format": "archiver/1", "at": "2020-01-02T03:04:05Z", "entry": entry}
    warc = Warc()
    warc.response(STYLE, b"p { color: red }", "text/css")
    warc.add("metadata", "urn:archiver:x", json.dumps(document).encode())

    await import_warc(runtime, tmp_path, warc.bytes)

    (listing,) = (await runtime.search.listing(ListingQuery(q="tag:t"))).items
    assert (listing.entry.url, listing.entry.state) == (PAGE, State.LINK)


async def test_captures_of_a_page_become_snapshots_in_order_of_time(runtime, tmp_path):
    moments = [f"2020-01-0{day}T03:04:05Z" for day in (2, 1, 3)]
    warc = Warc()
    for at in moments:
        warc.response(PAGE, f"<title>{at}</title>".encode(), "text/html", at=at)
        warc.response("http://b.example/", f"<title>b {at}</title>".encode(), "text/html", at=at)

    await import_warc(runtime, tmp_path, warc.bytes)
    again = await import_warc(runtime, tmp_path, warc.bytes)

    detail = await runtime.entries.get(PAGE)
    assert [each.title for each in detail.snapshots] == sorted(moments, reverse=True)
    assert len((await runtime.entries.get("http://b.example/")).snapshots) == 3
    assert again.merged == 0
    assert await problems(runtime) == []
