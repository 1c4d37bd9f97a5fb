"""WARC and WACZ files of others on their way into the archive: first captures, then pages."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, ExitStack, suppress
from dataclasses import dataclass
from itertools import islice
from typing import BinaryIO

from archiver.crawl.context import CrawlContext
from archiver.errors import ArchiverError, InvalidUrl
from archiver.formats.seeds import bounded
from archiver.ingest.exchanges import (
    ForeignCapture,
    ForeignEntryRecord,
    Found,
    Unusable,
    read_foreign,
)
from archiver.ingest.intake import ForeignPage, Intake, bare_seed
from archiver.memento.timestamps import to_datetime, to_timestamp
from archiver.model.capture import RecordId, Timestamp
from archiver.model.importing import Rejected
from archiver.model.seed import Seed
from archiver.store.sorting import SortedLines
from archiver.urls.parse import hash_url, host, parse_url
from archiver.wacz.unpack import Package
from archiver.warc.entry_record import EntryRecord, read_entry_record
from archiver.warc.foreign import ForeignWarc, Forward
from archiver.wire.moments import read_iso
from archiver.wire.sniff import is_html

WARC = "WARC"
WACZ = "WACZ"
BATCH = 200
PAGES_AT_ONCE = 64
OK = 200
_ZIP = b"PK\x03\x04"
_GZIP = b"\x1f\x8b"
OpenContext = Callable[[], AbstractAsyncContextManager[CrawlContext]]


@dataclass(frozen=True, slots=True)
class Taken:
    """What a stretch of a file brought.

    Attributes:
        read: records that could be captures.
        fresh: captures that are new here.
        known: captures that were here.
        pages: snapshots that were made.
        unusable: records that can't be kept, and why.
        position: bytes of the file that were read.
    """

    read: int = 0
    fresh: int = 0
    known: int = 0
    pages: int = 0
    unusable: tuple[Rejected, ...] = ()
    position: int = 0


class _Pages(ExitStack):
    """Lines that tell of pages, by how much they tell: the best kind that there is counts."""

    def __init__(self) -> None:
        super().__init__()
        self.said, self.listed, self.html, self.other = (
            self.enter_context(SortedLines()) for _ in range(4)
        )

    def best(self) -> Iterator[bytes]:
        for lines in (self.said, self.listed, self.html, self.other):
            if not lines.is_empty:
                return iter(lines)
        return iter(())


def kind_of(head: bytes) -> str | None:
    """``WARC`` or ``WACZ`` for a file that begins so; None for any other."""
    if head.startswith(_ZIP):
        return WACZ
    if head.startswith(b"WARC/"):
        return WARC
    if head.startswith(_GZIP):
        with suppress(ArchiverError):
            for _ in ForeignWarc(_Head(head)):
                return WARC
    return None


class Archives:
    """Takes files in. ``open_tools`` gives a writer of its own, with a recorder that runs."""

    def __init__(self, open_context: OpenContext) -> None:
        self._open_context = open_context

    async def take_in(self, file: BinaryIO, name: str, kind: str) -> AsyncGenerator[Taken, None]:
        """Read a file to its end; tells of each stretch once it is handed over.

        Raises:
            UnreadableFile: it is not what it seemed.
        """
        async with self._open_context() as context:
            intake = Intake(context)
            with _Pages() as pages:
                async for taken in self._captures(context, intake, file, name, kind, pages):
                    yield taken
                await context.recorder.drain()
                lines = await asyncio.to_thread(pages.best)
                async for taken in _take_pages(intake, lines, f"import:{name}"):
                    yield taken
                await context.recorder.drain()

    async def _captures(
        self,
        context: CrawlContext,
        intake: Intake,
        file: BinaryIO,
        name: str,
        kind: str,
        pages: _Pages,
    ) -> AsyncIterator[Taken]:
        if kind == WARC:
            async for taken in _from_warc(context, intake, file, pages):
                yield taken
            return
        package = await asyncio.to_thread(Package, file, name)
        for member in package.warcs:
            with await asyncio.to_thread(package.open, member) as source:
                async for taken in _from_warc(context, intake, source, pages):
                    yield taken
        await asyncio.to_thread(_note_listed, package, pages)


async def _from_warc(
    context: CrawlContext, intake: Intake, source: Forward, pages: _Pages
) -> AsyncIterator[Taken]:
    warc = ForeignWarc(source)
    found = read_foreign(iter(warc), most_bytes=context.settings.max_body_bytes)
    while batch := await asyncio.to_thread(lambda: list(islice(found, BATCH))):
        some = [each for each in batch if isinstance(each, ForeignCapture)]
        fresh, orphans = await intake.captures(some)
        await asyncio.to_thread(_note_pages, batch, pages)
        unusable = [
            Rejected(each.what[:500], each.reason) for each in batch if isinstance(each, Unusable)
        ]
        unusable += [_ORPHAN] * orphans
        yield Taken(
            read=len(some) + len(unusable) - orphans,
            fresh=fresh,
            known=len(some) - fresh - orphans,
            unusable=tuple(unusable),
            position=warc.source.offset,
        )


_ORPHAN = Rejected(
    "a revisit", "The record that holds its payload is neither here nor in the file."
)


async def _take_pages(intake: Intake, lines: Iterator[bytes], source: str) -> AsyncIterator[Taken]:
    while some := await asyncio.to_thread(lambda: list(islice(lines, PAGES_AT_ONCE))):
        pages = [page for line in some if (page := _page(line, source))]
        closing = [made for page in pages if (made := await intake.page(page))]
        for each in closing:
            await each
        yield Taken(pages=len(closing))


def _note_pages(batch: list[Found], pages: _Pages) -> None:
    for each in batch:
        if isinstance(each, ForeignEntryRecord):
            with suppress(ArchiverError):
                entry_record = read_entry_record(each.block)
                if entry_record and entry_record.snapshot:
                    to_datetime(entry_record.snapshot.timestamp)  # a name for a moment, or refused
                    pages.said.add(_line(entry_record.snapshot.timestamp, json.loads(each.block)))
        elif isinstance(each, ForeignCapture) and not each.is_framed:
            exchange = each.exchange
            if exchange.status != OK:
                continue
            lines = pages.html if is_html(_media_type(each)) else pages.other
            said = {"url": exchange.url, "record": each.record_id}
            lines.add(_line(to_timestamp(exchange.at), said))


def _media_type(found: ForeignCapture) -> str:
    return (found.exchange.header("content-type") or "").partition(";")[0].strip().lower()


def _note_listed(package: Package, pages: _Pages) -> None:
    for each in package.pages():
        with suppress(InvalidUrl, ValueError):
            said = {"url": parse_url(each.url), "title": each.title}
            pages.listed.add(_line(to_timestamp(read_iso(each.ts)), said))


def _line(timestamp: Timestamp, said: object) -> bytes:
    """Lines sort by time: an entry's snapshots are made oldest first."""
    return f"{timestamp} {json.dumps(said)}\n".encode()


def _page(line: bytes, source: str) -> ForeignPage | None:
    timestamp, _, rest = line.decode().partition(" ")
    said = json.loads(rest)
    if "format" in said:
        with suppress(ArchiverError):
            entry_record = read_entry_record(rest.encode())
            return _page_of(entry_record) if entry_record else None
        return None
    url = said["url"]
    moment = Timestamp(timestamp)
    return ForeignPage(
        url=url,
        timestamp=moment,
        seed=bare_seed(url, moment, title=said.get("title", "")[:2000], source=source),
        record_id=RecordId(said["record"]) if "record" in said else None,
    )


def _page_of(entry_record: EntryRecord) -> ForeignPage | None:
    """A page as this program itself told of it, with what its person said."""
    kept = entry_record.snapshot
    if kept is None:
        return None
    # The file may say anything: what names an entry is worked out again, the rest is bounded.
    url = parse_url(entry_record.url)
    annotation = bounded(entry_record.annotation).dated(to_datetime(kept.timestamp))
    seed = Seed(hash_url(url), url, host(url), annotation)
    return ForeignPage(
        url=url,
        timestamp=kept.timestamp,
        seed=seed,
        record_id=kept.capture_record,
        final_url=kept.capture_url,
        requisites=kept.requisites,
    )


class _Head:
    """The beginning of a file, as a file."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def read(self, size: int, /) -> bytes:
        data, self._data = self._data[:size], self._data[size:]
        return data
