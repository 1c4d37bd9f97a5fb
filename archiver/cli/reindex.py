"""``archiver reindex``."""

import click

from archiver.cli.loop import run_until_signal
from archiver.cli.output import write_row
from archiver.cli.progress import progress_bar
from archiver.config import Settings
from archiver.services.reindexing import ReindexProgress, ReindexReport, reindex

_STOPPED = "Stopped. The database is as it was before."


def run(settings: Settings, *, accept_missing: bool) -> int:
    """Rebuild the index; 1 if there were records that could not be used."""
    work = _reindex(settings, accept_missing=accept_missing)
    return run_until_signal(work, stopped=_STOPPED)


def rebuild(settings: Settings) -> int:
    """Rebuild the index for a command that follows: reports problems alone, on standard error."""
    return run_until_signal(_rebuild(settings), stopped=_STOPPED)


async def _reindex(settings: Settings, *, accept_missing: bool) -> int:
    report = await _with_progress(settings, accept_missing=accept_missing)
    for what in ("segments", "records", "captures", "snapshots", "queued"):
        write_row(what, str(getattr(report, what)))
    for finding in report.problems:
        write_row(finding.where, finding.problem)
    return int(any(finding.is_wrong for finding in report.problems))


async def _rebuild(settings: Settings) -> int:
    report = await _with_progress(settings, accept_missing=False)
    for finding in report.problems:
        click.echo(f"{finding.where}: {finding.problem}", err=True)
    return 0


async def _with_progress(settings: Settings, *, accept_missing: bool) -> ReindexReport:
    with progress_bar("Reading") as bar:

        def on_progress(now: ReindexProgress) -> None:
            bar.show(done=0, now=f"{now.records:,} records, {now.snapshots:,} snapshots")

        return await reindex(settings, on_progress, accept_missing=accept_missing)
