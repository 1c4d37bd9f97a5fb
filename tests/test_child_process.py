"""Child processes: imports, environment, priority and exit."""

import asyncio
import os
import sys
from asyncio.subprocess import PIPE
from io import BytesIO
from itertools import chain
from pathlib import Path

import psutil
import pytest

from archiver.app import READER_NICENESS, open_app
from archiver.config import Settings
from archiver.formats.import_process import open_links
from archiver.helpers import child_command, child_environment, end_child
from archiver.pages.worker_messages import Document
from archiver.pages.worker_pool import WorkerPool
from archiver.services import background_tasks
from archiver.services.background_tasks import crawl_processes

pytestmark = pytest.mark.real_children

HOSTILE = "structlog json click aiohttp sqlalchemy lxml re2 uvloop typing_extensions archiver"


@pytest.fixture
def hostile_directory(tmp_path):
    """A directory with files named like libraries, which record that they were run."""
    directory = tmp_path / "downloads"
    directory.mkdir()
    for name in HOSTILE.split():
        (directory / f"{name}.py").write_text(
            f"open({str(tmp_path / 'run')!r}, 'a').write('{name}')"
        )
    return directory


async def test_nothing_is_imported_from_the_working_directory(tmp_path, hostile_directory, live):
    environment = os.environ | {
        "ARCHIVER_DATA": str(tmp_path / "data"),
        "ARCHIVER_ALLOW_NETWORKS": "127.0.0.0/8",
        "ARCHIVER_CRAWL_PROCESSES": "2",
    }
    (hostile_directory / "links.txt").write_text(live.article("page"))

    process = await asyncio.create_subprocess_exec(
        Path(sys.executable).with_name("archiver"),
        "import",
        "links.txt",
        env=environment,
        cwd=hostile_directory,
        stdout=PIPE,
    )
    printed, _ = await process.communicate()

    assert process.returncode == 0
    assert b"saved\t1" in printed
    assert not (tmp_path / "run").exists()


@pytest.fixture
def _secrets(monkeypatch):
    monkeypatch.setenv("ARCHIVER_PASSWORD", "hunter2")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hunter2")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(["", "relative", "/absolute"]))


@pytest.mark.usefixtures("_secrets")
async def test_no_child_has_a_secret_in_its_environment(tmp_path):
    pool = WorkerPool(processes=1, timeout=30, memory_bytes=1 << 30, max_requisites=10)
    await pool.extract(Document(b"<p>Hello</p>", "text/html", "", "http://example.com/"))
    more_than_a_pipe_takes = BytesIO(b"https://example.com/%s\n" % (b"a" * 1000) * 1000)
    settings = Settings(data=tmp_path, crawl_processes=2)
    async with (
        open_links(more_than_a_pipe_takes, "links", memory_bytes=1 << 30),
        crawl_processes(settings, until_empty=True),
    ):
        children = [(each.cmdline(), each.environ()) for each in psutil.Process().children()]
    await pool.stop()

    for name in ("pages.worker", "formats.import_worker", "cli.worker"):
        environments = [each for command, each in children if f"archiver.{name}" in command]
        assert environments, name
        for variable, value in chain.from_iterable(each.items() for each in environments):
            assert not variable.startswith(("ARCHIVER_", "AWS_")), (name, variable)
            assert "hunter2" not in value, (name, variable)


@pytest.mark.usefixtures("_secrets")
def test_a_child_gets_a_minimal_environment_without_relative_paths():
    environment = child_environment(MALLOC_ARENA_MAX="1")

    assert environment["PATH"] == os.environ["PATH"]
    assert environment["MALLOC_ARENA_MAX"] == "1"
    assert environment["PYTHONPATH"] == f"{Path(__file__).parents[1]}{os.pathsep}/absolute"
    assert "-P" in child_command("archiver.cli.worker")


async def test_a_child_whose_output_is_not_read_ends():
    """The pipe and the read-ahead buffer are full of unread output."""
    endless = "import sys\nwhile True: sys.stdout.buffer.write(bytes(65536))"
    child = await asyncio.create_subprocess_exec(sys.executable, "-c", endless, stdout=PIPE)
    await child.stdout.readexactly(300_000)
    while not child.stdout._paused:  # noqa: ASYNC110 - no event tells
        await asyncio.sleep(0.001)

    await end_child(child)

    assert child.returncode < 0


async def test_workers_of_a_service_have_lower_priority_than_those_of_a_command(tmp_path):
    page = Document(b"<p>Hello</p>", "text/html", "", "http://example.com/")
    for options, lower in (
        ({}, 0),
        ({"low_priority": True}, READER_NICENESS),
        ({"serve": True}, READER_NICENESS),
    ):
        async with open_app(Settings(data=tmp_path), **options) as app:
            await app.context.derive.discover(page)
            children = psutil.Process().children()
            [worker] = [each for each in children if "archiver.pages.worker" in each.cmdline()]
            assert worker.nice() - psutil.Process().nice() == lower, options


async def other_helper(than=None):
    """Wait for a helper of this process whose pid is not ``than``; return its pid."""
    while True:
        for each in psutil.Process().children():
            if each.pid != than and "archiver.cli.worker" in each.cmdline():
                return each.pid
        await asyncio.sleep(0.01)


async def test_a_dead_helper_of_the_service_is_replaced(tmp_path, monkeypatch):
    monkeypatch.setattr(background_tasks, "REST_SECONDS", 0.01)
    settings = Settings(data=tmp_path / "data", crawl_processes=2)
    async with open_app(settings, serve=True):
        first = await other_helper()
        psutil.Process(first).kill()
        second = await other_helper(than=first)
    assert first != second
    assert not psutil.pid_exists(second)
