"""The `export` command."""

import asyncio
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from pathlib import Path

import click

from archiver.app import open_app
from archiver.cli.event_loop import run_until_signal
from archiver.cli.terminal import progress_bar, write_row
from archiver.config import Settings
from archiver.model.export_kinds import BY_KEY, ExportKind
from archiver.model.listing import ListingQuery
from archiver.services.export_selection import Selected

_STANDARD_OUTPUT = Path("-")


def run(settings: Settings, *, form: str, file: Path, title: str = "", **filters: str) -> int:
    """Write an export to a file atomically; return 1 if damaged records are left out."""
    query = ListingQuery(filters["query"], filters["tag"], filters["host"], filters["status"])
    export = _export(settings, BY_KEY[form], file, Selected(query, title=title))
    return run_until_signal(export, stopped="Stopped. Nothing was written.")


async def _export(settings: Settings, kind: ExportKind, file: Path, selected: Selected) -> int:
    with progress_bar("Writing") as bar:

        def show(size: int) -> None:
            bar.show(done=size, now=f"{size / 1e6:,.1f} MB")

        async with open_app(settings, reads_only=True) as app:
            damaged: list[str] = []
            if file == _STANDARD_OUTPUT:
                pieces = await app.exporting.begin(
                    kind, selected, name=file.name, on_damage=damaged.append
                )
                await _print(pieces, show)
                for each in damaged:
                    click.echo(f"damaged\t{each}", err=True)
                return int(bool(damaged))
            if kind.key == "markdown" and file.suffix != ".zip":
                written = await app.exporting.write_tree(
                    selected,
                    file,
                    lambda done, total: bar.show(done=done, total=total),
                    damaged.append,
                )
                write_row("written", "a folder", str(file))
                write_row("entries", f"{written:,}")
                for each in damaged:
                    write_row("damaged", each)
                return int(bool(damaged))
            export = await app.exporting.write(kind, selected, file, show)
    write_row("written", f"{export.size:,} bytes", str(file))
    write_row("chapters" if kind.key == "epub" else "entries", f"{export.entries:,}")
    for each in export.damaged:
        write_row("damaged", each)
    return int(bool(export.damaged))


async def _print(pieces: AsyncGenerator[bytes, None], show: Callable[[int], None]) -> None:
    size = 0
    async with aclosing(pieces):
        async for piece in pieces:
            await asyncio.to_thread(sys.stdout.buffer.write, piece)
            size += len(piece)
            show(size)
    await asyncio.to_thread(sys.stdout.buffer.flush)
