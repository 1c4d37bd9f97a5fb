"""Detection of an index that has to be rebuilt before the archive is used."""

from archiver.archive import INDEX
from archiver.config import Settings
from archiver.index.outdated import outdated_revision


def outdated_index(settings: Settings) -> str | None:
    """Return the schema revision of the archive's index file if an earlier version wrote it."""
    return outdated_revision(settings.data / INDEX)
