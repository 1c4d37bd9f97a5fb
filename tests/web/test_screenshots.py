"""Screenshots of a page, with its entry and snapshot, and their deletion."""

import gzip
import io
import zipfile
from contextlib import aclosing

import pytest
from aiohttp.test_utils import TestClient, TestServer

from archiver.app import open_app
from archiver.config import Settings
from archiver.http.urls import hash_url
from archiver.services.export_selection import Selected
from archiver.web.app import build_app
from tests.conftest import live_web


async def keep_page(data):
    settings = Settings(data=data, allow_networks="127.0.0.0/8", host_delay=0)
    async with live_web() as live, open_app(settings) as runtime:
        await runtime.entries.save([live.article("shown")], source="web", render=True)
        await runtime.crawling.work()
        (data / "url").write_text(live.url("/shown"))


@pytest.fixture
async def runtime(prepared, tmp_path):
    await prepared.copy(keep_page, tmp_path / "data")
    async with open_app(Settings(data=tmp_path / "data")) as runtime:
        yield runtime


@pytest.fixture
async def client(runtime):
    async with TestClient(TestServer(build_app(runtime), skip_url_asserts=True)) as client:
        yield client


@pytest.fixture
def key(runtime):
    return hash_url((runtime.settings.data / "url").read_text())


async def test_screenshot_and_pdf_are_linked_and_served(client, runtime, key):
    place = f"/{key}/{(await runtime.entries.get(key)).entry.latest}"

    entry, snapshot = [await (await client.get(f"{each}/")).text() for each in (f"/{key}", place)]

    assert f'<img src="{place}/thumbnail"' in entry
    for page in (entry, snapshot):
        assert f'href="{place}/picture"' in page
        assert f'href="{place}/print"' in page
    for kind, media_type, begins in (
        ("thumbnail", "image/webp", b"RIFF"),
        ("picture", "image/webp", b"RIFF"),
        ("print", "application/pdf", b"%PDF-"),
    ):
        sent = await client.get(f"{place}/{kind}")
        assert (sent.status, sent.content_type) == (200, media_type)
        assert 'filename="' in sent.headers["Content-Disposition"]
        assert (await sent.read()).startswith(begins)


async def test_screenshot_and_pdf_are_in_a_wacz_export(runtime, key):
    manifest = await runtime.packages.begin(Selected(hash_url=key))
    async with aclosing(runtime.packages.wacz(manifest, title="Mine")) as body:
        packed = b"".join([piece async for piece in body])

    with zipfile.ZipFile(io.BytesIO(packed)) as package:
        data = package.read("archive/data.warc.gz")
    records = gzip.decompress(data)
    for kind in ("page", "picture", "thumbnail", "print"):
        assert b"WARC-Target-URI: urn:archiver:%s:%s\r\n" % (key.encode(), kind.encode()) in records
