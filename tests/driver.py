"""One program that drives browsers for all tests of a process: to start it takes half a second.

It serves each connection as it would serve a process of its own, and ends with this process.
"""

import asyncio
import atexit
import subprocess
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright._impl import out_of_process
from playwright._impl._driver import compute_driver_executable
from playwright._impl.transport import PipeTransport

_DRIVER = Path(__file__).parent / "in_children" / "driver.js"
_MOST_BYTES = 32768


class _Connection:
    """What a transport takes for a process that drives browsers for it alone."""

    def __init__(self, stdout: asyncio.StreamReader, stdin: asyncio.StreamWriter) -> None:
        self.stdout = stdout
        self.stdin = stdin

    async def communicate(self) -> None:
        """Wait until it is closed."""
        await self.stdin.wait_closed()


class _Transport(PipeTransport):
    async def connect(self) -> None:
        """Connect to the program that is there."""
        self._stopped_future = asyncio.get_running_loop().create_future()
        path = await asyncio.to_thread(_driver)
        opened = await asyncio.open_unix_connection(path, limit=_MOST_BYTES)
        self._proc = _Connection(*opened)
        self._output = self._proc.stdin


def share_driver() -> None:
    """From now on, in this process."""
    out_of_process.PipeTransport = _Transport


@cache
def _driver() -> str:
    """Where it listens."""
    folder = TemporaryDirectory(prefix="archiver-tests-")
    path = f"{folder.name}/driver"
    node, program = compute_driver_executable()
    process = subprocess.Popen(
        [node, _DRIVER, Path(program).parent, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdout
    assert process.stdout.readline(), "what drives browsers did not start"
    atexit.register(_end, process, folder)
    return path


def _end(process: "subprocess.Popen[bytes]", folder: TemporaryDirectory[str]) -> None:
    process.communicate()
    folder.cleanup()
