"""Resources that processes share and use, measured from outside."""

import asyncio
import os
import sys
import time
from asyncio.subprocess import PIPE

import pytest
from aiohttp import web

from archiver.config import (
    MAX_EXTRACTORS,
    Settings,
    share_among_processes,
)
from tests.command_line import run_in_thread

DELAY = 0.25
PAGES = 10


@pytest.fixture
def program(tmp_path):
    """Run the program on this test's archive; return its output and its log."""

    async def run(*arguments, **variables):
        environment = os.environ | {
            "ARCHIVER_DATA": str(tmp_path / "data"),
            "ARCHIVER_ALLOW_NETWORKS": "127.0.0.0/8",
            "ARCHIVER_LOG_JSON": "true",
            **variables,
        }
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "archiver", *arguments),
            env=environment,
            stdout=PIPE,
            stderr=PIPE,
        )
        output, log = await process.communicate()
        assert process.returncode == 0, log.decode()
        return output.decode(), log.decode()

    return run


async def test_two_processes_share_the_queue_and_the_request_rate_of_a_host(
    live, program, tmp_path
):
    """Once the host has seen both processes, each waits twice as long as a single one."""
    request_times, both = [], asyncio.Event()

    async def answer(_):
        request_times.append(time.monotonic())
        if len(request_times) == 2:
            # A process has one page in progress at a host that never responded: these are of two.
            both.set()
        await both.wait()
        return web.Response(text="<title>x</title>", content_type="text/html")

    listing = tmp_path / "urls.txt"
    listing.write_text("\n".join(live.add_handler(f"/page{n}", answer) for n in range(PAGES)))
    data = {"ARCHIVER_DATA": str(tmp_path / "data")}
    await run_in_thread("import", str(listing), "--no-crawl", variables=data)

    output, _ = await program(
        "crawl",
        ARCHIVER_CONCURRENCY="64",
        ARCHIVER_HOST_DELAY=str(DELAY),
        ARCHIVER_CRAWL_PROCESSES="2",
    )

    assert output.split() == ["saved", str(PAGES), "failed", "0"]
    assert {live.requests[f"/page{n}"] for n in range(PAGES)} == {1}
    assert not list((tmp_path / "data" / "run").glob("*.lock"))
    later = request_times[2:]
    assert len(later) == PAGES - 2
    assert later[-1] - later[0] > 0.75 * (len(later) - 2) * DELAY


@pytest.mark.parametrize("processes", [1, 2, 16])
def test_there_is_a_worker_for_each_spare_core(tmp_path, processes):
    settings = Settings(data=tmp_path, crawl_processes=processes)

    each = share_among_processes(settings).extract_processes

    spare = len(os.sched_getaffinity(0)) // processes - 1
    assert each <= max(min(spare, MAX_EXTRACTORS), 1)
    assert each >= 1


def test_a_crawl_command_uses_every_core(tmp_path):
    (tmp_path / "cpu.max").write_text("200000 100000\n")
    settings = Settings(data=tmp_path)

    alone = share_among_processes(settings, leaves_a_core=False, cgroups=tmp_path)
    beside = share_among_processes(settings, cgroups=tmp_path)

    assert alone.extract_processes == min(len(os.sched_getaffinity(0)), 2)
    assert beside.extract_processes == 1


def test_a_configured_number_of_workers_is_used(tmp_path):
    settings = Settings(data=tmp_path, extract_processes=7)

    assert share_among_processes(settings).extract_processes == 7


@pytest.mark.parametrize(
    ("name", "limit"),
    [
        ("memory.max", "536870912"),
        ("memory/memory.limit_in_bytes", "536870912"),
        ("cpu.max", "150000 100000"),
    ],
)
def test_workers_fit_into_the_memory_of_a_container(tmp_path, name, limit):
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text(limit + "\n")

    within = share_among_processes(Settings(data=tmp_path), cgroups=tmp_path)

    assert within.extract_processes == 1


def test_a_container_without_limits_uses_the_whole_machine(tmp_path):
    (tmp_path / "memory.max").write_text("max\n")
    (tmp_path / "cpu.max").write_text("max 100000\n")
    settings = Settings(data=tmp_path)

    within = share_among_processes(settings, cgroups=tmp_path)

    assert within == share_among_processes(settings, cgroups=tmp_path / "none")
