"""Archives that are made once, of which each test gets a copy: capturing takes the longest."""

import asyncio
import shutil
from collections.abc import Awaitable, Callable
from io import BufferedReader, BytesIO
from pathlib import Path

from archiver.app import App

Make = Callable[[Path], Awaitable[object]]
WHEN_COPIED: list[Callable[[Path, Path], None]] = []
"""Told of each copy: from which folder to which."""
KINDS: list[Callable[[], object]] = []
"""What else an archive depends on as a test has it, besides what makes it."""


async def take_in(runtime: App, archived: bytes) -> None:
    """Import a WARC file."""
    with BufferedReader(BytesIO(archived)) as source:
        await runtime.imports.read_file(source, name="some.warc.gz")


class Prepared:
    """Keeps what was made by the function that made it."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._made: dict[tuple[object, ...], Path] = {}

    async def copy(self, make: Make, to: Path) -> None:
        """A copy of what ``make`` makes of an empty folder, at ``to``, which is not there yet."""
        await asyncio.to_thread(self._copy, make, to)

    def _copy(self, make: Make, to: Path) -> None:
        kind = (make, *(each() for each in KINDS))
        if kind not in self._made:
            made = self._directory / str(len(self._made))
            asyncio.run(make(made))
            self._made[kind] = made
        shutil.copytree(self._made[kind], to)
        for copy_more in WHEN_COPIED:
            copy_more(self._made[kind], to)
