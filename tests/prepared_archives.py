"""Archives that are made once and copied for each test, because capturing is slow."""

import asyncio
import fcntl
import shutil
from collections.abc import Awaitable, Callable
from io import BufferedReader, BytesIO
from pathlib import Path

from archiver.app import App, open_app
from archiver.config import Settings

Make = Callable[[Path], Awaitable[object]]


async def create_empty(data: Path) -> None:
    """Create an archive; copying its index takes half of the time of creating one."""
    async with open_app(Settings(data=data)):
        pass


async def import_warc(runtime: App, archived: bytes) -> None:
    """Import a WARC file."""
    with BufferedReader(BytesIO(archived)) as source:
        await runtime.imports.read_file(source, name="some.warc.gz")


class Prepared:
    """Archives by the function that fills them, shared by all test processes of a run."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    async def copy(self, make: Make, to: Path) -> None:
        """Copy the archive that ``make`` fills to ``to``, which must not exist."""
        await asyncio.to_thread(self._copy, make, to)

    def _copy(self, make: Make, to: Path) -> None:
        prepared_copy = self._directory / f"{make.__module__}.{make.__qualname__}"
        done = prepared_copy.with_name(f"{prepared_copy.name}.done")
        with prepared_copy.with_name(f"{prepared_copy.name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not done.exists():
                shutil.rmtree(prepared_copy, ignore_errors=True)
                asyncio.run(make(prepared_copy))
                done.touch()
        shutil.copytree(prepared_copy, to)
