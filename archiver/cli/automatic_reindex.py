"""Automatic reindex of a database of an earlier version."""

import click

from archiver.config import Settings
from archiver.services.outdated_index import outdated_index

_BEGIN = (
    "The index in {data} was written by an earlier version of archiver (schema {revision}). It is "
    "rebuilt from the WARC files now, and takes over what waits in the queue."
)
_DONE = (
    "The index was rebuilt. The earlier one is kept as {backup}: delete it once you are content, "
    "or let the next `archiver reindex` do so."
)


def rebuild_if_outdated(settings: Settings) -> int:
    """Rebuild the index if an earlier version wrote it; returns the exit status.

    Raises:
        ArchiverError: it can't be rebuilt; it is left as it is.
    """
    revision = outdated_index(settings)
    if revision is None:
        return 0
    # The modules of a rebuild take long to import, and hardly any command needs them.
    from archiver.cli.maintenance import rebuild  # noqa: PLC0415

    click.echo(_BEGIN.format(data=settings.data, revision=revision), err=True)
    status = rebuild(settings)
    if status == 0:
        click.echo(_DONE.format(backup=f"archive.sqlite3.old-{revision}"), err=True)
    return status
