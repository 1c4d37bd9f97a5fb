"""Archives whose segments are in a bucket."""

import asyncio
import shutil
import threading
from dataclasses import replace

import pytest
from aiohttp.test_utils import TestClient, TestServer
from sqlalchemy import event

from archiver.app import open_app
from archiver.errors import ConfigurationError, StoreUnavailable
from archiver.model.export_kinds import BY_KEY
from archiver.services.export_selection import Selected
from archiver.services.reindex import reindex
from archiver.web.app import build_app
from tests.cluster.archives import other_machine, payload, save, stored_content
from tests.cluster.commands import SETTINGS, run, run_expecting_error
from tests.command_line import run_in_thread


def local_segments(settings):
    return sorted(path.name for path in (settings.data / "warc").iterdir())


async def test_an_empty_machine_rebuilds_and_exports_without_blocking_the_event_loop(
    settings, urls, store, tmp_path
):
    await save(settings, urls)
    other = other_machine(replace(settings, uploaded_bytes=0), tmp_path / "b")
    loop, late, sizes = asyncio.get_running_loop(), [], []

    def heard(method: str, _: str) -> None:
        # The event loop must run this before the store responds.
        answered = asyncio.run_coroutine_threadsafe(asyncio.sleep(0), loop)
        try:
            answered.result(timeout=60)
        except TimeoutError:
            late.append(method)

    report = await reindex(other)

    assert local_segments(settings) == []
    assert (report.problems, len(store.names())) == ((), report.segments)
    store.proxy.heard = heard
    before = await stored_content(settings)
    assert await stored_content(other) == before
    assert [url for url, _, _ in before] == sorted(urls)
    store.proxy.requests.clear()
    async with open_app(other) as archive, TestClient(TestServer(build_app(archive))) as client:
        detail = (await archive.entries.get(urls[0])).entry.hash_url
        for path in (f"/{detail}/", f"/{detail}/index.md", f"/web/{urls[1]}", "/snapshots", "/"):
            assert (await client.get(path)).status == 200
        assert store.proxy.count("GET") > 0
        sizes.append(await exported_bytes(archive))
    async with open_app(settings) as archive:
        sizes.append(await exported_bytes(archive))
    store.proxy.heard = lambda *_: None

    assert late == []
    assert sizes[0] == sizes[1] > 1000


async def exported_bytes(archive):
    pieces = await archive.exporting.begin(BY_KEY["warc"], Selected(), name="x.warc.gz")
    parts = [part async for part in pieces]
    return len(b"".join(parts[1:]))


async def test_two_machines_do_not_compact_the_same_segment(
    settings, address, urls, store, tmp_path
):
    machine_a = replace(settings, index=address, uploaded_bytes=0)
    await save(machine_a, urls[:1])
    await save(machine_a, urls[1:])
    loop, reads, goes_on = asyncio.get_running_loop(), asyncio.Event(), threading.Event()
    names = store.names()  # not segments that are read back when they are uploaded

    def heard(method: str, path: str) -> None:
        if method == "GET" and any(name in path for name in names):
            names.clear()
            loop.call_soon_threadsafe(reads.set)
            goes_on.wait(120)

    other = other_machine(machine_a, tmp_path / "b")
    async with open_app(machine_a) as archive:
        await archive.deleting.entries(urls[:1])
        await archive.crawling.write_pending_records()
    async with open_app(machine_a) as one, open_app(other) as another:  # nothing is cached
        store.proxy.heard = heard
        late = asyncio.create_task(one.compacting.compact(empty_bin=True))
        await reads.wait()
        done = await another.compacting.compact(empty_bin=True)
        goes_on.set()
        nothing = await late

    assert (done.segments, done.left) == (1, {})
    assert nothing.segments == 0
    assert {*nothing.left.values()} == {"It changed in the meantime."}
    assert [name for name in store.names() if name.endswith(".2.warc.gz")] != []
    before = await stored_content(machine_a)
    assert [url for url, _, _ in before] == sorted(urls[1:])
    alone = other_machine(settings, tmp_path / "c")
    await reindex(alone)
    assert await stored_content(alone) == before


async def test_segments_move_from_the_folder_to_a_new_store(settings, urls, store, tmp_path):
    folder = replace(settings, store=None)
    await save(folder, urls)
    before = await stored_content(folder)

    assert await stored_content(settings) == before
    assert local_segments(settings) == []
    other = other_machine(settings, tmp_path / "b")
    await reindex(other)
    assert await stored_content(other) == before


async def test_an_archive_in_a_store_is_not_opened_without_it(settings, urls):
    await save(settings, urls[:1])

    with pytest.raises(ConfigurationError, match="Set ARCHIVER_STORE to this value"):
        await save(replace(settings, store=None), urls)


async def test_a_page_that_is_not_uploaded_yet_is_503_on_another_machine(
    settings, urls, store, tmp_path
):
    store.proxy.failing = {"PUT": 503}
    await save(settings, urls[:1])
    other = other_machine(settings, tmp_path / "b")
    shutil.copy(settings.data / "archive.sqlite3", other.data)
    path = f"/web/{urls[0]}"

    async with open_app(other) as archive, TestClient(TestServer(build_app(archive))) as client:
        answer = await client.get(path)
        assert (answer.status, "Try again in a few minutes" in await answer.text()) == (503, True)

    store.proxy.failing = {}
    async with open_app(settings):
        pass
    async with open_app(other) as archive, TestClient(TestServer(build_app(archive))) as client:
        assert (await client.get(path)).status == 200


@pytest.mark.parametrize("is_slow", [False, True])
async def test_fetching_pauses_while_too_many_bytes_wait_for_the_store(
    settings, urls, store, is_slow
):
    full, goes_on = replace(settings, backlog_bytes=1, segment_bytes=1), threading.Event()
    if is_slow:
        store.proxy.heard = lambda method, _: method == "PUT" and goes_on.wait(60)
    else:
        store.proxy.failing = {"PUT": 507}
    async with open_app(full) as archive, TestClient(TestServer(build_app(archive))) as client:
        await archive.entries.save(urls[:1], source="test")
        await archive.crawling.work()
        async with asyncio.timeout(600):
            while ("paused" if is_slow else "the log has the reason") not in await health(client):
                pass
        await archive.entries.save(urls[1:], source="test")
        looked = looks_at_the_queue(archive)
        work = asyncio.create_task(archive.crawling.work())
        await looked.wait()

        stored_content = await health(client)
        shown = await (await client.get("/activity")).text()
        assert "object store: fetching is paused" in stored_content
        assert "Saving is paused" in shown
        measured = await measures(client)
        assert measured["archiver_held_up"] == 1
        assert measured["archiver_unstored_bytes"] == size_of(full)
        assert 0 < measured["archiver_recovery_seconds"] < 600
        assert measured["archiver_uploads_failing"] == (not is_slow)
        assert ("(507)" in shown) is not is_slow
        assert (await archive.crawling.counts()).queued == len(urls) - 1
        assert len(local_segments(full)) > 0

        store.proxy.failing = {}
        goes_on.set()
        await work
        assert (await archive.crawling.counts()).saved == len(urls)
    assert local_segments(full) == []


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ({"ARCHIVER_STORE": "s3://no-such-bucket/x"}, "The bucket of s3://no-such-bucket"),
        ({"AWS_SECRET_ACCESS_KEY": "another-secret"}, "rejected the credentials"),
        ({"AWS_ENDPOINT_URL": "http://127.0.0.1:1"}, "not responding correctly"),
    ],
)
async def test_an_unusable_store_ends_a_command_with_a_clear_error(
    settings, store, address, reason
):
    machine_a = {"ARCHIVER_DATA": str(settings.data), "ARCHIVER_STORE": store.address}

    code, output = await run_expecting_error("import", "-", "--no-crawl", **(machine_a | address))

    (line,) = output.splitlines()
    assert code == 1
    assert line.startswith("archiver: ")
    assert reason in line
    assert not any(each in output for each in ("another-secret", store.server.secret))


async def test_no_credentials_are_logged(settings, urls, store):
    variables = {"ARCHIVER_DATA": str(settings.data), "ARCHIVER_STORE": store.address}
    command = ("crawl", "--log-level", "debug")
    await run("import", "-", "--no-crawl", input_data="\n".join(urls), **variables)

    done = await run_in_thread(*command, variables=SETTINGS | variables)
    output = done.stdout + done.stderr

    assert "uploaded" in output
    assert not any(each in output for each in (store.server.access, store.server.secret))


async def test_all_segments_are_uploaded_before_a_process_exits(settings, urls, store):
    loop, running_jobs, goes_on = asyncio.get_running_loop(), asyncio.Event(), threading.Event()

    def heard(method: str, _: str) -> None:
        if method == "PUT":
            loop.call_soon_threadsafe(running_jobs.set)
            goes_on.wait(30)

    store.proxy.heard = heard
    async with open_app(replace(settings, segment_bytes=1)) as archive:
        await archive.entries.save(urls, source="test")
        await archive.crawling.work()
        await running_jobs.wait()
        loop.call_later(0.5, goes_on.set)  # shutdown waits for it

    assert local_segments(settings) == []


async def test_a_failing_store_is_an_error_and_its_wrong_bytes_are_found_by_verify(
    settings, urls, store, tmp_path
):
    await save(replace(settings, uploaded_bytes=0), urls)
    other = other_machine(settings, tmp_path / "b")
    (name,) = store.names()
    data = bytearray(store.read(name))
    middle = len(data) // 2
    data[middle : middle + 64] = bytes(64)

    store.proxy.failing = {"GET": 500, "HEAD": 500}
    with pytest.raises(StoreUnavailable, match="500"):
        await reindex(other)
    assert not (other.data / "archive.sqlite3").exists()
    store.proxy.failing = {}
    async with open_app(settings) as archive:
        store.proxy.failing = {"GET": 500, "HEAD": 500}
        with pytest.raises(StoreUnavailable):
            await payload(archive, urls[0])
        store.proxy.failing = {}
        store.write(name, bytes(data))
        assert [each async for each in archive.fixity.verify() if each.is_wrong] != []


async def measures(client):
    """Return Prometheus metrics that have a single value."""
    lines = (await (await client.get("/metrics")).text()).splitlines()
    stored_content = (
        each.split(" ") for each in lines if each.startswith("archiver_") and "{" not in each
    )
    return {name: float(value) for name, value in stored_content}


def size_of(settings):
    return sum(each.stat().st_size for each in (settings.data / "warc").iterdir())


def looks_at_the_queue(archive):
    """Return an event that is set once a worker has looked for the next due host."""
    looked, loop = asyncio.Event(), asyncio.get_running_loop()

    def note(_conn, _cursor, statement, *_):
        if "queue_host" in statement and not loop.is_closed():
            loop.call_soon_threadsafe(looked.set)

    event.listen(archive.entries._db._readers.engine, "after_cursor_execute", note)
    return looked


async def health(client):
    return await (await client.get("/healthz")).text()
