"""``archiver imports``."""

from archiver.cli.loop import run_until_signal
from archiver.cli.output import write_json, write_row
from archiver.config import Settings
from archiver.model.importing import ImportStatus
from archiver.reading import open_to_read
from archiver.services.import_status import ImportStatuses
from archiver.wire.moments import write_iso


def run(settings: Settings, *, as_json: bool) -> int:
    """Print the newest imports."""
    return run_until_signal(_list(settings, as_json=as_json))


async def _list(settings: Settings, *, as_json: bool) -> int:
    async with open_to_read(settings, ImportStatuses) as statuses:
        found = await statuses.recent()
    if as_json:
        write_json(found)
        return 0
    for each in found:
        write_row(
            str(each.id), write_iso(each.started_at)[:10], each.phase, each.name, _numbers(each)
        )
        if each.error:
            write_row("", "", "", "", each.error)
    return 0


def _numbers(status: ImportStatus) -> str:
    what = "captures" if status.is_archive else "links"
    counts = status.counts
    return (
        f"{status.read:,} {what} read, {counts.open:,} waiting, {counts.saved:,} saved, "
        f"{counts.failed:,} failed, {status.rejected:,} not usable"
    )
