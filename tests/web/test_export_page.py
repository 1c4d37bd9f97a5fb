"""One page offers every form, as a download or prepared in the background."""

import json

import pytest
from aiohttp.client_exceptions import ClientPayloadError
from aiohttp.test_utils import TestClient, TestServer

from archiver.app import open_app
from archiver.config import Settings
from archiver.model.export_kinds import EXPORTS
from archiver.web.app import build_app
from archiver.web.app_keys import RUNTIME
from tests.segments import damage_record

NOBODY = "http://127.0.0.1:1/"


@pytest.fixture
async def runtime(tmp_path):
    settings = Settings(data=tmp_path / "data", allow_networks="127.0.0.0/8", retries=0)
    async with open_app(settings) as opened:
        await opened.entries.save([f"{NOBODY}<b>"], tags=("one",), source="cli")
        await opened.entries.save([f"{NOBODY}2"], tags=("two",), source="cli")
        yield opened


@pytest.fixture
async def empty(runtime):
    async with TestClient(TestServer(build_app(runtime), skip_url_asserts=True)) as client:
        yield client


async def posted(client, path, **fields):
    return await client.post(path, data=fields, allow_redirects=False)


async def test_every_export_form_is_offered_for_everything_and_a_search(empty):
    everything = await (await empty.get("/export")).text()
    found = await (await empty.get("/export?q=tag:one")).text()

    for kind in EXPORTS:
        if kind.key in ("epub", "html"):  # with a field for the title
            assert f'formaction="/export/archive.{kind.suffix}"' in found
            continue
        assert f'href="/export/archive.{kind.suffix}"' in everything
        assert f'href="/export/archive.{kind.suffix}?q=tag%3Aone"' in found
    assert "2 entries in all" in everything
    assert "1 entry of" in found
    assert "No results" in await (await empty.get("/export?q=tag:none")).text()
    assert (await empty.get("/export?q=(")).status == 400


@pytest.mark.parametrize("kind", [each for each in EXPORTS if each.is_list])
async def test_search_results_are_exported_as_a_stream(empty, kind):
    answer = await empty.get(f"/export/archive.{kind.suffix}?q=tag:two")

    assert answer.headers["Content-Type"] == kind.media_type
    assert answer.headers["Content-Disposition"].endswith(f".{kind.suffix}")
    assert answer.headers["Transfer-Encoding"] == "chunked"
    assert b"127.0.0.1:1" in await answer.read()


async def test_a_download_that_fails_halfway_is_aborted(client):
    (segment,) = (client.app[RUNTIME].settings.data / "warc").glob("*.warc.gz")
    segment.unlink()

    answer = await client.get("/export/archive.warc.gz")

    assert answer.status == 200
    with pytest.raises(ClientPayloadError):
        await answer.read()


async def test_a_download_that_lacks_damaged_records_is_listed_afterwards(client):
    damage_record(client.app[RUNTIME].settings.data, "response", "")

    for _ in range(2):
        for suffix in ("warc.gz", "wacz"):
            await (await client.get(f"/export/archive.{suffix}")).read()

    page = await (await client.get("/export")).text()
    assert page.count("This download lacks what is damaged") == 2
    assert "lack something: 2" in await (await client.get("/activity")).text()


async def test_a_download_that_fails_at_the_start_is_an_error_page(empty):
    answer = await empty.get("/export/archive.epub")

    assert answer.status == 404
    assert answer.content_type == "text/html"
    assert "no article or note was found" in await answer.text()


async def test_a_background_export_is_listed_sent_in_ranges_and_deleted(empty, runtime):
    asked = await posted(empty, "/export", form="json", q="tag:two")
    waiting = await (await empty.get("/export")).text()
    await runtime.export_jobs.run_waiting()
    (job,) = await runtime.export_jobs.all()
    path = f"/export/kept/{job.name}"

    assert (asked.status, asked.headers["Location"]) == (303, "/export?q=tag:two#prepared")
    assert job.name.endswith("-tag-two.json")
    assert 'id="exports" data-busy' in waiting
    page = await (await empty.get("/export")).text()
    assert path in page
    assert "data-busy" not in page
    assert " · 1 entry</p>" in page
    whole = await empty.get(path)
    data = await whole.read()
    rest = await empty.get(
        path, headers={"Range": "bytes=10-", "If-Range": whole.headers["Last-Modified"]}
    )
    assert (rest.status, await rest.read()) == (206, data[10:])
    assert len(json.loads(data)["entries"]) == 1

    assert (await posted(empty, path)).status == 303
    assert (await empty.get(path)).status == 404
    assert "No exports yet." in await (await empty.get("/export")).text()


async def test_invalid_export_requests_are_rejected(empty, runtime):
    assert (await posted(empty, "/export", form="exe")).status == 400
    assert (await posted(empty, "/export", form="json", q="(")).status == 400
    assert (await posted(empty, "/export/kept/20200101-000000-x.json")).status == 404
    await posted(empty, "/export", form="json")
    await runtime.export_jobs.run_waiting()
    (job,) = await runtime.export_jobs.all()
    for name in (f"{job.name}.wanted", "..%2Fsecret", "..", "%2e%2e%2fapi", "a" * 300, "%00"):
        assert (await empty.get(f"/export/kept/{name}")).status == 404
