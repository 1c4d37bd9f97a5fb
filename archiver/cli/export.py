"""The `export` command."""

import asyncio
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from pathlib import Path

import click

from archiver.app import open_app
from archiver.cli.terminal import progress_bar, write_row
from archiver.config import Settings
from archiver.model.export_kinds import BY_KEY
from archiver.model.listing import ListingQuery
from archiver.services.export_selection import Selected

_STANDARD_OUTPUT = Path("-")


async def export(
    settings: Settings, *, form: str, file: Path, title: str = "", **filters: str
) -> int:
    """Write an export to a file atomically; return 1 if damaged records are left out."""
    query = ListingQuery(filters["query"], filters["tag"], filters["host"], filters["status"])
    kind, selected = BY_KEY[form], Selected(query, title=title)
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
                count = await app.exporting.write_tree(
                    selected,
                    file,
                    lambda done, total: bar.show(done=done, total=total),
                    damaged.append,
                )
                write_row("written", "a folder", str(file))
                write_row("entries", f"{count:,}")
                for each in damaged:
                    write_row("damaged", each)
                return int(bool(damaged))
            written = await app.exporting.write(kind, selected, file, show)
    write_row("written", f"{written.size:,} bytes", str(file))
    write_row("chapters" if kind.key == "epub" else "entries", f"{written.entries:,}")
    for each in written.damaged:
        write_row("damaged", each)
    return int(bool(written.damaged))


async def _print(pieces: AsyncGenerator[bytes, None], show: Callable[[int], None]) -> None:
    size = 0
    async with aclosing(pieces):
        async for piece in pieces:
            await asyncio.to_thread(sys.stdout.buffer.write, piece)
            size += len(piece)
            show(size)
    await asyncio.to_thread(sys.stdout.buffer.flush)
