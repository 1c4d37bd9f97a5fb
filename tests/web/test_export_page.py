"""One page offers every form, as a download or prepared in the background."""

import json
from unittest.mock import Mock

import pytest
from aiohttp.client_exceptions import ClientPayloadError

from archiver.errors import StoreUnavailable
from archiver.http.urls import hash_url
from archiver.model.export_kinds import EXPORTS
from tests.segments import damage_record

NOBODY = "http://127.0.0.1:1/"


@pytest.fixture
async def runtime(runtime):
    await runtime.entries.save([f"{NOBODY}<b>"], tags=("one",), source="cli")
    await runtime.entries.save([f"{NOBODY}2"], tags=("two",), source="cli")
    return runtime


async def posted(client, path, **fields):
    return await client.post(path, data=fields, allow_redirects=False)


async def test_a_download_that_fails_halfway_is_aborted(client, live, runtime, monkeypatch):
    await runtime.entries.save([live.article("foxes")], source="cli")
    await runtime.crawling.work()
    unavailable = Mock(side_effect=StoreUnavailable("The object store does not answer."))
    monkeypatch.setattr(runtime.store.storage, "scan", unavailable)

    answer = await client.get("/export/archive.warc.gz")

    assert answer.status == 200
    with pytest.raises(ClientPayloadError):
        await answer.read()


async def test_a_download_that_lacks_damaged_records_is_listed_afterwards(client, runtime, live):
    await runtime.entries.save([live.article("foxes")], source="cli")
    await runtime.crawling.work()
    damage_record(runtime.settings.data, "response", "")

    for _ in range(2):
        for suffix in ("warc.gz", "wacz"):
            await (await client.get(f"/export/archive.{suffix}")).read()

    page = await (await client.get("/export")).text()
    assert page.count("are missing from this download") == 2
    assert "incomplete exports: 2" in await (await client.get("/activity")).text()


async def test_a_background_export_is_listed_sent_in_ranges_and_deleted(client, runtime):
    response = await posted(client, "/export", form="json", q="tag:two")
    waiting = await (await client.get("/export")).text()
    await runtime.export_jobs.run_waiting()
    (job,) = await runtime.export_jobs.all()
    path = f"/export/kept/{job.name}"

    assert (response.status, response.headers["Location"]) == (303, "/export?q=tag:two#prepared")
    assert job.name.endswith("-tag-two.json")
    assert 'id="exports" data-busy' in waiting
    page = await (await client.get("/export")).text()
    assert path in page
    assert "data-busy" not in page
    assert " · 1 entry</p>" in page
    whole = await client.get(path)
    data = await whole.read()
    second_part = await client.get(
        path, headers={"Range": "bytes=10-", "If-Range": whole.headers["Last-Modified"]}
    )
    assert (second_part.status, await second_part.read()) == (206, data[10:])
    assert len(json.loads(data)["entries"]) == 1

    assert (await posted(client, path)).status == 303
    assert (await client.get(path)).status == 404
    assert "No exports yet." in await (await client.get("/export")).text()


async def test_invalid_export_requests_are_rejected(client, runtime):
    assert (await posted(client, "/export", form="exe")).status == 400
    assert (await posted(client, "/export", form="json", q="(")).status == 400
    assert (await posted(client, "/export/kept/20200101-000000-x.json")).status == 404
    await posted(client, "/export", form="json")
    await runtime.export_jobs.run_waiting()
    (job,) = await runtime.export_jobs.all()
    for name in (f"{job.name}.wanted", "..%2Fsecret", "..", "%2e%2e%2fapi", "a" * 300, "%00"):
        assert (await client.get(f"/export/kept/{name}")).status == 404


async def test_selected_entries_are_exported_in_every_form_or_prepared(client, runtime):
    two, one = (hash_url(f"{NOBODY}{each}") for each in ("2", "%3Cb%3E"))
    chosen = await posted(client, "/export/selected", entry=two, q="tag:one", with_tags="")
    place = chosen.headers["Location"]
    page = await (await client.get(place)).text()
    for kind in (each for each in EXPORTS if each.is_list):
        alone = await (await client.get(f"/export/archive.{kind.suffix}?entry={two}")).read()
        assert b"127.0.0.1:1" in alone, kind
        assert b"%3Cb%3E" not in alone, kind
    prepared = await posted(client, "/export", form="json", entry=two)
    await runtime.export_jobs.run_waiting()
    listed = await (await client.get("/export")).text()
    everything = await posted(client, "/export/selected", entry=one, scope="all", q="tag:one")

    assert place == prepared.headers["Location"].partition("#")[0] == f"/export?entry={two}"
    assert "1 selected entry. <a" in page
    assert f'href="/export/archive.wacz?entry={two}"' in page
    assert "of 1 selected entry" in listed
    assert [each.entries for each in await runtime.export_jobs.all()] == [1]
    assert everything.headers["Location"] == "/export?q=tag:one"
    assert (await posted(client, "/export/selected")).headers["Location"] == "/snapshots?nothing=1"
    assert (await client.get(f"/export?{'&'.join([f'entry={one}'] * 201)}")).status == 400
