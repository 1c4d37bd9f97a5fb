"""``archiver export FORM``: one file of what a query finds."""

import asyncio
import os
import sys
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO

from archiver.cli.loop import run_until_signal
from archiver.cli.output import write_row
from archiver.cli.progress import progress_bar
from archiver.config import Settings
from archiver.model.listing import ListingQuery
from archiver.reading import open_to_read
from archiver.services.export_kinds import BY_KEY
from archiver.services.exporting import Exporting
from archiver.services.manifest import Selected

_STANDARD_OUTPUT = Path("-")
_NOTHING = "Stopped. Nothing was written."


def run(settings: Settings, *, form: str, file: Path, **narrowed: str) -> int:
    """Write a file of what a query finds; it is whole or is not there."""
    query = ListingQuery(narrowed["query"], narrowed["tag"], narrowed["host"], narrowed["status"])
    return run_until_signal(_export(settings, form, file, Selected(query)), stopped=_NOTHING)


async def _export(settings: Settings, form: str, file: Path, wanted: Selected) -> int:
    async with open_to_read(settings, Exporting.of) as exporting:
        pieces = await exporting.begin(BY_KEY[form], wanted, name=file.name)
        return await _put(pieces, file)


async def _put(pieces: AsyncGenerator[bytes, None], file: Path) -> int:
    if file == _STANDARD_OUTPUT:
        await _write(pieces, sys.stdout.buffer)
    else:
        written = await _write_whole(pieces, file)
        write_row("written", f"{written:,} bytes", str(file))
    return 0


async def _write_whole(pieces: AsyncGenerator[bytes, None], file: Path) -> int:
    """Write under another name, and give the file its own once all of it is on disk."""
    with NamedTemporaryFile(dir=file.parent, prefix=f".{file.name}.", delete=False) as part:
        path = Path(part.name)
        try:
            written = await _write(pieces, part)
            await asyncio.to_thread(_settle, part)
            await asyncio.to_thread(path.replace, file)
        except BaseException:
            await asyncio.to_thread(path.unlink, missing_ok=True)
            raise
    return written


async def _write(pieces: AsyncGenerator[bytes, None], file: IO[bytes]) -> int:
    written = 0
    with progress_bar("Writing") as bar:
        async with aclosing(pieces):
            async for piece in pieces:
                await asyncio.to_thread(file.write, piece)
                written += len(piece)
                bar.show(done=written, now=f"{written / 1e6:,.1f} MB")
    await asyncio.to_thread(file.flush)
    return written


def _settle(part: IO[bytes]) -> None:
    """Put a temporary file on disk, and let it be read by whom other new files are."""
    mask = os.umask(0)
    os.umask(mask)
    os.fchmod(part.fileno(), 0o666 & ~mask)
    os.fsync(part.fileno())
