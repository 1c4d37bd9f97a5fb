"""Remote commit: what is indexed is in the store, whatever becomes of the machine that wrote it."""

import asyncio
import os
import shutil
import signal
from dataclasses import replace

import pytest
from aiohttp import ClientSession

from archiver.archive import LOCKS
from archiver.config import InvalidSettings, read_settings
from archiver.crawl import dispatch
from archiver.runtime import open_runtime
from archiver.services.manifest import Selected
from archiver.services.reindexing import reindex
from archiver.store.locks import alone
from tests.cluster.archives import elsewhere, payload, save, site, told
from tests.cluster.commands import archiver, ran
from tests.cluster.owner import as_owner, silence_all

TRIES = 3
"""Requests after which a batch was refused once."""


@pytest.fixture
def here(address, store, tmp_path):
    """A machine that commits remotely."""
    shared = {"ARCHIVER_INDEX": address, "ARCHIVER_STORE": store.address}
    return shared | {
        "ARCHIVER_DATA": str(tmp_path / "a"),
        "ARCHIVER_COMMIT": "remote",
        "ARCHIVER_WRITER_LEASE": "1",
    }


@pytest.fixture
def there(here, tmp_path):
    """Another machine, whose directory is there only once it is used."""
    return here | {"ARCHIVER_DATA": str(tmp_path / "b")}


@pytest.fixture
def remote(settings):
    """An archive with its index in a file, and its segments in the store before they count."""
    return replace(settings, commit="remote")


@pytest.fixture
async def urls():
    async with site() as found:
        yield found


@pytest.fixture
def saved(address):
    """Says how many snapshots the index has."""
    return lambda: as_owner(address, "SELECT count(*) FROM snapshot")[0][0]


async def fetched(url: str) -> bytes:
    async with ClientSession() as web, web.get(url) as answer:
        return await answer.read()


async def test_what_was_committed_is_read_elsewhere_once_its_machine_is_gone(
    live, here, there, address, saved, settings, tmp_path
):
    urls = [live.article(f"page-{number}") for number in range(5)]
    held = live.answer("/held", lambda _: live.closing.wait())
    await ran("import", "-", "--no-crawl", said="\n".join([*urls, held]), **here)
    async with archiver("crawl", **here) as running:
        async with asyncio.timeout(600):
            while await asyncio.to_thread(saved) < len(urls):
                pass
        running.send_signal(signal.SIGKILL)
        await running.wait()
    shutil.rmtree(tmp_path / "a")
    silence_all(address)

    async with open_runtime(replace(settings, data=tmp_path / "b", index=address)) as archive:
        for url in urls:
            assert await payload(archive, url) == await fetched(url)
    assert await ran("machines", "--unsealed", **there) == (1, "")


@pytest.mark.parametrize(
    "killed",
    [
        ("heard", "PUT", True),
        ("answered", "PUT", False),
        ("answered", "GET", True),
    ],
)
async def test_a_kill_between_store_and_index_loses_nothing_and_keeps_nothing_twice(
    live, here, there, saved, store, tmp_path, killed
):
    moment, method, is_lost = killed
    await ran("import", "-", "--no-crawl", said=live.article("page"), **here)
    async with archiver("crawl", **here) as running:

        def kill(asked: str) -> None:
            if asked == method and store.fickle.count("PUT"):
                os.kill(running.pid, signal.SIGKILL)

        setattr(store.fickle, moment, kill)
        await running.wait()
    setattr(store.fickle, moment, lambda _: None)
    assert saved() == 0

    if is_lost:
        shutil.rmtree(tmp_path / "a")
        silence_all(here["ARCHIVER_INDEX"])
    goes_on = there if is_lost else here
    assert (await ran("crawl", **goes_on))[0] == 0

    assert saved() == 1
    assert "problems\t0" in (await ran("verify", **goes_on))[1]


async def test_nothing_is_indexed_before_the_store_has_it_and_all_of_it_once_that_is_back(
    remote, urls, store, monkeypatch
):
    monkeypatch.setattr(dispatch, "TROUBLE_SECONDS", 0.05)
    loop, refused = asyncio.get_running_loop(), asyncio.Event()
    store.fickle.failing = {"PUT": 503}
    store.fickle.heard = lambda _: (
        store.fickle.count("PUT") > TRIES and loop.call_soon_threadsafe(refused.set)
    )
    async with open_runtime(remote) as archive:
        await archive.entries.save(urls, source="test")
        working = asyncio.create_task(archive.crawling.work())
        await refused.wait()
        assert (await archive.crawling.counts()).saved == 0

        store.fickle.failing = {}
        await working
        assert (await archive.crawling.counts()).saved == len(urls)

    assert [*(remote.data / "warc").iterdir()] == []
    assert [url for url, _, _ in await told(remote)] == sorted(urls)


async def test_what_is_indexed_and_not_marked_yet_is_told_of_as_in_the_store(remote, urls, address):
    here = replace(remote, index=address)
    await save(here, urls)
    for each in (here.data / "uploaded").iterdir():
        each.rename(here.data / "warc" / each.name)

    with alone(here.data / LOCKS / "upload"):  # another process uploads: this one only notes
        async with open_runtime(here) as archive:
            await archive.uploading.upload_settled()
    assert as_owner(address, "SELECT name, machine FROM segment WHERE machine IS NOT NULL") == []
    assert [*(here.data / "warc").iterdir()]


async def test_each_batch_is_an_object_that_reindex_export_and_compaction_read(
    remote, urls, store, tmp_path
):
    for url in urls:
        await save(remote, [url])
    objects = len(store.names())
    assert objects >= len(urls)
    other = elsewhere(remote, tmp_path / "b")

    report = await reindex(other)

    assert (report.problems, report.segments) == ((), objects)
    assert await told(other) == await told(remote)
    async with open_runtime(other) as archive:
        manifest = await archive.packages.begin(Selected())
        parts = [part async for part in archive.packages.warc(manifest, name="x.warc.gz")]
        assert len(b"".join(parts)) > 1000
        await archive.deleting.entries([urls[0]])
        await archive.crawling.write_down_changes()
        assert (await archive.compacting.compact()).left == {}
    assert [url for url, _, _ in await told(other)] == sorted(urls[1:])


def test_remote_commit_without_a_store_is_refused():
    with pytest.raises(InvalidSettings, match="store"):
        read_settings({}, {"ARCHIVER_COMMIT": "remote"})
