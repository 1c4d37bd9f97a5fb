"""The `export` command."""

import asyncio
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from pathlib import Path

import click

from archiver.app import open_app
from archiver.cli.terminal import clean, progress_bar, write_row
from archiver.config import Settings
from archiver.model.export_kinds import BY_KEY
from archiver.model.listing import ListingQuery
from archiver.services.export_selection import Report, Selected

_STANDARD_OUTPUT = Path("-")


async def export(
    settings: Settings, *, form: str, file: Path, title: str = "", **filters: str
) -> int:
    """Write an export to a file atomically; return 1 if damaged records are left out."""
    query = ListingQuery(filters["query"], filters["tag"], filters["host"], filters["status"])
    kind, selected = BY_KEY[form], Selected(query, title=title)
    is_printed = file == _STANDARD_OUTPUT
    is_tree = kind.key == "markdown" and file.suffix != ".zip" and not is_printed
    with progress_bar("Writing") as bar:

        def show(size: int) -> None:
            bar.show(done=size, now=f"{size / 1e6:,.1f} MB")

        async with open_app(settings, reads_only=True) as app:
            if is_printed:
                report = Report()
                pieces = await app.exporting.begin(kind, selected, name=file.name, report=report)
                await _print(pieces, show)
            elif is_tree:
                report = await app.exporting.write_tree(
                    selected, file, lambda done, total: bar.show(done=done, total=total)
                )
            else:
                report = await app.exporting.write(kind, selected, file, show)
    if not is_printed:
        write_row("written", "a folder" if is_tree else f"{report.size:,} bytes", str(file))
        write_row("chapters" if kind.key == "epub" else "entries", f"{report.entries:,}")
    for each in report.damaged:
        click.echo(f"damaged\t{clean(each)}", err=is_printed)
    return int(bool(report.damaged))


async def _print(pieces: AsyncGenerator[bytes, None], show: Callable[[int], None]) -> None:
    size = 0
    async with aclosing(pieces):
        async for piece in pieces:
            await asyncio.to_thread(sys.stdout.buffer.write, piece)
            size += len(piece)
            show(size)
    await asyncio.to_thread(sys.stdout.buffer.flush)
