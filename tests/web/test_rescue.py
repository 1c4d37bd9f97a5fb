"""Recovery from another archiver as the public archive, with a button."""

import re
from dataclasses import replace

import pytest
from aiohttp.test_utils import TestServer

from archiver.app import open_app
from archiver.model.capture import Acquisition
from archiver.model.job import State
from archiver.services.export_selection import Selected
from archiver.services.reindex import reindex
from archiver.web.app import build_app
from tests.conftest import exported
from tests.prepared_archives import import_warc
from tests.web.conftest import client_of


@pytest.fixture
async def public(saved_archive):
    """An archive with ``/foxes``, served on loopback; the URL of its TimeGate."""
    settings = replace(saved_archive.settings, host_delay=0)
    async with open_app(settings) as runtime:
        server = TestServer(build_app(runtime), skip_url_asserts=True)
        await server.start_server()
        yield str(server.make_url("/timegate/"))
        await server.close()


@pytest.fixture
def settings(settings, tmp_path, public):
    return replace(settings, data=tmp_path / "ours", rescue=public)


async def press(client, page, action, **fields):
    async with client.post(action, data=fields) as answer:
        return await answer.text()


async def test_a_missing_page_is_recovered_and_its_origin_is_shown(runtime, saved_archive, public):
    url = saved_archive.url("/foxes")
    await runtime.entries.save([url], source="web")
    await runtime.crawling.work()
    failed = (await runtime.entries.get(url)).entry
    key = failed.hash_url

    async with client_of(runtime) as client:
        shown = await press(client, f"/{key}/", f"/{key}/rescue")
        assert "waiting" in shown
        await runtime.crawling.work()
        page = await (await client.get(f"/{key}/")).text()
        banner = await (await client.get(page_of(page))).text()

    assert failed.state is State.FAILED
    for each in (page, banner):
        assert f'Recovered from <a href="{public.replace("/timegate/", "/web/")}' in each


def page_of(page):
    return re.search(r'href="(/[0-9a-f]{32}/[0-9]{14}/)"', page)[1]


async def test_the_origin_of_a_recovered_page_survives_reindexing_and_export(
    saved_archive, settings, tmp_path
):
    url = saved_archive.url("/foxes")
    async with open_app(settings) as runtime:
        await runtime.entries.save([url], source="web")
        await runtime.crawling.work()
        await runtime.recovery.rescue([url])
        await runtime.crawling.work()
        before = await runtime.entries.snapshot(url)
        archived = await exported(runtime, "warc", Selected())

    await reindex(settings)

    async with open_app(settings) as again:
        rebuilt = await again.entries.snapshot(url)
        assert [each async for each in again.fixity.verify()] == []
    async with open_app(replace(settings, data=tmp_path / "third")) as third:
        await import_warc(third, archived)
        imported = await third.entries.snapshot(url)
    assert before.provenance.acquisition is Acquisition.RECOVERED
    assert before.entry.state is State.SAVED
    assert rebuilt.provenance == imported.provenance == before.provenance
    assert rebuilt.text == imported.text == before.text
    assert rebuilt.entry == before.entry
