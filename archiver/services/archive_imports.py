"""Imports of WARC, ARC and WACZ files."""

import asyncio
import os
import shutil
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, ExitStack
from dataclasses import replace
from datetime import datetime
from hashlib import sha256
from io import BufferedReader
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from archiver.crawl.context import CrawlContext
from archiver.crawl.imported_captures import CaptureImporter, RevisitResolver, missing_payload
from archiver.crawl.imported_entries import EntryImporter, SpooledEntries
from archiver.crawl.imported_pages import PageImporter, SavedPageImporter, SpooledPages
from archiver.errors import UnreadableFile
from archiver.formats.archive_files import BATCH, WACZ, in_batches, read_records
from archiver.formats.archive_members import rejoined
from archiver.formats.archive_records import (
    ForeignCapture,
    ForeignEntryRecord,
    ForeignRendition,
    ForeignRevisit,
    Found,
    IgnoredRecord,
    Unusable,
    is_capture,
    read_lines,
    write_line,
)
from archiver.helpers import make_directory, scratch_file
from archiver.model.imports import UNNAMED, RecordCounts, Rejected
from archiver.model.seed import SavedPage
from archiver.warc.decompression import Forward
from archiver.warc.foreign_files import ArchiveForm, ForeignArc, ForeignFile, ForeignWarc, recognise
from archiver.warc.records import ORIGIN, one_line, upload_field
from archiver.warc.temporary_lines import SpooledLines
from archiver.warc.wacz import Package

PENDING = "pending-revisits"
"""Folder of the data directory with revisits that wait for their originals."""

_HEAD_BYTES = 64 << 10
_PAGES_AT_ONCE = 64
_MAX_DESCRIPTION = 500
_MAX_PASSES = 20
"""Maximum length of a chain of revisits that one import resolves; later imports continue."""
_READERS: dict[ArchiveForm, Callable[[Forward], ForeignFile]] = {
    ArchiveForm.WARC: ForeignWarc,
    ArchiveForm.ARC: ForeignArc,
}


class ArchiveImport:
    """Import of one archive file."""

    def __init__(
        self,
        context: CrawlContext,
        pages: SpooledPages,
        entries: SpooledEntries,
        revisits: SpooledLines,
        marks: tuple[tuple[str, str], ...],
    ) -> None:
        self._context = context
        self._marks = marks
        self._intake = CaptureImporter(context)
        self._pages = pages
        self._entries = entries
        self._revisits = revisits
        self._captures = 0
        self._problem = ""
        self._has_pending = False

    async def payloads(self, file: BinaryIO, name: str, kind: str) -> AsyncIterator[RecordCounts]:
        """Import the responses of a file, and collect its revisits for the method ``revisits``."""
        if kind == WACZ:
            async for counts in self._package(file, name):
                yield counts
            return
        async for counts in self._records(_READERS[ArchiveForm(kind)](file), name):
            yield counts

    async def revisits(self, pending: "PendingRevisits") -> AsyncIterator[RecordCounts]:
        """Import revisits whose originals are stored: those of this file, and of earlier files.

        The original of a revisit can be a revisit too, so this is repeated until none is resolved.
        """
        resolver = RevisitResolver(self._context)
        mine = await asyncio.to_thread(pending.add, self._revisits)
        for _ in range(_MAX_PASSES):
            files = await asyncio.to_thread(pending.files) if self._captures else [mine]
            is_resolved = False
            for file in filter(None, files):
                with SpooledLines() as unresolved:
                    read = 0
                    async for counts in self._resolvable(resolver, pending.lines(file), unresolved):
                        read += counts.read
                        yield counts
                    if read:
                        is_resolved = True
                        # Resolved revisits must be recorded before their file is replaced.
                        await self._context.recorder.drain()
                        left = await asyncio.to_thread(pending.replace, file, unresolved)
                        mine = left if file == mine else mine
            if not is_resolved:
                break
        waiting = read_lines(pending.lines(mine)) if mine else iter(())
        while batch := await asyncio.to_thread(lambda: list(islice(waiting, BATCH))):
            self._has_pending = True
            yield await self._import_batch([missing_payload(each) for each in batch])

    async def _resolvable(
        self, resolver: RevisitResolver, lines: Iterator[bytes], unresolved: SpooledLines
    ) -> AsyncIterator[RecordCounts]:
        """Import those revisits of a file whose originals are stored; collect the others."""
        waiting = read_lines(lines)
        while batch := await asyncio.to_thread(lambda: list(islice(waiting, BATCH))):
            resolved = await resolver.resolve(batch)
            for each in resolved:
                if isinstance(each, ForeignRevisit):
                    unresolved.add(write_line(each))
            yield await self._import_batch(
                [each for each in resolved if not isinstance(each, ForeignRevisit)]
            )

    async def pages(self, source: str) -> AsyncIterator[RecordCounts]:
        """Create a snapshot of each page."""
        intake = PageImporter(self._context, self._pages.renditions, self._pages.excluded_responses)
        noted = await asyncio.to_thread(self._pages.best, source=source)
        while batch := await asyncio.to_thread(lambda: [*islice(noted, _PAGES_AT_ONCE)]):
            closing = await intake.import_pages(batch)
            for each in closing:
                await each
            yield RecordCounts(pages=len(closing))

    async def entries(self, import_id: int) -> AsyncIterator[RecordCounts]:
        """Import the failed and queued entries that a file written by archiver contains."""
        intake = EntryImporter(self._context, import_id)
        noted = self._entries.read()
        while batch := await asyncio.to_thread(lambda: list(islice(noted, BATCH))):
            yield await intake.take(batch)

    def refuse_if_nothing_was_read(self, name: str) -> None:
        """Raise ``UnreadableFile`` if no capture could be read."""
        if self._problem and not (self._captures or self._has_pending):
            raise UnreadableFile(
                "{name} contains no readable captures. {problem}",
                name=name,
                problem=self._problem,
            )

    async def _package(
        self, file: BinaryIO, name: str, *, is_inner: bool = False
    ) -> AsyncIterator[RecordCounts]:
        try:
            package = await asyncio.to_thread(Package, file, name)
        except UnreadableFile as error:
            yield self._failed(name, error)
            return
        for member in package.records:
            async for counts in self._member(package, member):
                yield counts
        for member in package.packages:
            if is_inner:
                yield self._failed(
                    member,
                    UnreadableFile("Archives inside other archives are not supported."),
                )
                continue
            async for counts in self._inner_package(package, member):
                yield counts
        try:
            await asyncio.to_thread(self._add_listed, package)
        except UnreadableFile as error:
            yield self._failed("its list of pages", error)

    async def _member(self, package: Package, member: str) -> AsyncIterator[RecordCounts]:
        try:
            with await asyncio.to_thread(package.open, member) as source:
                head = await asyncio.to_thread(source.read, _HEAD_BYTES)
                form = await asyncio.to_thread(recognise, head, member)
                if form is None:
                    yield self._failed(member, UnreadableFile("It is not a WARC file."))
                    return
                records = _READERS[form](rejoined(head, source.read))
                async for counts in self._records(records, member):
                    yield counts
        except UnreadableFile as error:
            yield self._failed(member, error)

    async def _inner_package(self, package: Package, member: str) -> AsyncIterator[RecordCounts]:
        with ExitStack() as stack:
            try:
                file = await asyncio.to_thread(_as_file, package, member, stack)
            except UnreadableFile as error:
                yield self._failed(member, error)
                return
            async for counts in self._package(file, member, is_inner=True):
                yield counts

    async def _records(self, records: ForeignFile, name: str) -> AsyncIterator[RecordCounts]:
        most_bytes = self._context.settings.max_body_bytes
        batches = in_batches(read_records(records, most_bytes=most_bytes))
        try:
            while batch := await asyncio.to_thread(next, batches, None):
                yield await self._import_batch([*map(self._marked, batch)])
        except UnreadableFile as error:
            yield self._failed(name, error)

    async def _import_batch(self, batch: Sequence[Found]) -> RecordCounts:
        captures = [each for each in batch if is_capture(each)]
        unusable = [each for each in batch if isinstance(each, Unusable)]
        fresh = await self._intake.captures(captures)
        await asyncio.to_thread(self._note, batch)
        self._captures += len(captures)
        if unusable and not self._problem:
            self._problem = unusable[0].reason
        return RecordCounts(
            read=len(captures) + len(unusable),
            fresh=fresh,
            known=len(captures) - fresh,
            unusable=tuple(
                Rejected(each.record[:_MAX_DESCRIPTION], each.reason) for each in unusable
            ),
            passed_over=sum(isinstance(each, IgnoredRecord) for each in batch),
        )

    def _marked(self, found: Found) -> Found:
        """Add the WARC fields that mark an import to a record; they replace those of the file."""
        if isinstance(found, ForeignRevisit):
            return replace(found, fields=tuple((dict(found.fields) | dict(self._marks)).items()))
        if is_capture(found):
            fields = dict(found.exchange.fields) | dict(self._marks)
            return replace(found, exchange=replace(found.exchange, fields=tuple(fields.items())))
        return found

    def _note(self, batch: Sequence[Found]) -> None:
        """Collect the revisits, pages, renditions and entry records of a batch; blocking."""
        for each in batch:
            if isinstance(each, ForeignRevisit):
                self._revisits.add(write_line(each))
            elif is_capture(each):
                self._pages.add_capture(each)
            elif isinstance(each, ForeignCapture):
                self._pages.excluded_responses.note(each)
            elif isinstance(each, ForeignRendition):
                self._pages.renditions.note(each)
            elif isinstance(each, ForeignEntryRecord):
                self._pages.add_entry_record(each)
                self._entries.add(each)

    def _add_listed(self, package: Package) -> None:
        for each in package.pages():
            self._pages.add_listed(each.url, each.ts, each.title)

    def _failed(self, what: str, error: UnreadableFile) -> RecordCounts:
        self._problem = self._problem or str(error)
        return RecordCounts(read=1, unusable=(Rejected(what[:_MAX_DESCRIPTION], str(error)),))


def _as_file(package: Package, member: str, stack: ExitStack) -> BinaryIO:
    """Open a nested package as a seekable file; blocking."""
    window = package.window(member)
    if window:
        return stack.enter_context(BufferedReader(window))
    spooled = stack.enter_context(scratch_file())
    with package.open(member) as source:
        shutil.copyfileobj(source, spooled, 1 << 20)
    spooled.seek(0)
    return spooled


class PendingRevisits:
    """Revisits whose originals are not stored yet, in one file for each import.

    All methods block.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def files(self) -> list[Path]:
        """Return the files, in any order."""
        return [*self._directory.glob("*.jsonl")] if self._directory.is_dir() else []

    def lines(self, file: Path) -> Iterator[bytes]:
        """Yield the lines of a file; nothing if another import has deleted it."""
        try:
            with file.open("rb") as opened:
                yield from opened
        except FileNotFoundError:
            return

    def add(self, lines: SpooledLines) -> Path | None:
        """Write lines to a file named after their content, so that no import adds them twice.

        Return the file; None if there are no lines.
        """
        digest = sha256()
        for line in lines:
            digest.update(line)
        if digest.digest() == sha256().digest():
            return None
        file = self._directory / f"{digest.hexdigest()[:32]}.jsonl"
        self._write(file, lines)
        return file

    def replace(self, file: Path, lines: SpooledLines) -> Path | None:
        """Replace a file by one with ``lines``, as ``add`` does."""
        left = self.add(lines)
        if left != file:
            file.unlink(missing_ok=True)
        return left

    def _write(self, file: Path, lines: SpooledLines) -> None:
        make_directory(self._directory)
        part = file.with_suffix(".part")
        with part.open("wb") as opened:
            opened.writelines(lines)
            opened.flush()
            os.fsync(opened.fileno())
        part.replace(file)


OpenContext = Callable[[], AbstractAsyncContextManager[CrawlContext]]


class Archives:
    """Imports of archive files.

    ``open_context`` returns a context manager for a crawl context that has its own segments and a
    running recorder.
    """

    def __init__(self, open_context: OpenContext) -> None:
        self._open_context = open_context

    async def import_pages(
        self,
        pages: Sequence[SavedPage],
        origin: str,
        *,
        import_id: int | None = None,
        uploaded_at: datetime | None = None,
    ) -> int:
        """Create snapshots of the saved pages in a file of links; return the number of new ones.

        Args:
            pages: pages with their links.
            origin: source of the pages, for their records.
            import_id: the import of the links, if any.
            uploaded_at: upload time, if the pages were uploaded.
        """
        async with self._open_context() as context:
            return await SavedPageImporter(context).take(
                pages, origin, import_id=import_id, uploaded_at=uploaded_at
            )

    async def read_file(
        self,
        file: BinaryIO,
        name: str,
        kind: str,
        *,
        import_id: int,
        uploaded_at: datetime | None = None,
    ) -> AsyncGenerator[RecordCounts, None]:
        """Import a file completely; yield counts after each batch.

        Entries that were queued in the archive are queued as part of the import.

        Args:
            file: the file to read.
            name: name of the file, for messages and records.
            kind: result of ``archive_kind``.
            import_id: id of the import.
            uploaded_at: upload time, if the file was uploaded.

        Raises:
            UnreadableFile: no capture of the file can be read.
        """
        async with self._open_context() as context:
            with SpooledPages() as pages, SpooledEntries() as noted, SpooledLines() as revisits:
                marks = (*_origin(name, kind, uploaded_at), *upload_field(uploaded_at))
                taking = ArchiveImport(context, pages, noted, revisits, marks)
                async for counts in taking.payloads(file, name, kind):
                    yield counts
                await context.recorder.drain()
                pending = PendingRevisits(context.store.directory.parent / PENDING)
                async for counts in taking.revisits(pending):
                    yield counts
                await context.recorder.drain()
                taking.refuse_if_nothing_was_read(name)
                async for counts in taking.pages(f"import:{name}"):
                    yield counts
                await context.recorder.drain()
                async for counts in taking.entries(import_id):
                    yield counts


def _origin(name: str, kind: str, uploaded_at: datetime | None) -> tuple[tuple[str, str], ...]:
    return ((ORIGIN, one_line(origin_of(name, kind))),) if uploaded_at else ()


def origin_of(name: str, kind: str) -> str:
    """Return the name and format of an uploaded file, as its records state them."""
    return kind if name == UNNAMED else f"{name} ({kind})"
