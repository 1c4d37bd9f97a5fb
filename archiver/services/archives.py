"""Archive files of others, and pages that came with links, on their way into the archive."""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from typing import BinaryIO

from archiver.crawl.context import CrawlContext
from archiver.ingest.pages import NotedPages
from archiver.ingest.saved_pages import SavedPageIntake
from archiver.ingest.unvisited import NotedEntries
from archiver.model.importing import Taken
from archiver.model.saved_page import SavedPage
from archiver.services.archive_taking import Taking
from archiver.store.spool import SpooledLines
from archiver.warc.extension import ORIGIN, handed_in_field, one_line

OpenContext = Callable[[], AbstractAsyncContextManager[CrawlContext]]


class Archives:
    """Takes files in. ``open_context`` gives a writer of its own, with a recorder that runs."""

    def __init__(self, open_context: OpenContext) -> None:
        self._open_context = open_context

    async def take_in_pages(
        self,
        pages: Sequence[SavedPage],
        origin: str,
        *,
        import_id: int | None = None,
        handed_in: datetime | None = None,
    ) -> int:
        """Make snapshots of pages that came with links; returns how many are new.

        Args:
            pages: what came.
            origin: where they came from, for their records.
            import_id: the import of their links, if they came with one.
            handed_in: when somebody handed them in, if they came that way.
        """
        async with self._open_context() as context:
            return await SavedPageIntake(context).take(
                pages, origin, import_id=import_id, handed_in=handed_in
            )

    async def take_in(
        self,
        file: BinaryIO,
        name: str,
        kind: str,
        *,
        import_id: int,
        handed_in: datetime | None = None,
    ) -> AsyncGenerator[Taken, None]:
        """Read a file to its end; tells of each stretch once it is handed over.

        What waited in the archive that wrote it is queued, as of that import.

        Args:
            file: where it is to be read from.
            name: as the person knows it.
            kind: as ``kind_of`` has it.
            import_id: of the import.
            handed_in: when somebody handed it in, if it came that way.

        Raises:
            UnreadableFile: no capture of it can be read.
        """
        async with self._open_context() as context:
            with NotedPages() as pages, NotedEntries() as noted, SpooledLines() as revisits:
                marks = (*_origin(name, kind, handed_in), *handed_in_field(handed_in))
                taking = Taking(context, pages, noted, revisits, marks)
                async for taken in taking.payloads(file, name, kind):
                    yield taken
                await context.recorder.drain()
                async for taken in taking.revisits():
                    yield taken
                await context.recorder.drain()
                taking.refuse_if_nothing_was_read(name)
                async for taken in taking.pages(f"import:{name}"):
                    yield taken
                await context.recorder.drain()
                async for taken in taking.entries(import_id):
                    yield taken


def _origin(name: str, kind: str, handed_in: datetime | None) -> tuple[tuple[str, str], ...]:
    return ((ORIGIN, one_line(f"{name} ({kind})")),) if handed_in else ()
