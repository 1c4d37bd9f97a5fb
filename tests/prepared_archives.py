"""Archives that are made once and copied for each test, because capturing is slow."""

import asyncio
import shutil
from collections.abc import Awaitable, Callable
from io import BufferedReader, BytesIO
from pathlib import Path

from archiver.app import App

Make = Callable[[Path], Awaitable[object]]


async def take_in(runtime: App, archived: bytes) -> None:
    """Import a WARC file."""
    with BufferedReader(BytesIO(archived)) as source:
        await runtime.imports.read_file(source, name="some.warc.gz")


class Prepared:
    """Prepared archives, by the function that fills them."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._made: dict[Make, Path] = {}

    async def copy(self, make: Make, to: Path) -> None:
        """Copy the archive that ``make`` fills to ``to``, which must not exist."""
        await asyncio.to_thread(self._copy, make, to)

    def _copy(self, make: Make, to: Path) -> None:
        if make not in self._made:
            made = self._directory / str(len(self._made))
            asyncio.run(make(made))
            self._made[make] = made
        shutil.copytree(self._made[make], to)
