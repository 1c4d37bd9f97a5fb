"""Responses to a page's POST, HEAD and range requests: archived, and never replayed as pages."""

import gzip
import io
import json
import zipfile
from contextlib import aclosing

import pytest
from aiohttp import web

from archiver.app import open_app
from archiver.config import Settings
from archiver.errors import NotFound
from archiver.http.urls import hash_url
from archiver.model.listing import ListingQuery
from archiver.replay.addresses import Modifier, ReplayAddress
from archiver.replay.cdx_query import parse_cdx_query
from archiver.replay.response import ReplayRequest
from archiver.services.export_selection import Selected
from archiver.services.reindex import reindex
from archiver.warc.records import RecordType
from tests.conftest import exported, live_web
from tests.crawler import quick_rendering
from tests.handmade_archive import VIEWER
from tests.index_access import remove_index
from tests.prepared_archives import import_warc
from tests.segments import segments, storage_of

SHELL = """<!DOCTYPE html><title>Shop</title><link rel=icon href="data:,">
<div id="root"></div><script>
const say = (words) => root.insertAdjacentHTML('beforeend', `<p>The shop says: ${words}.</p>`);
const ask = async (path, options) => (await fetch(path, options)).text();
(async () => {
  say(await ask('/api', {method: 'GET'}));
  say(await ask('/api', {method: 'POST', body: 'query { herons }'}));
  say(await ask('/api', {method: 'PUT', body: '{}'}));
  say((await fetch('/only-head', {method: 'HEAD'})).headers.get('x-count') + ' by its head');
  say(await ask('/long.txt', {headers: {Range: 'bytes=5-9'}}));
})();
</script>"""
SAID = {"/api GET", "/api POST", "/api PUT", "41 by its head", "part"}


async def api(request):
    return web.Response(text=f"{request.path} {request.method}")


async def head(_):
    return web.Response(headers={"X-Count": "41"})


async def long(request):
    assert request.headers["Range"] == "bytes=5-9"
    fields = {"Content-Range": "bytes 5-9/100"}
    return web.Response(status=206, text="part", headers=fields)


async def keep_site(data):
    settings = Settings(data=data, allow_networks="127.0.0.0/8", host_delay=0, retries=0)
    with quick_rendering():
        await keep_pages(data, settings)


async def keep_pages(data, settings):
    async with live_web() as live, open_app(settings) as runtime:
        for path, answer in {"/api": api, "/only-head": head, "/long.txt": long}.items():
            live.add_handler(path, answer)
        shop, other = (
            live.put("/shop", SHELL),
            live.article("heron", head='<link rel=icon href="data:,">'),
        )
        await runtime.entries.save([shop, other], source="web")
        await runtime.crawling.work()
        (data / "origin").write_text(live.origin)


@pytest.fixture
async def settings(prepared, tmp_path):
    await prepared.copy(keep_site, tmp_path / "data")
    return Settings(data=tmp_path / "data")


@pytest.fixture
def origin(settings):
    return (settings.data / "origin").read_text()


async def listed(runtime, origin):
    """Return (path, status) of every CDX row of a site."""
    query = parse_cdx_query({"url": [f"{origin}/*"], "fl": ["original,statuscode"]})
    async with aclosing(runtime.cdx.result(query)) as rows:
        lines = b"".join([piece async for piece in rows]).decode().splitlines()
    return sorted(line.removeprefix(origin) for line in lines)


async def replayed(runtime, url):
    capture = await runtime.replay.resolve(ReplayAddress("", Modifier.IDENTITY, url))
    answer = await runtime.replay.open(capture, ReplayRequest(VIEWER, Modifier.IDENTITY))
    async with aclosing(answer.body) as body:
        return b"".join([piece async for piece in body]).decode()


async def test_content_loaded_by_post_is_in_the_snapshot_and_in_search(settings, origin):
    async with open_app(settings) as runtime:
        detail = await runtime.entries.snapshot(f"{origin}/shop")
        listing = await runtime.search.listing(ListingQuery(q='"api POST"'))

    assert [words for words in SAID if words not in detail.text] == []
    assert [each.entry.url for each in listing.items] == [f"{origin}/shop"]
    assert {each.url.removeprefix(origin): each.status for each in detail.requisites} == {
        "/api": 200
    }


async def test_responses_to_post_are_stored_with_their_requests_but_not_as_captures(
    settings, origin
):
    responses = {}
    for name in segments(settings.data):
        for each in storage_of(settings.data).scan(name):
            path = (each.record.target_uri or "").removeprefix(origin)
            kind = each.record.get("warc-archiver-answers")
            if kind and each.record.type is RecordType.RESPONSE:
                responses[path, kind] = each.record.block.read().partition(b"\r\n\r\n")[2]
    async with open_app(settings) as runtime:
        rows = await listed(runtime, origin)
        findings = [each async for each in runtime.fixity.verify()]
    warc = on_disk(settings.data)

    assert responses == {
        ("/api", "POST"): b"/api POST",
        ("/api", "PUT"): b"/api PUT",
        ("/only-head", "HEAD"): b"",
        ("/long.txt", "part"): b"part",
    }
    assert b"query { herons }" in warc
    assert rows == ["/api 200", "/heron 200", "/shop 200"]
    assert findings == []


async def test_responses_to_post_are_not_replayed_also_after_a_rebuild(settings, origin):
    async def seen():
        async with open_app(settings) as runtime:
            assert await replayed(runtime, f"{origin}/api") == "/api GET"
            for path in ("/only-head", "/long.txt"):
                with pytest.raises(NotFound):
                    await replayed(runtime, origin + path)
            return await listed(runtime, origin), await runtime.entries.snapshot(f"{origin}/shop")

    before = await seen()
    report = await reindex(settings)

    assert report.problems == ()
    assert await seen() == before


SENT = (b"query { herons }", b"/api POST", b"/api PUT", b"bytes=5-9", b"WARC-Archiver-Answers")


def on_disk(data):
    """Return the bytes of all segments, decompressed."""
    return b"".join(map(gzip.decompress, segments(data).values()))


async def test_the_index_of_a_wacz_lists_post_responses_under_standard_keys(settings, origin):
    async with open_app(settings) as runtime:
        packed = await exported(runtime, "wacz", Selected())

    with zipfile.ZipFile(io.BytesIO(packed)) as package:
        index = gzip.decompress(package.read("indexes/index.cdx.gz")).decode().splitlines()
        warc = package.read("archive/data.warc.gz")
    results = {}
    for line in index:
        key, _, fields = line.split(" ", 2)
        place = json.loads(fields)
        if method := place.get("method"):
            start = int(place["offset"])
            record = gzip.decompress(warc[start : start + int(place["length"])])
            results[method] = key.partition(")")[2], f"Answers: {method}".encode() in record
    # A text body becomes __wb_post_data in base64, and the members of JSON a query.
    assert results == {
        "HEAD": ("/only-head?__wb_method=head", True),
        "POST": ("/api?__wb_method=post&__wb_post_data=cxvlcnkgeybozxjvbnmgfq==", True),
        "PUT": ("/api?__wb_method=put&__wb_post_data=e30=", True),
    }


@pytest.mark.parametrize("is_built_anew", [False, True])
async def test_deleting_a_page_erases_its_post_responses(settings, origin, is_built_anew):
    if is_built_anew:
        remove_index(settings.data)
        await reindex(settings)

    async with open_app(settings) as runtime:
        await runtime.deleting.entries([f"{origin}/shop"])
        await runtime.compacting.compact(empty_bin=True)
        findings = [each async for each in runtime.fixity.verify()]
        remaining = on_disk(settings.data)
        rows = await listed(runtime, origin)

    assert [each for each in SENT if each in remaining] == []
    assert rows == ["/heron 200"]
    assert findings == []
    assert (await reindex(settings)).problems == ()


async def test_undoing_a_deletion_restores_post_responses(settings, origin):
    async with open_app(settings) as runtime:
        deleted = await runtime.deleting.entries([f"{origin}/shop"])
        await runtime.deleting.undo(deleted.id)
        await runtime.deleting.entries([f"{origin}/heron"])
        await runtime.compacting.compact(empty_bin=True)
        findings = [each async for each in runtime.fixity.verify()]
        remaining = on_disk(settings.data)
        warc = gzip.decompress(
            await exported(runtime, "warc", Selected(hash_url=hash_url(f"{origin}/shop")))
        )

    assert [each for each in SENT if each not in remaining] == []
    assert [each for each in SENT if each not in warc] == []
    assert findings == []


async def test_export_and_import_include_post_responses(settings, origin, tmp_path):
    shop = hash_url(f"{origin}/shop")
    async with open_app(settings) as runtime:
        of_another = await exported(runtime, "warc", Selected(hash_url=hash_url(f"{origin}/heron")))
        warc = await exported(runtime, "warc", Selected(hash_url=shop))
    elsewhere = Settings(data=tmp_path / "elsewhere")
    async with open_app(elsewhere) as runtime:
        for _ in range(2):
            await import_warc(runtime, warc)
        rows = await listed(runtime, origin)
        records = on_disk(elsewhere.data)
        findings = [each async for each in runtime.fixity.verify()]
        again = gzip.decompress(await exported(runtime, "warc", Selected(hash_url=shop)))
        await runtime.deleting.entries([shop])
        await runtime.compacting.compact(empty_bin=True)

    assert [each for each in SENT if each in gzip.decompress(of_another)] == []
    assert records.count(b"WARC-Archiver-Answers: ") == 4
    assert [each for each in SENT if each not in again] == []
    assert rows == ["/api 200", "/shop 200"]
    assert findings == []
    assert [each for each in SENT if each in on_disk(elsewhere.data)] == []
