"""Whoever is killed, nothing of a browser is left: no process, no file."""

import asyncio
import json
import os
import signal
import sys
from pathlib import Path

import psutil
import pytest

ROOT = Path(__file__).parents[2]

GONE_SECONDS = 15
"""Much longer than it takes, so that a busy machine fails no test."""


def is_alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


@pytest.mark.parametrize("victim", ["us", "supervisor", "browser"])
async def test_nothing_is_left_alive(victim, tmp_path):
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

    async with asyncio.timeout(GONE_SECONDS):
        while any(map(is_alive, pids)):  # noqa: ASYNC110 - they are nobody's children any more
            await asyncio.sleep(0.02)
    if victim != "us":
        process.kill()
    await process.communicate()
    if victim != "supervisor":
        assert [*tmp_path.iterdir()] == []
