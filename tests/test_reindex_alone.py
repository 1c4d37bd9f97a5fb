"""Rebuilding the index excludes every other process, and is excluded by each."""

import asyncio
import signal
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from archiver.app import open_app
from archiver.config import Settings
from tests.command_line import run_in_thread
from tests.index_access import hold_migration_lock
from tests.processes import running

BEING_REINDEXED = "is rebuilding the index of this archive"
IN_USE = "in use by another process"
COMMANDS = (("list",), ("add", "http://127.0.0.1:1/"), ("reindex",))


@pytest.fixture
async def data(tmp_path):
    """An archive with one link that is in no segment."""
    async with open_app(Settings(data=tmp_path / "data")) as runtime:
        await runtime.entries.save(["http://127.0.0.1:1/kept"], source="test")
    return tmp_path / "data"


async def outcome(data, *arguments):
    done = await run_in_thread(*arguments, variables={"ARCHIVER_DATA": str(data)})
    return done.returncode, done.stdout, done.stderr


def is_held_exclusively(data, process):
    """Return whether a process holds the archive exclusively; trying the lock would block it."""
    inode = (data / "run" / "archive").stat().st_ino
    return any(
        f"WRITE {process.pid} " in line and f":{inode} " in line and "->" not in line
        for line in Path("/proc/locks").read_text().splitlines()
    )


@asynccontextmanager
async def reindexing(data):
    """Start a process that rebuilds the index and waits in the middle."""
    with hold_migration_lock(data):
        async with running("reindex", ARCHIVER_DATA=str(data)) as process:
            while not is_held_exclusively(data, process):  # noqa: ASYNC110 - nothing to wait on
                await asyncio.sleep(0.01)
            yield process


async def test_no_command_uses_the_archive_while_its_index_is_rebuilt(data):
    async with reindexing(data):
        for command in COMMANDS:
            status, _, errors = await outcome(data, *command)

            assert status == 1
            assert (IN_USE if command == ("reindex",) else BEING_REINDEXED) in errors
        async with running("serve", "--port", "0", ARCHIVER_DATA=str(data)) as service:
            _, errors = await service.communicate()

    assert service.returncode == 1
    assert BEING_REINDEXED in errors.decode()


@pytest.mark.parametrize("crawl", [False, True])
async def test_a_rebuild_is_refused_while_a_process_uses_the_archive(data, crawl):
    async with open_app(Settings(data=data), serve=crawl):
        status, _, errors = await outcome(data, "reindex")

    assert status == 1
    assert IN_USE in errors


async def test_a_killed_reindex_leaves_the_old_index_in_use_and_the_next_one_keeps_the_queue(data):
    async with reindexing(data) as process:
        process.send_signal(signal.SIGKILL)
        await process.wait()

    status, listed, _ = await outcome(data, "list")
    again, counts, _ = await outcome(data, "reindex")

    assert (status, again) == (0, 0)
    assert "http://127.0.0.1:1/kept" in listed
    assert "queued\t1" in counts
    assert not list(data.glob("archive.sqlite3.new*"))
    assert "http://127.0.0.1:1/kept" in (await outcome(data, "list"))[1]
