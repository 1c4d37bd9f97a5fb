"""Automatic reindex of a database of an earlier version."""

import click

from archiver.app import outdated_index
from archiver.config import Settings

_BEGIN = (
    "The index in {data} was written by an earlier version of archiver (schema {revision}). It "
    "is now rebuilt from the WARC files, and the queue is copied."
)
_DONE = (
    "The index was rebuilt. The earlier one is stored as {backup}: delete it when you no "
    "longer need it; the next `archiver reindex` deletes it too."
)


def rebuild_if_outdated(settings: Settings) -> int:
    """Rebuild the index if an earlier version wrote it; return the exit status.

    Raises:
        ArchiverError: it can't be rebuilt; it is left unchanged.
    """
    revision = outdated_index(settings)
    if revision is None:
        return 0
    # The modules of a rebuild are slow to import, and rarely needed.
    from archiver.cli.maintenance import rebuild  # noqa: PLC0415

    click.echo(_BEGIN.format(data=settings.data, revision=revision), err=True)
    status = rebuild(settings)
    if status == 0:
        click.echo(_DONE.format(backup=f"archive.sqlite3.old-{revision}"), err=True)
    return status
