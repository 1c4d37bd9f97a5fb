"""Runner of commands, which imports the module of a command when the command runs."""

from collections.abc import Coroutine
from importlib import import_module

import click

from archiver import logs
from archiver.config import Settings
from archiver.errors import ConfigurationError

UNCHANGED = "Stopped. The database is unchanged."
_REBUILD_BEGINS = (
    "The index in {data} was written by an earlier version of archiver (schema {revision}). It "
    "is now rebuilt from the WARC files, and the queue is copied."
)
_REBUILD_ENDED = (
    "The index was rebuilt. The earlier one is stored as {backup}: delete it when you no "
    "longer need it; the next `archiver reindex` deletes it too."
)


def run_body(
    place: str,
    settings: Settings,
    *,
    creates_archive: bool = False,
    needs_index: bool = True,
    stopped: str = "Stopped.",
    **arguments: object,
) -> int:
    """Import and run the body of a command; return the exit status.

    Args:
        place: module below ``archiver`` and function, such as ``cli.crawl.crawl``. The function
            may be a coroutine function.
        settings: first argument of the function.
        creates_archive: whether the data directory need not exist yet.
        needs_index: whether an index of an earlier version is rebuilt first.
        stopped: message to print when a signal stopped a coroutine.
        arguments: other arguments of the function.
    """
    if not creates_archive and not settings.data.is_dir():
        raise ConfigurationError(
            f"There is no archive in {settings.data}. `archiver serve` creates one; to use another "
            "folder, set --data or ARCHIVER_DATA."
        )
    logs.configure(settings.log_level, as_json=settings.log_json)
    if needs_index and settings.index is None and (status := rebuild_if_outdated(settings)):
        return status
    module, _, function = place.rpartition(".")
    result = getattr(import_module(f"archiver.{module}"), function)(settings, **arguments)
    if isinstance(result, Coroutine):
        from archiver.cli.event_loop import run_until_signal  # noqa: PLC0415

        result = run_until_signal(result, stopped=stopped)
    return result if isinstance(result, int) else 0


def rebuild_if_outdated(settings: Settings) -> int:
    """Rebuild the index if an earlier version wrote it; return the exit status.

    Raises:
        ArchiverError: the index can't be rebuilt and is left unchanged.
    """
    # `--help` imports this module and must be fast.
    from archiver.app import outdated_index  # noqa: PLC0415

    revision = outdated_index(settings)
    if revision is None:
        return 0
    from archiver.cli.event_loop import run_until_signal  # noqa: PLC0415
    from archiver.cli.maintenance import rebuild  # noqa: PLC0415

    click.echo(_REBUILD_BEGINS.format(data=settings.data, revision=revision), err=True)
    status = run_until_signal(rebuild(settings), stopped=UNCHANGED)
    if status == 0:
        click.echo(_REBUILD_ENDED.format(backup=f"archive.sqlite3.old-{revision}"), err=True)
    return status
