"""Kept files, read to their end, however often the disk or the index refuse.

Who reads which, and what becomes of it then, is of ``imports``.
"""

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from archiver.errors import ArchiverError, UnreadableFile
from archiver.index import imports
from archiver.index.database import Database
from archiver.logs import get_log
from archiver.model.choices import Choices
from archiver.services.import_reading import UNFORESEEN, ImportReader, kind_of_file
from archiver.services.import_status import ImportStatuses

REST_SECONDS = 15.0
GONE = (
    "Reading broke off: the file that was kept for it is gone. Give it again: what is known is "
    "passed over."
)

log = get_log(__name__)


@dataclass(frozen=True, slots=True)
class KeptImport:
    """An import whose file lies here until it is read."""

    number: int
    name: str
    path: Path
    choices: Choices


class KeptImports:
    """Reads such files, each by a task of its own."""

    def __init__(self, db: Database, statuses: ImportStatuses, reader: ImportReader) -> None:
        self._db = db
        self._statuses = statuses
        self._reader = reader

    async def read(self, kept: KeptImport, skip: int) -> None:
        """Read a kept file, however often the disk or the index refuse."""
        while True:
            try:
                await self._read_once(kept, skip)
            except (ArchiverError, OSError):
                log.exception("import broke off; it goes on", name=kept.name, seconds=REST_SECONDS)
            else:
                return
            await asyncio.sleep(REST_SECONDS)
            with suppress(ArchiverError):
                found = await self._statuses.find(kept.number)
                skip = found.read if found else skip

    async def _read_once(self, kept: KeptImport, skip: int) -> None:
        """Read a kept file; one that can't be read any further ends its import.

        Raises:
            ArchiverError, OSError: it may go better later.
        """
        try:
            await self._read_from(kept, skip)
        except FileNotFoundError:
            reason = GONE
        except UnreadableFile as error:
            reason = f"Reading broke off: {error}"
        except (ArchiverError, OSError):
            raise
        except Exception as unforeseen:
            # The one edge of a kept file: whatever it does to a reader, its import ends.
            reason = UNFORESEEN.format(name=kept.name, kind=type(unforeseen).__name__)
            log.exception("import given up", name=kept.name)
        else:
            return
        log.warning("import given up", name=kept.name, reason=reason)
        async with self._db.write() as conn:
            await imports.finish(conn, kept.number, error=reason)

    async def _read_from(self, kept: KeptImport, skip: int) -> None:
        name, number = kept.name, kept.number
        with await asyncio.to_thread(kept.path.open, "rb") as source:
            if kind := await asyncio.to_thread(kind_of_file, source, name):
                await self._reader.read_captures(number, source, name, kind, lambda _: None)
                return
            opened = self._reader.open_links(source, name, skip=skip, choices=kept.choices)
            async with opened as links:
                first = await links.next_batch()
                await self._reader.read_links(number, first, links, lambda _: None)
