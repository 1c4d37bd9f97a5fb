"""No browser process or file is left after any of the processes is killed."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

ROOT = Path(__file__).parents[2]

GONE_SECONDS = 20
"""Limit for all processes to exit; usually less than a second is needed."""


def is_alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


async def ended(pids: Iterable[int], *, within: float | None = GONE_SECONDS) -> None:
    """Wait until these processes have exited, including those that are not our children."""
    loop = asyncio.get_running_loop()
    async with asyncio.timeout(within):
        for pid in pids:
            with suppress(ProcessLookupError):
                watched, told = os.pidfd_open(pid), asyncio.Event()
                loop.add_reader(watched, told.set)
                try:
                    await told.wait()
                finally:
                    loop.remove_reader(watched)
                    os.close(watched)


@pytest.mark.parametrize("victim", ["us", "supervisor", "browser"])
async def test_all_browser_processes_exit_after_a_kill(victim, tmp_path):
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.a_browser", str(tmp_path)),
        cwd=ROOT,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    started = json.loads(await process.stdout.readline())
    pids = [pid for pid, _ in started]
    supervisor = next(pid for pid, words in started if "archiver.browser.supervisor" in words)
    browser = next(pid for pid, words in started if "--remote-debugging-pipe" in words)
    assert len(pids) > 4  # zygotes and renderers too

    os.kill(
        {"us": process.pid, "supervisor": supervisor, "browser": browser}[victim], signal.SIGKILL
    )

    if victim == "supervisor":
        await ended(pids)
    else:  # exits last, which may take long on a busy machine
        await ended([supervisor])
        assert [each for each in started if is_alive(each[0])] == []
        assert [*tmp_path.iterdir()] == []
    if victim != "us":
        process.kill()
    await process.communicate()
