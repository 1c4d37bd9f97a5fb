"""Commands of the program as processes of their own."""

import asyncio
import os
import sys
from asyncio.subprocess import PIPE
from contextlib import asynccontextmanager

from tests.copied import program


@asynccontextmanager
async def archiver(*words, **variables):
    """A command that runs meanwhile."""
    async with _running([sys.executable, "-m", "archiver", *words], variables) as process:
        yield process


@asynccontextmanager
async def _running(command, variables):
    given = {"ARCHIVER_ALLOW_NETWORKS": "127.0.0.0/8", "ARCHIVER_RENDER": "never"}
    process = await asyncio.create_subprocess_exec(
        *command,
        env=os.environ | given | {"ARCHIVER_HOST_DELAY": "0"} | variables,
        stdin=PIPE,
        stdout=PIPE,
        stderr=PIPE,
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def ran(*words, said="", **variables):
    async with _running(program(*words), variables) as process:
        told, _ = await process.communicate(said.encode())
        return process.returncode, told.decode()


async def refused(*words, **variables):
    """The exit status of a command that gives up, and what it says of that."""
    async with _running(program(*words), variables) as process:
        _, said = await process.communicate(b"")
        return process.returncode, said.decode()
