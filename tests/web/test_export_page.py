"""One page offers every form; what is kept under a name is written, sent in ranges, and deleted."""

import asyncio
import json

import pytest
from aiohttp.test_utils import TestClient, TestServer

from archiver.app import open_app
from archiver.config import Settings
from archiver.services.export_kinds import EXPORTS
from archiver.services.kept_exports import MOST_KEPT
from archiver.web.app import build_app

NOBODY = "http://127.0.0.1:1/"


@pytest.fixture
async def runtime(tmp_path):
    settings = Settings(data=tmp_path / "data", allow_networks="127.0.0.0/8", retries=0)
    async with open_app(settings) as opened:
        await opened.entries.save([f"{NOBODY}<b>"], tags=("one",), source="cli")
        await opened.entries.save([f"{NOBODY}2"], tags=("two",), source="cli")
        yield opened


@pytest.fixture
async def client(runtime):
    async with TestClient(TestServer(build_app(runtime), skip_url_asserts=True)) as client:
        yield client


async def posted(client, path, **fields):
    return await client.post(path, data=fields, allow_redirects=False)


async def written(runtime):
    """Have what is asked for written, as a service does in the background."""
    await runtime.kept_exports.write_waiting()
    return await kept(runtime)


async def kept(runtime):
    return await runtime.kept_exports.listing()


async def test_every_form_is_offered_of_everything_and_of_what_is_found(client):
    everything = await (await client.get("/export")).text()
    found = await (await client.get("/export?q=tag:one")).text()

    for kind in EXPORTS:
        assert f'href="/export/archive.{kind.suffix}"' in everything
        assert f'href="/export/archive.{kind.suffix}?q=tag%3Aone"' in found
    assert "2 entries in all" in everything
    assert "1 entry of" in found
    assert "Nothing fits" in await (await client.get("/export?q=tag:none")).text()
    assert (await client.get("/export?q=(")).status == 400


@pytest.mark.parametrize("kind", [each for each in EXPORTS if each.form], ids=lambda each: each.key)
async def test_a_list_is_sent_of_what_is_asked_for(client, kind):
    answer = await client.get(f"/export/archive.{kind.suffix}?q=tag:two")

    assert answer.headers["Content-Type"] == kind.media_type
    assert answer.headers["Content-Disposition"].endswith(f".{kind.suffix}")
    assert b"127.0.0.1:1" in await answer.read()


async def test_what_is_kept_under_a_name_is_sent_in_ranges_and_deleted(client, runtime):
    asked = await posted(client, "/export", form="json", q="tag:two")
    (export,) = await written(runtime)
    path = f"/export/kept/{export.name}"

    assert (asked.status, asked.headers["Location"]) == (303, "/export?q=tag:two#kept")
    assert export.name.endswith("-tag-two.json")
    page = await (await client.get("/export")).text()
    assert path in page
    assert " · 1 entry</p>" in page
    whole = await client.get(path)
    data = await whole.read()
    rest = await client.get(
        path, headers={"Range": "bytes=10-", "If-Range": whole.headers["Last-Modified"]}
    )
    assert (rest.status, await rest.read()) == (206, data[10:])
    assert len(json.loads(data)["entries"]) == 1

    assert (await posted(client, path)).status == 303
    assert (await client.get(path)).status == 404
    assert await kept(runtime) == []
    assert list((runtime.settings.data / "exports").iterdir()) == []


async def test_what_cannot_be_written_says_why(client, runtime):
    await posted(client, "/export", form="epub", tag="none")
    (export,) = await written(runtime)

    assert "no entry is meant" in export.problem
    assert "not written: There is nothing" in await (await client.get("/export")).text()


async def test_what_makes_no_sense_is_refused(client, runtime):
    assert (await posted(client, "/export", form="exe")).status == 400
    assert (await posted(client, "/export", form="json", q="(")).status == 400
    assert (await posted(client, "/export/kept/20200101-000000-x.json")).status == 404
    assert (await client.get("/export/kept/..%2Fsecret")).status == 404
    for _ in range(MOST_KEPT):
        await posted(client, "/export", form="json")
    assert (await posted(client, "/export", form="json")).status == 400
    assert len(await kept(runtime)) == MOST_KEPT


async def test_the_schema_is_served(client):
    assert (await (await client.get("/export/schema.json")).json(content_type=None))["$defs"]


async def test_what_was_deleted_while_another_was_written_is_not_written(client, runtime):
    for form in ("json", "csv"):
        await posted(client, "/export", form=form)
    last, first = await kept(runtime)
    begun, deleted = asyncio.Event(), asyncio.Event()
    write = runtime.kept_exports._files.write

    async def slowly(*given):
        begun.set()
        await deleted.wait()
        return await write(*given)

    runtime.kept_exports._files.write = slowly
    writing = asyncio.create_task(runtime.kept_exports.write_waiting())
    await begun.wait()
    name = runtime.kept_exports._writing[0]
    other = last.name if name == first.name else first.name
    await posted(client, f"/export/kept/{other}")
    deleted.set()
    await writing

    left = {each.name for each in (runtime.settings.data / "exports").iterdir()}
    assert left == {name, f"{name}.wanted"}


async def test_an_export_that_breaks_off_as_nobody_foresaw_says_so_and_the_next_is_written(
    client, runtime
):
    for form in ("json", "csv"):
        await posted(client, "/export", form=form)
    write, broken = runtime.kept_exports._files.write, []

    async def once(*given):
        if not broken:
            broken.append(given)
            raise RecursionError
        return await write(*given)

    runtime.kept_exports._files.write = once

    found = await written(runtime)
    assert sorted((each.is_ready, bool(each.problem)) for each in found) == [
        (False, True),
        (True, False),
    ]


async def test_what_lies_beside_an_export_is_no_export(client, runtime):
    await posted(client, "/export", form="json")
    (export,) = await written(runtime)

    for name in (f"{export.name}.wanted", "..", "%2e%2e%2fapi", "a" * 300, "%00"):
        assert (await client.get(f"/export/kept/{name}")).status == 404


async def test_what_was_half_said_of_an_export_is_taken_away_by_the_next_service(runtime, client):
    await posted(client, "/export", form="json")
    (export,) = await written(runtime)
    folder = runtime.settings.data / "exports"
    left = folder / f".{export.name}.wanted.new"
    left.write_text('{"form": "js')

    working = asyncio.create_task(runtime.kept_exports.work())
    while left.exists():  # noqa: ASYNC110 - another task's file; the suite's limit bounds it
        await asyncio.sleep(0)
    working.cancel()

    assert await kept(runtime) == [export]
    assert {each.name for each in folder.iterdir()} == {export.name, f"{export.name}.wanted"}
