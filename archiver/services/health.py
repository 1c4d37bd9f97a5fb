"""State of an archive's files, for monitoring and for users."""

import asyncio
import shutil
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from archiver.db import segment_rows
from archiver.db.engine import Database
from archiver.errors import ArchiverError
from archiver.model.message import Message, counted
from archiver.services.fixity import last_check
from archiver.warc.segment_inventory import Survey
from archiver.warc.segment_storage import UploadingStorage
from archiver.warc.segment_versions import is_replaced
from archiver.warc.segments import SegmentStore

LEAST_FREE_BYTES = 64 << 20
"""With less free space the disk counts as full."""
KEPT_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Health:
    """State of an archive's files.

    Attributes:
        missing: segments that the index uses and that are missing or too short.
        unusable_files: other unusable files among the segments.
        damaged: problems that the last verification found.
        free_bytes: free bytes on the disk of the data directory.
    """

    missing: int = 0
    unusable_files: int = 0
    damaged: int = 0
    free_bytes: int = 0

    @property
    def is_full(self) -> bool:
        """Whether the disk is full."""
        return self.free_bytes < LEAST_FREE_BYTES

    @property
    def warnings(self) -> tuple[Message, ...]:
        """Sentences for the user about what needs attention."""
        found = []
        if self.missing:
            found.append(
                counted(
                    "{count} segment of the archive is missing, so some pages can't be opened. "
                    "Mount its disk or restore it from a backup. `archiver verify` names it.",
                    "{count} segments of the archive are missing, so some pages can't be opened. "
                    "Mount their disk or restore them from a backup. `archiver verify` names them.",
                    count=self.missing,
                )
            )
        if self.is_full:
            found.append(
                Message("The disk is full, so nothing new can be stored. Free some space.")
            )
        if self.damaged:
            found.append(
                counted(
                    "The last verification found {count} problem. `archiver verify` lists it.",
                    "The last verification found {count} problems. `archiver verify` lists them.",
                    count=self.damaged,
                )
            )
        return tuple(found)


class HealthCheck:
    """Check of an archive's files; results are cached for some seconds."""

    def __init__(self, db: Database, store: SegmentStore, data: Path) -> None:
        self._db = db
        self._store = store
        self._data = data
        self._found = Health()
        self._looked_at = -KEPT_SECONDS

    async def look(self) -> Health:
        """Return the current state.

        Raises:
            ArchiverError, OSError: the index or the data directory can't be read, or was removed.
        """
        now = time.monotonic()
        if now - self._looked_at > KEPT_SECONDS:
            self._found = await self._look()
            self._looked_at = now
        return self._found

    async def warnings(self) -> tuple[Message, ...]:
        """Return sentences about what needs attention; none if that can't be determined."""
        try:
            return (await self.look()).warnings
        except (ArchiverError, OSError):
            return ()

    async def _look(self) -> Health:
        await asyncio.to_thread(self._db.require_present)
        async with self._db.read() as conn:
            indexed = await segment_rows.indexed(conn)
        usage = await asyncio.to_thread(shutil.disk_usage, self._data)
        checked = await last_check(self._data)
        storage = self._store.storage
        missing: dict[str, str] = {}
        if not isinstance(storage, UploadingStorage):
            found = await asyncio.to_thread(storage.survey_local)
            missing = dict(missing_segments(indexed, found))
        unusable = [each for each in storage.unusable_files if each.name not in missing]
        damaged = checked.problems if checked else 0
        return Health(len(missing), len(unusable), damaged, usage.free)


def missing_segments(indexed: Mapping[str, int], found: Survey) -> Iterator[tuple[str, str]]:
    """Yield (name, reason) of indexed segments that are missing, unusable or too short."""
    sizes = {each.name: each.size for each in found.segments}
    unusable = {each.name: each.problem for each in found.unusable_files}
    for name, end in indexed.items():
        if not end or name in found.superseded:
            continue
        if name in sizes:
            if sizes[name] < end:
                yield name, f"It has {sizes[name]:,} bytes of at least {end:,}."
        elif name in unusable:
            yield name, unusable[name]
        elif not is_replaced(name, sizes):
            yield name, "It is missing."
