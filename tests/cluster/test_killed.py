"""SIGKILL at any step of an upload: no committed record is lost or stored twice."""

import asyncio
import os
import signal
import subprocess
import sys
from dataclasses import replace

import pytest

from archiver.app import open_app
from archiver.services.reindex import reindex
from tests.cluster.archives import other_machine, save, stored_content
from tests.system_calls import killing


@pytest.fixture
def settings(settings):
    return replace(settings, uploaded_bytes=0)


@pytest.fixture
def shared(settings, address):
    """The same archive with its index in PostgreSQL."""
    return replace(settings, index=address, crawl_processes=1)


@pytest.fixture
async def waiting(settings, urls, store):
    """Name of the only segment of an archive, which waits to be uploaded."""
    return await save_without_upload(settings, urls, store)


async def save_without_upload(settings, urls, store):
    """Save pages while the store refuses uploads; return the name of their segment."""
    store.proxy.failing = {"PUT": 503}
    await save(settings, urls)
    store.proxy.failing = {}
    (path,) = (settings.data / "warc").iterdir()
    return path.name


async def crawl(settings, *before, on_start=lambda _: None):
    """Run the program until it ends; return the signal that ended it, or 0."""
    variables = {
        "ARCHIVER_INDEX": settings.index or "",
        "ARCHIVER_STORE": settings.store,
        "ARCHIVER_UPLOADED_BYTES": "0",
        "ARCHIVER_ALLOW_NETWORKS": "127.0.0.0/8",
        "ARCHIVER_HOST_DELAY": "0",
        "ARCHIVER_RETRIES": "0",
        "ARCHIVER_RENDER": "never",
        "ARCHIVER_EXTRACT_PROCESSES": "1",
    }
    process = await asyncio.create_subprocess_exec(
        *(*before, sys.executable, "-m", "archiver", "crawl", "--data", str(settings.data)),
        env=os.environ | variables,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    on_start(process)
    status = await process.wait()
    return max(-status, status - 128, 0)


async def check(settings, tmp_path, urls):
    """Check that every page can be read, also by a machine with an empty data directory."""
    before = await stored_content(settings)
    assert [url for url, _, _ in before] == sorted(urls)
    alone = other_machine(replace(settings, index=None), tmp_path / "c")
    await reindex(alone)
    assert await stored_content(alone) == before
    assert list((settings.data / "warc").glob("*.warc.gz")) == []


@pytest.mark.parametrize("moment", ["heard", "answered"])
async def test_a_process_killed_during_an_upload_loses_nothing(
    waiting, settings, urls, store, tmp_path, moment
):
    """Before the store has the segment, and before the process knows it."""
    started = []

    def kill(requested, _):
        if requested == "PUT" and store.names() == ([] if moment == "heard" else [waiting]):
            started[0].kill()

    setattr(store.proxy, moment, kill)

    assert await crawl(settings, on_start=started.append) == signal.SIGKILL

    setattr(store.proxy, moment, lambda *_: None)
    await check(settings, tmp_path, urls)


@pytest.mark.parametrize(
    ("call", "about"), [("rename", "warc/{name}"), ("unlink", "uploaded/{name}")]
)
async def test_a_process_killed_while_it_marks_an_upload_loses_nothing(
    shared, urls, store, tmp_path, call, about
):
    """Before the move that marks a segment, and before the copy is removed."""
    path = shared.data / about.format(name=await save_without_upload(shared, urls, store))

    assert await crawl(shared, *killing(call, path)) == signal.SIGKILL

    await check(shared, tmp_path, urls)


async def test_a_process_killed_while_it_syncs_new_records_loses_nothing(shared, urls, tmp_path):
    async with open_app(shared) as archive:
        await archive.entries.save(urls, source="test")

    assert await crawl(shared, *killing("fdatasync")) == signal.SIGKILL

    async with open_app(shared) as archive:
        await archive.crawling.work()
    await check(shared, tmp_path, urls)
