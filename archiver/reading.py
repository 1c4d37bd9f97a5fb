"""The archive opened for one service that captures nothing: who shows a list loads no crawl."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

from archiver.archive import open_archive
from archiver.config import Settings
from archiver.index.database import Database
from archiver.store.segments import SegmentStore

_Service = TypeVar("_Service")


@asynccontextmanager
async def open_to_read(
    settings: Settings, service: Callable[[Database, SegmentStore], _Service]
) -> AsyncIterator[_Service]:
    """Open the archive; close it cleanly in the end.

    Args:
        settings: how.
        service: makes the one that is wanted, of index and segments.

    Raises:
        ConfigurationError: the data directory can't be used as it is.
    """
    async with open_archive(settings) as archive:
        yield service(archive.db, archive.store)
