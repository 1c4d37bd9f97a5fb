"""Machines whose clocks are wrong by an hour, each the other way, work one archive."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest
from aiohttp import web

from tests.cluster.commands import archiver, ran
from tests.cluster.owner import as_owner
from tests.cluster.s3_servers import Moto, s3_server

HOUR = timedelta(hours=1)


@pytest.fixture(scope="session")
def server(server, tmp_path_factory):
    """One that looks at no clock: others refuse what is asked a quarter of an hour off."""
    if isinstance(server, Moto):
        yield server
    else:
        with s3_server(tmp_path_factory.mktemp("s3"), kind="moto") as running:
            yield running


@pytest.fixture
def fast(address, store, tmp_path):
    """A machine that believes it is an hour later."""
    shared = {"ARCHIVER_INDEX": address, "ARCHIVER_STORE": store.address}
    return shared | _clock("+1h") | {"ARCHIVER_DATA": str(tmp_path / "fast")}


@pytest.fixture
def slow(fast, tmp_path):
    (tmp_path / "slow").mkdir()
    return fast | _clock("-1h") | {"ARCHIVER_DATA": str(tmp_path / "slow")}


def _clock(off):
    """The variables of Debian's ``faketime``, but for clocks that only go on."""
    preloaded = "/usr/$LIB/faketime/libfaketime.so.1"
    return {"LD_PRELOAD": preloaded, "FAKETIME": off, "FAKETIME_DONT_FAKE_MONOTONIC": "1"}


async def told_by(*words, said="", **machine):
    """A command in a process that is no copy: a copy has the clock of what it is a copy of."""
    async with archiver(*words, **machine) as process:
        told, _ = await process.communicate(said.encode())
        return process.returncode, told.decode()


async def test_what_one_queued_is_due_at_once_for_the_other(live, fast, slow):
    urls = [live.article("foxes"), live.article("bears")]
    for machine, other, url in ((fast, slow, urls[0]), (slow, fast, urls[1])):
        await told_by("import", "-", "--no-crawl", said=url, **machine)

        async with asyncio.timeout(600):
            assert (await told_by("crawl", **other))[0] == 0

        assert url in (await ran("list", "--status", "saved", **machine))[1]


async def test_clocks_that_are_wrong_make_nobody_dead_and_give_no_job_to_two(
    live, address, fast, slow
):
    answered = asyncio.Event()

    async def answer(_):
        await answered.wait()
        return web.Response(text="<title>held</title>", content_type="text/html")

    url = live.answer("/held", answer)
    await told_by("import", "-", "--no-crawl", said=url, **fast)
    async with archiver("crawl", **fast) as one, archiver("crawl", **slow) as other:
        await live.asked_for("/held")
        told = [(await told_by("machines", **each))[1] for each in (fast, slow)]
        answered.set()
        assert [await one.wait(), await other.wait()] == [0, 0]

    for each in told:
        assert {line.split()[-1] for line in each.splitlines()} == {"alive"}
    assert live.asked["/held"] == 1
    (moment,) = _moments(address)
    assert abs(moment - datetime.now(UTC)) > HOUR / 2, "the clocks were not wrong"


def _moments(address):
    """When snapshots were made, as the machines that made them believed."""
    found = as_owner(address, "SELECT timestamp FROM snapshot")
    return [datetime.strptime(f"{each}+0000", "%Y%m%d%H%M%S%z") for (each,) in found]
