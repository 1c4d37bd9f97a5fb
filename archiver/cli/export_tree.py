"""``archiver export markdown``."""

from pathlib import Path

from archiver.cli.loop import run_until_signal
from archiver.cli.output import write_row
from archiver.cli.progress import progress_bar
from archiver.config import Settings
from archiver.reading import open_to_read
from archiver.services.exports import Exports

_STOPPED = "Stopped. What was written is whole; run it again to write the rest."


def run(settings: Settings, *, directory: Path) -> int:
    """Write the tree of entries."""
    directory.mkdir(parents=True, exist_ok=True)
    return run_until_signal(_export(settings, directory), stopped=_STOPPED)


async def _export(settings: Settings, directory: Path) -> int:
    written = 0
    async with open_to_read(settings, Exports) as exports:
        total = await exports.count()
        with progress_bar("Writing") as bar:
            async for _ in exports.markdown_tree(directory):
                written += 1
                bar.show(done=written, total=total)
    write_row("written", str(written))
    return 0
