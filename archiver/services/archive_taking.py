"""One archive file on its way in: payloads first, then revisits of them, then pages."""

import asyncio
import shutil
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from io import BufferedReader
from itertools import islice
from typing import BinaryIO

from archiver.crawl.context import CrawlContext
from archiver.errors import UnreadableFile
from archiver.ingest.exchanges import (
    ForeignCapture,
    ForeignEntryRecord,
    Found,
    PassedOver,
    Unusable,
    is_capture,
)
from archiver.ingest.foreign_records import read_records
from archiver.ingest.intake import Intake
from archiver.ingest.likenesses import ForeignLikeness
from archiver.ingest.pages import NotedPages, PageIntake
from archiver.ingest.placing import ForeignPage
from archiver.ingest.resolution import RevisitResolver
from archiver.ingest.revisits import ForeignRevisit, read_lines, write_line
from archiver.ingest.unvisited import EntryIntake, NotedEntries
from archiver.model.importing import Rejected, Taken
from archiver.scratch import scratch_file
from archiver.services.archive_batches import BATCH, FoundBatches
from archiver.services.archive_kind import WACZ
from archiver.store.spool import SpooledLines
from archiver.wacz.unpack import Package
from archiver.warc.arc import ForeignArc
from archiver.warc.foreign import ForeignFile, ForeignWarc
from archiver.warc.recognise import ArchiveForm, recognise
from archiver.warc.unpacked import Forward

_HEAD_BYTES = 64 << 10
_PAGES_AT_ONCE = 64
_MOST_WHAT = 500
_READERS: dict[ArchiveForm, Callable[[Forward], ForeignFile]] = {
    ArchiveForm.WARC: ForeignWarc,
    ArchiveForm.ARC: ForeignArc,
}


class Taking:
    """One file on its way in."""

    def __init__(
        self,
        context: CrawlContext,
        pages: NotedPages,
        entries: NotedEntries,
        revisits: SpooledLines,
        marks: tuple[tuple[str, str], ...],
    ) -> None:
        self._context = context
        self._marks = marks
        self._intake = Intake(context)
        self._pages = pages
        self._entries = entries
        self._revisits = revisits
        self._captures = 0
        self._problem = ""

    async def payloads(self, file: BinaryIO, name: str, kind: str) -> AsyncIterator[Taken]:
        """Take responses in; revisits are put aside."""
        if kind == WACZ:
            async for taken in self._package(file, name):
                yield taken
            return
        async for taken in self._records(_READERS[ArchiveForm(kind)](file), name):
            yield taken

    async def revisits(self) -> AsyncIterator[Taken]:
        """Take in what was put aside: all that it may refer to is in the archive by now."""
        resolver = RevisitResolver(self._context)
        waiting = read_lines(iter(self._revisits))
        while batch := await asyncio.to_thread(lambda: list(islice(waiting, BATCH))):
            yield await self._take(await resolver.resolve(batch))

    async def pages(self, source: str) -> AsyncIterator[Taken]:
        """Make a snapshot of each page."""
        intake = PageIntake(self._context, self._pages.likenesses, self._pages.answers)
        noted = await asyncio.to_thread(self._pages.best, source=source)
        while some := await asyncio.to_thread(_some, noted):
            closing = await intake.take_all(some)
            for each in closing:
                await each
            yield Taken(pages=len(closing))

    async def entries(self, import_id: int) -> AsyncIterator[Taken]:
        """Take over what the archive of the file had failed at, and what waited there."""
        intake = EntryIntake(self._context, import_id)
        noted = self._entries.read()
        while some := await asyncio.to_thread(lambda: list(islice(noted, BATCH))):
            taken = await intake.take(some)
            yield Taken(failed=taken.failed, queued=taken.queued)

    def refuse_if_nothing_was_read(self, name: str) -> None:
        """Let an import fail that brought nothing but problems."""
        if self._problem and not self._captures:
            raise UnreadableFile(
                "{name} holds no capture that can be read. {problem}",
                name=name,
                problem=self._problem,
            )

    async def _package(
        self, file: BinaryIO, name: str, *, is_inner: bool = False
    ) -> AsyncIterator[Taken]:
        try:
            package = await asyncio.to_thread(Package, file, name)
        except UnreadableFile as error:
            yield self._failed(name, error)
            return
        for member in package.records:
            async for taken in self._member(package, member):
                yield taken
        for member in package.packages:
            if is_inner:
                yield self._failed(member, UnreadableFile("It is a package within a package."))
                continue
            async for taken in self._inner_package(package, member):
                yield taken
        try:
            await asyncio.to_thread(self._note_listed, package)
        except UnreadableFile as error:
            yield self._failed("its list of pages", error)

    async def _member(self, package: Package, member: str) -> AsyncIterator[Taken]:
        try:
            with await asyncio.to_thread(package.open, member) as source:
                head = await asyncio.to_thread(source.read, _HEAD_BYTES)
                form = await asyncio.to_thread(recognise, head)
                if form is None:
                    yield self._failed(member, UnreadableFile("It is no WARC file."))
                    return
                records = _READERS[form](_Rejoined(head, source))
                async for taken in self._records(records, member):
                    yield taken
        except UnreadableFile as error:
            yield self._failed(member, error)

    async def _inner_package(self, package: Package, member: str) -> AsyncIterator[Taken]:
        with ExitStack() as stack:
            try:
                file = await asyncio.to_thread(_as_file, package, member, stack)
            except UnreadableFile as error:
                yield self._failed(member, error)
                return
            async for taken in self._package(file, member, is_inner=True):
                yield taken

    async def _records(self, records: ForeignFile, name: str) -> AsyncIterator[Taken]:
        most_bytes = self._context.settings.max_body_bytes
        batches = FoundBatches(read_records(records, most_bytes=most_bytes))
        try:
            while batch := await asyncio.to_thread(batches.next):
                yield await self._take(batch)
        except UnreadableFile as error:
            yield self._failed(name, error)

    async def _take(self, batch: Sequence[Found]) -> Taken:
        captures = [self._marked(each) for each in batch if is_capture(each)]
        unusable = [each for each in batch if isinstance(each, Unusable)]
        fresh = await self._intake.captures(captures)
        await asyncio.to_thread(self._note, batch)
        self._captures += len(captures)
        if unusable and not self._problem:
            self._problem = unusable[0].reason
        return Taken(
            read=len(captures) + len(unusable),
            fresh=fresh,
            known=len(captures) - fresh,
            unusable=tuple(Rejected(each.what[:_MOST_WHAT], each.reason) for each in unusable),
            passed_over=sum(isinstance(each, PassedOver) for each in batch),
        )

    def _marked(self, found: ForeignCapture) -> ForeignCapture:
        """A capture with the fields of all that came so, whatever it says of itself."""
        if not self._marks:
            return found
        exchange = found.exchange
        given = dict(exchange.fields) | dict(self._marks)
        return replace(found, exchange=replace(exchange, fields=tuple(given.items())))

    def _note(self, batch: Sequence[Found]) -> None:
        """Put revisits aside, and note what may be a page; blocking."""
        for each in batch:
            if isinstance(each, ForeignRevisit):
                self._revisits.add(write_line(each))
            elif is_capture(each):
                self._pages.note_capture(each)
            elif isinstance(each, ForeignCapture):
                self._pages.answers.note(each)
            elif isinstance(each, ForeignLikeness):
                self._pages.likenesses.note(each)
            elif isinstance(each, ForeignEntryRecord):
                self._pages.note_entry_record(each)
                self._entries.note(each)

    def _note_listed(self, package: Package) -> None:
        for each in package.pages():
            self._pages.note_listed(each.url, each.ts, each.title)

    def _failed(self, what: str, error: UnreadableFile) -> Taken:
        self._problem = self._problem or str(error)
        return Taken(read=1, unusable=(Rejected(what[:_MOST_WHAT], str(error)),))


def _some(pages: Iterator[ForeignPage]) -> list[ForeignPage]:
    return list(islice(pages, _PAGES_AT_ONCE))


def _as_file(package: Package, member: str, stack: ExitStack) -> BinaryIO:
    """A package within a package, where its list of contents can be sought; blocking."""
    window = package.window(member)
    if window:
        return stack.enter_context(BufferedReader(window))
    spooled = stack.enter_context(scratch_file())
    with package.open(member) as source:
        shutil.copyfileobj(source, spooled, 1 << 20)
    spooled.seek(0)
    return spooled


class _Rejoined:
    """A file whose head was read already, as one again."""

    def __init__(self, head: bytes, rest: Forward) -> None:
        self._head = head
        self._rest = rest

    def read(self, size: int, /) -> bytes:
        if self._head:
            data, self._head = self._head[:size], self._head[size:]
            return data
        return self._rest.read(size)
