"""Reads the file of one import: links into the queue, captures into the archive."""

import asyncio
import shutil
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from io import BufferedReader
from itertools import compress, count
from operator import not_
from time import monotonic
from typing import TYPE_CHECKING, BinaryIO

from archiver.derive.link_file import Batch, LinkFile, open_links
from archiver.errors import ArchiverError, InvalidQuery, UnreadableFile
from archiver.formats.own_document import is_said_to_be_a_link
from archiver.index import imports, lists, receipts, seeds
from archiver.index.database import AsyncConnection, Database
from archiver.index.new_entries import Met
from archiver.logs import get_log
from archiver.model.choices import CaptureWhen, Choices
from archiver.model.entry_list import EntryList, GivenLists
from archiver.model.importing import ImportStatus, Taken
from archiver.model.saved_page import SavedPage
from archiver.model.seed import Reception
from archiver.query.parse import parse_query
from archiver.scratch import scratch_file
from archiver.services.archive_kind import WACZ, kind_of
from archiver.services.import_batches import read_ahead
from archiver.services.import_status import ImportStatuses

if TYPE_CHECKING:
    from archiver.services.archives import Archives

PROGRESS_SECONDS = 0.2
SHORTEST_SECONDS = 0.5
"""At the start, when somebody waits to see that it goes on."""
TRANSACTION_SECONDS = 10.0
"""New rows go to random places of some indexes: the more of them at once, the less is written.

Sooner if anybody else wants to write.
"""
UNFORESEEN = "{name} can't be read any further: {kind}. What was read is kept; the log says more."

OnProgress = Callable[[ImportStatus], None]
OpenArchives = Callable[[], "Archives"]
"""Asked for where captures or pages come: who takes in links alone loads no crawl."""

log = get_log(__name__)


class ImportReader:
    """Reads files; an import's numbers in the index say how far it has come."""

    def __init__(
        self,
        db: Database,
        archives: "OpenArchives",
        statuses: ImportStatuses,
        *,
        memory_bytes: int,
        on_queued: Callable[[], None],
    ) -> None:
        self.open_links = partial(open_links, memory_bytes=memory_bytes)
        self._db = db
        self._open_archives = archives
        self._statuses = statuses
        self._on_queued = on_queued

    async def read_links(
        self, number: int, first: Batch, links: LinkFile, on_progress: OnProgress
    ) -> None:
        """Take batch after batch in, each while the next one is read."""
        report = partial(self._report, number, on_progress)
        async with read_ahead(links, first) as batches, _told_beside(report) as tell:
            while batch := await batches.next():
                early = await self._take_in_pages(number, batch, links) if batch.pages else {}
                await self._take_in(number, batch, links.choices, early)
                self._on_queued()
                tell()
        async with self._db.write() as conn:
            await imports.finish(conn, number)

    async def read_captures(
        self,
        number: int,
        source: BinaryIO,
        name: str,
        kind: str,
        on_progress: OnProgress,
        *,
        handed_in: datetime | None = None,
    ) -> None:
        """Take an archive file in; one that was broken off is read again, and counts as it did."""
        async with self._db.write() as conn:
            before = await imports.begin_again(conn, number)
        error = ""
        async with AsyncExitStack() as stack:
            file = source
            if kind == WACZ and not source.seekable():
                file = await asyncio.to_thread(_spooled, source)
                stack.callback(file.close)
            try:
                taking = self._open_archives().take_in(
                    file, name, kind, import_id=number, handed_in=handed_in
                )
                async with aclosing(taking) as taken:
                    async for each in taken:
                        before = await self._count(number, each, before)
                        await self._report(number, on_progress)
            except UnreadableFile as unreadable:
                error = str(unreadable)
            except (ArchiverError, OSError):
                raise  # it may go better later
            except Exception as unforeseen:
                # The one edge of an import: whatever a file of others does to a reader, it ends.
                log.exception("import broke off", name=name)
                error = UNFORESEEN.format(name=name, kind=type(unforeseen).__name__)
        async with self._db.write() as conn:
            await imports.finish(conn, number, error=error)
        self._on_queued()

    async def _report(self, number: int, on_progress: OnProgress) -> None:
        status = await self._statuses.find(number)
        if status:
            on_progress(status)

    async def _count(self, number: int, taken: Taken, before: int) -> int:
        """Count captures; of those known so many as it took in before. How many of these are left.

        They come first: the file is read in the same order.
        """
        ours = min(taken.known, before)
        some = replace(taken, fresh=taken.fresh + ours, known=taken.known - ours)
        async with self._db.write() as conn:
            await imports.advance_archive(conn, number, some)
        return before - ours

    async def _take_in_pages(
        self, number: int, batch: Batch, links: LinkFile
    ) -> dict[str, Reception]:
        """Queue links with pages first, then keep the pages; the batch is counted after that.

        So who is killed in between does it again, and finds what is there. Returns how each link
        was received then, the first time that it came.
        """
        some = [batch.seeds[each.place] for each in batch.pages]
        async with self._db.write() as conn:
            now = datetime.now(UTC)
            received = await seeds.receive(conn, some, now=now, recapture=False, import_id=number)
        pages = [
            SavedPage(seed, each.page, each.is_dated)
            for seed, each in zip(some, batch.pages, strict=True)
        ]
        origin = f"{links.name} ({links.form})"
        await self._open_archives().take_in_pages(pages, origin, import_id=number)
        return {each.hash_url: each.reception for each in reversed(received)}

    async def _take_in(
        self, number: int, batch: Batch, choices: Choices, early: dict[str, Reception]
    ) -> None:
        """Queue the links of one batch in one transaction."""
        async with self._db.write() as conn:
            await _receive(conn, number, batch, choices, early, Met())


@asynccontextmanager
async def _told_beside(report: Callable[[], Awaitable[None]]) -> AsyncIterator[Callable[[], None]]:
    """Gives what has somebody told how far it has come, now and then, while it goes on."""
    telling, told = asyncio.ensure_future(asyncio.sleep(0)), 0.0

    def tell() -> None:
        nonlocal telling, told
        if telling.done() and (now := monotonic()) - told > PROGRESS_SECONDS:
            telling.result()
            telling, told = asyncio.ensure_future(report()), now

    try:
        yield tell
        await telling
    finally:
        telling.cancel()
        await asyncio.gather(telling, return_exceptions=True)


async def _receive(
    conn: AsyncConnection,
    number: int,
    batch: Batch,
    choices: Choices,
    early: dict[str, Reception],
    met: Met,
) -> None:
    """Queue the links of a batch, count them, and write what the receipt says of each."""
    left_out = await _add_lists(conn, number, batch.lists)
    numbers, keys = batch.numbers, batch.seeds.keys
    when = captured_when(batch.seeds.annotations["source_record"], choices)
    received, is_written = await _received(conn, number, batch, when, met)
    are_links = when.get(CaptureWhen.NEVER, ())
    links = sum(each is Reception.ADDED for each in compress(received, are_links))
    if early:
        received = [early.pop(key, each) for key, each in zip(keys, received, strict=True)]
    if batch.rejected or not all(is_written):
        each = zip(numbers, received, batch.seeds.annotations["url_given"], keys, strict=True)
        others = [*compress(each, map(not_, is_written))]
        await receipts.write(conn, number, others, batch.rejected)
    tally = Counter(received)
    await imports.advance(conn, number, tally, batch.rejected, links=links, lists_left_out=left_out)


def captured_when(records: Sequence[str], choices: Choices) -> dict[CaptureWhen, list[bool]]:
    """Which of some links, by their source records, are to be captured when."""
    if not records:
        return {}
    if choices.capture is CaptureWhen.NEVER:
        return {CaptureWhen.NEVER: [True] * len(records)}
    are_links = [*map(is_said_to_be_a_link, records)]
    if not any(are_links):
        return {choices.capture: [True] * len(records)}
    return {CaptureWhen.NEVER: are_links, choices.capture: [*map(not_, are_links)]}


async def _received(
    conn: AsyncConnection,
    number: int,
    batch: Batch,
    when: Mapping[CaptureWhen, Sequence[bool]],
    met: Met,
) -> tuple[list[Reception], list[bool]]:
    """Queue links, but for those that are to be kept as such; as ``seeds.receive_columns``."""
    both: dict[int, tuple[Reception, bool]] = {}
    for capture, chosen in when.items():
        some, numbers = batch.seeds.where(chosen), [*compress(batch.numbers, chosen)]
        made = await seeds.receive_columns(
            conn,
            some,
            numbers,
            now=datetime.now(UTC),
            import_id=number,
            capture=capture,
            met=met,
        )
        if len(when) == 1:
            return made
        both |= zip(compress(count(), chosen), zip(*made, strict=True), strict=True)
    in_order = [both[place] for place in range(len(batch.seeds))]
    return [each for each, _ in in_order], [each for _, each in in_order]


async def _add_lists(conn: AsyncConnection, number: int, given: GivenLists) -> int:
    """Take over what a file tells of lists; how many are left out."""
    usable = usable_lists(given)
    return await lists.add(conn, usable.found, import_id=number) + usable.left_out


def kind_of_file(source: BinaryIO, name: str) -> str | None:
    """What archive file it is, if it is one; nothing of it is read away. Blocking."""
    return kind_of(source, name) if isinstance(source, BufferedReader) else None


def usable_lists(given: GivenLists) -> GivenLists:
    """The lists made by hand, and the searches that can be read."""
    found = tuple(each for each in given.found if _is_usable(each))
    return GivenLists(found, given.left_out + len(given.found) - len(found))


def _is_usable(given: EntryList) -> bool:
    try:
        parse_query(given.query)
    except InvalidQuery:
        return False
    return True


def _spooled(source: BinaryIO) -> BinaryIO:
    """A pipe's content as a file: a zip file's list of contents is at its end."""
    # Closed by whoever asked for it.
    spooled = scratch_file()
    shutil.copyfileobj(source, spooled, 1 << 20)
    spooled.seek(0)
    return spooled
