"""``archiver compact``."""

from archiver.app import open_app
from archiver.cli.loop import run_until_signal
from archiver.cli.output import write_row
from archiver.config import Settings


def run(settings: Settings, *, dry_run: bool) -> int:
    """Erase what was thrown away, or say what that would free."""
    return run_until_signal(_compact(settings, dry_run=dry_run))


async def _compact(settings: Settings, *, dry_run: bool) -> int:
    async with open_app(settings) as runtime:
        if not dry_run:
            await runtime.crawling.write_down_changes()
        done = await runtime.compacting.compact(dry_run=dry_run)
    write_row("segments", str(done.segments))
    write_row("records", str(done.records))
    write_row("bytes freed", str(done.freed))
    for name, why in done.left.items():
        write_row("left", name, why)
    return 0
