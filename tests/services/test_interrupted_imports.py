"""An import is marked as being read only while it is read."""

import asyncio
import os
import signal
import sys
from asyncio.subprocess import DEVNULL
from datetime import UTC, datetime
from io import BufferedReader, BytesIO

import pytest

from archiver.db import imports
from archiver.formats import import_process
from archiver.model.imports import RecordCounts
from archiver.services import imports as services_imports
from archiver.services.reindex import reindex
from tests.command_line import run_in_thread
from tests.processes import batch_size_variables, running
from tests.warcs import Warc

UPLOADED = 240


def links(first, last):
    """Return long links; a thousand of them fill all buffers."""
    return "".join(f"http://a.example/{n}?{'x' * 400}\n" for n in range(first, last)).encode()


@pytest.fixture(autouse=True)
def _soon(monkeypatch):
    monkeypatch.setattr("archiver.services.crawling.POLL_SECONDS", 0.01)
    monkeypatch.setattr(services_imports, "CLAIM_SECONDS", 0.01)


def process(data, *arguments):
    """Run the program as a separate process, with small batches, and kill it at the end."""
    variables = {"ARCHIVER_LOG_LEVEL": "error", **batch_size_variables(50)}
    return running(*arguments, "--data", str(data), **variables)


async def until(archive, number, holds):
    """Return the first status of an import that satisfies a condition."""
    async for status in archive.change_stream.one_import(number):
        if holds(status):
            return status
    raise AssertionError("the import ended first")


async def reading_elsewhere(archive):
    """Return the import started by another process, once some of its links were read."""
    while not (statuses := await archive.import_statuses.recent()):  # noqa: ASYNC110 - nothing to wait on
        await asyncio.sleep(0.01)
    return await until(archive, statuses[0].id, lambda status: status.read)


async def test_a_killed_import_command_leaves_an_import_with_an_error(open_archive, settings):
    async with (
        open_archive() as archive,
        process(settings.data, "import", "-", "--no-crawl") as other,
    ):
        other.stdin.write(links(0, 1_000))
        await other.stdin.drain()
        import_id = await reading_elsewhere(archive)
        assert import_id.reading

        other.kill()
        await other.wait()
        status = await archive.imports.status(import_id.id)
        ended = await until(archive, import_id.id, lambda status: not status.reading)

        assert not status.is_unread
        assert f"stopped after {status.read:,} links" in status.error
        assert "Import the file again" in status.error
        assert ended == status
        assert await archive.import_statuses.recent() == [status]
        listed = (await run_in_thread("imports", "--data", str(settings.data))).stdout
        first, why = (line.split("\t") for line in listed.splitlines())
        assert first[2:4] == ["capturing", "standard input"]
        assert why[-1] == status.error

        again = await archive.imports.read_file(BytesIO(links(0, 1_009)), name="again.txt")

    assert (again.read, again.known) == (1_009, status.added)


@pytest.fixture
def upload(tmp_path, monkeypatch):
    """Return a file that is read in many short batches."""
    monkeypatch.setattr(import_process, "BATCH", 12)
    path = tmp_path / "upload"
    path.write_bytes(links(0, UPLOADED))
    return path


async def test_a_running_service_takes_over_an_import_of_a_dead_one(open_archive, upload):
    async with open_archive() as archive:
        going_on = asyncio.create_task(archive.imports.keep_resuming())
        async with open_archive() as other:
            import_id = await other.imports.start(upload, name="links.txt")
            await other.imports.stop()
        status = await until(archive, import_id.id, lambda status: not status.is_unread)
        going_on.cancel()
        await asyncio.wait([going_on])
        await archive.imports.stop()

    assert (status.read, status.added, status.merged) == (UPLOADED, UPLOADED, 0)


async def test_an_old_upload_without_an_import_is_deleted(open_archive, settings):
    """Its process was killed after it had received the file, or after it had read it."""
    directory = settings.data / "tmp"
    async with open_archive() as archive:
        directory.mkdir(exist_ok=True)
        for name in ("waiting", "orphan", "arriving"):
            (directory / f"{name}.upload").write_bytes(links(0, 3))
            if name != "arriving":
                os.utime(directory / f"{name}.upload", (0, 0))
        async with archive.imports._db.write() as conn:
            unfinished = imports.Unfinished(5, "l.txt", "plain text", 0, "tmp/waiting.upload", 0)
            await imports.restore(conn, unfinished)

        await archive.imports.resume()
        status = await until(archive, 5, lambda status: not status.is_unread)
        await archive.imports.stop()

    assert (status.read, status.error) == (3, "")
    assert [path.name for path in directory.iterdir()] == ["arriving.upload"]


async def test_a_stored_file_that_cannot_be_opened_ends_its_import(open_archive, settings):
    async with open_archive() as archive:
        async with archive.imports._db.write() as conn:
            unfinished = imports.Unfinished(5, "odd.txt", "plain text", 0, "no\0name", 0)
            await imports.restore(conn, unfinished)

        await archive.imports.resume()
        status = await until(archive, 5, lambda status: not status.is_unread)

    assert status.error.startswith("The rest of odd.txt cannot be read")


KILLED = """
import asyncio, os, signal, sys
from pathlib import Path
from archiver.config import Settings
from archiver.services import previous_index
from archiver.services.reindex import reindex

async def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)

previous_index._enqueue_again = die
asyncio.run(reindex(Settings(data=Path(sys.argv[1]))))
"""


async def test_an_import_is_copied_once_if_a_reindex_is_killed_while_copying(
    open_archive, settings, upload
):
    async with open_archive() as archive:
        import_id = await archive.imports.start(upload, name="links.txt")
        await until(archive, import_id.id, lambda status: status.read)
        await archive.imports.stop()
        before = await archive.crawling.counts()
    killed = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", KILLED, str(settings.data)), stderr=DEVNULL
    )
    assert await killed.wait() == -signal.SIGKILL

    await reindex(settings)

    async with open_archive() as archive:
        (after,) = await archive.import_statuses.recent()
        assert (after.id, after.name, after.paused) == (import_id.id, "links.txt", True)
        assert await archive.crawling.counts() == before


async def test_captures_that_are_read_again_keep_their_counts(open_archive, settings):
    count = 4
    halves = [Warc(), Warc()]
    for number in range(8):
        body = b"<p>Page %d</p>" % number
        halves[number // 4].response(f"http://a.example/{number}", body, "text/html")
    first, second = (each.bytes for each in halves)
    async with open_archive() as archive:
        await archive.imports.read_file(BufferedReader(BytesIO(first)), name="a.warc.gz")
        (settings.data / "kept").write_bytes(first + second)
        async with archive.imports._db.write() as conn:
            options = {"path": "kept", "owner": "dead", "now": datetime.now(UTC)}
            number = await imports.create(conn, name="a.warc.gz", form="WARC", **options)
            counted = RecordCounts(read=count, fresh=count, pages=count)
            await imports.advance_archive(conn, number, counted)
            await imports.release(conn, "dead")

        await archive.imports.resume()
        status = await until(archive, number, lambda status: not status.is_unread)
        await archive.imports.stop()

    assert (status.read, status.merged, status.known) == (8, 4 + count, 4 - count)
    assert status.added == 4 + count


async def test_no_import_is_read_after_its_archive_was_closed(open_archive, upload):
    async with open_archive() as archive:
        await archive.imports.start(upload, name="links.txt")

    assert not [each for each in asyncio.all_tasks() if each.get_name().startswith("import-")]
