"""Background exports and archive lookups continue after a kill, without duplicates."""

import asyncio
import json
from collections import Counter

import aiohttp
import pytest
from aiohttp import web
from warcio.archiveiterator import ArchiveIterator

from archiver.app import open_app
from archiver.config import Settings
from tests.processes import Archive
from tests.single_handler import serve_handler

LINKS = 800
GONE, HITS = 8, 3
PAGE = "<!DOCTYPE html><title>Page {0}</title><article><p>{1}</article>"
WORDS = "Whoever keeps a page keeps a piece of the time that it was written in. " * 9


@pytest.fixture
def archive(tmp_path):
    return Archive(tmp_path)


async def until(holds):
    while not holds():  # noqa: ASYNC110 - a file of another process
        await asyncio.sleep(0.001)


async def prepare_an_export(address):
    """Create a background export, as the button on the page does."""
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"{address}/export", data={"form": "json"}) as answer,
    ):
        assert answer.status == 200


async def killed(process):
    process.kill()
    await process.wait()


async def test_a_killed_background_export_restarts_and_is_complete(archive, tmp_path):
    await archive.queue([f"http://127.0.0.1:1/{number}" for number in range(LINKS)])
    exports = archive.data / "exports"
    paused = {"ARCHIVER_HOST_DELAY": "3600", "ARCHIVER_CRAWL_PROCESSES": "1"}
    process, address = await archive.serve(**paused)
    await prepare_an_export(address)
    await until(lambda: [each for each in exports.glob("*.json*") if each.suffix != ".wanted"])
    await killed(process)

    settings = Settings(data=archive.data, host_delay=3600, crawl_processes=1)
    async with open_app(settings, serve=True):
        await until(lambda: [*exports.glob("*.json")])
    await archive.run("export", "json", str(tmp_path / "again.json"))

    (prepared,) = exports.glob("*.json")
    again = json.loads((tmp_path / "again.json").read_text())
    result = json.loads(prepared.read_text())
    assert [each["url"] for each in result["entries"]] == [each["url"] for each in again["entries"]]
    assert len(result["entries"]) == LINKS
    assert [each.name for each in exports.iterdir() if each.suffix == ".part"] == []


class PublicArchive:
    """A TimeGate with mementos of missing pages (RFC 7089), and its requests."""

    def __init__(self):
        self.origin = ""
        self.requests = Counter()

    async def handle(self, request):
        path = request.path
        if path.startswith("/gone/"):
            raise web.HTTPNotFound
        if path.startswith("/timegate/"):
            where = f"{self.origin}/web/20200102030405/{path.removeprefix('/timegate/')}"
            return web.Response(status=302, headers={"Location": where, "Vary": "accept-datetime"})
        moment = {"Memento-Datetime": "Thu, 02 Jan 2020 03:04:05 GMT"}
        self.requests[path.rpartition("/")[2]] += 1
        text = PAGE.format(path.rpartition("/")[2], WORDS)
        return web.Response(text=text, headers=moment, content_type="text/html")


@pytest.fixture
async def public():
    served = PublicArchive()
    async with serve_handler(served.handle) as served.origin:
        yield served


def answers_kept(archive):
    """Return how often each response was stored, by URL and status, read by warcio."""
    counts = Counter()
    for path in archive.segments():
        with path.open("rb") as file:
            for record in ArchiveIterator(file):
                if record.rec_type in {"response", "revisit"}:
                    url = record.rec_headers.get_header("WARC-Target-URI")
                    counts[url, record.http_headers.get_statuscode()] += 1
    return {key: times for key, times in counts.items() if "/gone/" in key[0].split("?")[0]}


async def test_a_killed_recovery_stores_each_page_once(archive, public):
    urls = [f"{public.origin}/gone/{number}" for number in range(GONE)]
    await archive.queue(urls)
    await archive.run("crawl")
    asking = {"ARCHIVER_RESCUE": f"{public.origin}/timegate/"}
    process = await archive.start("rescue", **asking)
    await until(lambda: public.requests.total() >= HITS)
    await killed(process)

    await archive.run("rescue", **asking)

    listing = json.loads(await archive.run("list", "--json", "--all"))
    counts = answers_kept(archive)
    assert sorted(each["url"] for each in listing) == sorted(urls)
    assert {(each["state"], each["snapshot_count"]) for each in listing} == {("saved", 1)}
    assert counts == {(url, status): 1 for url in urls for status in ("404", "200")}
    assert (await archive.run("verify")).splitlines()[-1].split("\t") == ["problems", "0"]
