"""``archiver export FORM``: one file of what a query finds."""

import asyncio
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from pathlib import Path

from archiver.app import open_app
from archiver.cli.loop import run_until_signal
from archiver.cli.output import write_row
from archiver.cli.progress import Bar, progress_bar
from archiver.config import Settings
from archiver.model.listing import ListingQuery
from archiver.services.export_kinds import BY_KEY, ExportKind
from archiver.services.manifest import Selected
from archiver.services.markdown_tree import MarkdownTree

_STANDARD_OUTPUT = Path("-")
_STOPPED = "Stopped. The same command begins again."
_TO_GO_ON = "Stopped. The same command goes on from there."


def run(settings: Settings, *, form: str, file: Path, **narrowed: str) -> int:
    """Write a file of what a query finds; it is whole or is not there."""
    query = ListingQuery(narrowed["query"], narrowed["tag"], narrowed["host"], narrowed["status"])
    kind = BY_KEY[form]
    stopped = _TO_GO_ON if kind.form and file != _STANDARD_OUTPUT else _STOPPED
    return run_until_signal(_export(settings, kind, file, Selected(query)), stopped=stopped)


async def _export(settings: Settings, kind: ExportKind, file: Path, wanted: Selected) -> int:
    with progress_bar("Writing") as bar:

        def show(written: int) -> None:
            bar.show(done=written, now=f"{written / 1e6:,.1f} MB")

        if file == _STANDARD_OUTPUT:
            async with open_app(settings, reads_only=True) as app:
                exporting = app.exporting
                pieces = await exporting.begin(kind, wanted, name=file.name)
                await _print(pieces, show)
            return 0
        if kind.key == "markdown" and file.suffix != ".zip":
            async with open_app(settings, reads_only=True) as app:
                tree = app.markdown_tree
                return await _write_tree(tree, file, wanted, bar)
        async with open_app(settings, reads_only=True) as app:
            files = app.export_files
            whole = await files.write(kind, wanted, file, show)
    write_row("written", f"{whole.size:,} bytes", str(file))
    write_row("entries", f"{whole.entries:,}")
    return 0


async def _write_tree(tree: MarkdownTree, directory: Path, wanted: Selected, bar: Bar) -> int:
    """Write a tree into a directory; what lies there is replaced, file by file."""
    rows, written = await tree.begin(wanted), 0
    await asyncio.to_thread(directory.mkdir, parents=True, exist_ok=True)
    async for _ in tree.write(rows, directory):
        written += 1
        bar.show(done=written, total=len(rows))
    write_row("written", str(written))
    return 0


async def _print(pieces: AsyncGenerator[bytes, None], show: Callable[[int], None]) -> None:
    written = 0
    async with aclosing(pieces):
        async for piece in pieces:
            await asyncio.to_thread(sys.stdout.buffer.write, piece)
            written += len(piece)
            show(written)
    await asyncio.to_thread(sys.stdout.buffer.flush)
