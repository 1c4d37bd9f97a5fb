"""Detection of a database that has to be rebuilt."""

from archiver.config import Settings
from archiver.crawl.archive import INDEX
from archiver.db.schema_version import outdated_revision


def outdated_index(settings: Settings) -> str | None:
    """Return the schema revision of the archive's index file if an earlier version wrote it."""
    return outdated_revision(settings.data / INDEX)
