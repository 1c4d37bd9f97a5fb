"""Full disks, simulated by a limit on file sizes: reading works and no partial files remain."""

import asyncio
import resource
from contextlib import contextmanager

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer

from archiver.model.message import Message
from archiver.services.health import ProblemNotifier
from archiver.web.app import build_app
from archiver.web.serve import open_to_serve
from tests.command_line import run_in_thread


@contextmanager
def limited(most):
    """Limit files of this process to ``most`` bytes while the block runs."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    if most is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


async def run(data, *arguments, most=None):
    with limited(most):
        return await run_in_thread(*arguments, "--data", str(data))


@pytest.fixture
async def data(live, settings, open_archive):
    async with open_archive() as archive:
        await archive.entries.save([live.article("foxes")], source="cli", tags=("t",))
        await archive.crawling.work()
    return settings.data


def names(data):
    """The files of an archive, without those that SQLite makes while one is open."""
    result = (each.name for each in data.iterdir())
    return sorted(each for each in result if not each.endswith(("-shm", "-wal")))


async def test_on_a_full_disk_reading_works_and_writing_fails_with_a_reason(data):
    listed = (await run(data, "list")).stdout

    for command in (["list"], ["search", "foxes"]):
        assert (await run(data, *command, most=0)).stdout == listed
    for command in (["bin"], ["lists"], ["feeds"], ["imports"], ["machines"]):
        assert (await run(data, *command, most=0)).returncode == 0
    assert (await run(data, "verify", most=0)).returncode == 0
    refused = await run(data, "edit", "--title", "x", "--yes", "--query", "foxes", most=0)
    assert (refused.returncode, "free space" in refused.stderr) == (1, True)


async def test_on_a_full_disk_serve_shows_the_archive(data, settings):
    with limited(0):
        async with open_to_serve(settings) as runtime:
            server = TestServer(build_app(runtime), skip_url_asserts=True)
            async with TestClient(server) as client:
                assert "foxes" in await (await client.get("/snapshots?q=foxes")).text()
                saved = await client.post("/api/v1/entries", json={"urls": ["http://a.example/"]})
                assert saved.status == 503
                assert "then restart archiver" in await saved.text()
                assert "read-only" in await (await client.get("/healthz")).text()


async def test_a_reindex_on_a_full_disk_changes_nothing(data):
    listed = (await run(data, "list")).stdout
    before = names(data)

    for most in (0, 100_000):
        refused = await run(data, "reindex", most=most)

        assert refused.returncode == 1
        assert "Traceback" not in refused.stderr
        assert names(data) == before
        assert (await run(data, "list")).stdout == listed


async def test_a_problem_is_posted_when_it_begins_and_when_it_ends(live):
    damage, full = Message("{count} problems found.", count=2), Message("The disk is full.")
    problems, received, status = [[]], [], [200]

    async def receive(request):
        received.append((await request.text(), request.headers["Title"]))
        return web.Response(status=status[0])

    url = live.add_handler("/topic", receive)
    notifier = ProblemNotifier(url, lambda: asyncio.sleep(0, problems[0]))

    async def texts(now, answer=200):
        problems[0], status[0] = now, answer
        received.clear()
        is_sent = await notifier.check()
        assert is_sent == (answer == 200)
        return [text for text, _ in received]

    assert await texts([]) == []
    assert await texts([damage], 503) == ["2 problems found."]
    assert await texts([damage], 307) == ["2 problems found."]
    assert await texts([damage]) == ["2 problems found."]
    assert await texts([damage]) == []
    assert await texts([full]) == ["The disk is full.\nSolved: 2 problems found."]
    assert received[0][1] == "archiver"
    unencodable = Message("A file is damaged: {name}", name="\udcff.warc.gz")
    assert (await texts([unencodable]))[0].startswith("A file is damaged: ?.warc.gz\n")
    assert not await ProblemNotifier(
        "http://127.0.0.1:1/", lambda: asyncio.sleep(0, [full])
    ).check()
