"""``archiver reindex``."""

from archiver.cli.loop import run_until_signal
from archiver.cli.output import write_row
from archiver.cli.progress import progress_bar
from archiver.config import Settings
from archiver.services.reindexing import ReindexProgress, reindex

_STOPPED = "Stopped. The database is as it was before."


def run(settings: Settings) -> int:
    """Build the database again; 1 if there were records that could not be used."""
    return run_until_signal(_reindex(settings), stopped=_STOPPED)


async def _reindex(settings: Settings) -> int:
    with progress_bar("Reading") as bar:

        def on_progress(now: ReindexProgress) -> None:
            bar.show(done=0, now=f"{now.records:,} records, {now.snapshots:,} snapshots")

        report = await reindex(settings, on_progress)
    for what in ("segments", "records", "captures", "snapshots", "queued"):
        write_row(what, str(getattr(report, what)))
    for finding in report.problems:
        write_row(finding.where, finding.problem)
    return int(any(finding.is_wrong for finding in report.problems))
