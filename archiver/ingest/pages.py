"""Which captures of other archives are pages, and a snapshot for each.

Entry records of this program are believed first, then the lists of a package, then every HTML
response that no browser asked for into a frame, then every response. Pages are put in order of time
outside of memory: an entry's snapshots are made oldest first.
"""

import asyncio
import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace

from archiver.crawl.context import CrawlContext
from archiver.crawl.deferred_extraction import SPARE_READERS
from archiver.crawl.emblems import draw_emblems
from archiver.crawl.fetch_or_recall import read_back
from archiver.crawl.parts import read_whole
from archiver.crawl.rendering import as_read
from archiver.derive.pool import Document, unread_article
from archiver.errors import ArchiverError
from archiver.formats.seeds import MOST_TITLE, bounded
from archiver.ingest.answers import KeptAnswers
from archiver.ingest.exchanges import ForeignCapture, ForeignEntryRecord
from archiver.ingest.likenesses import KeptLikenesses
from archiver.ingest.needs import Needs
from archiver.ingest.placing import ForeignPage, Placed, place
from archiver.ledger.visit_result import Visit, VisitResult
from archiver.memento.timestamps import to_datetime, to_timestamp
from archiver.model.annotation import Annotation
from archiver.model.capture import (
    CaptureRef,
    RecordId,
    Timestamp,
)
from archiver.model.entry_ref import EntryRef
from archiver.model.likeness import LikenessKind, NewLikeness
from archiver.model.page import UNREAD, Article, Discovery
from archiver.model.rendering import Rendering
from archiver.model.seed import Seed
from archiver.store.sorting import SortedLines
from archiver.urls.parse import hash_url, host, parse_url
from archiver.warc.entry_record import EntryRecord, read_entry_record
from archiver.warc.moments import read_moment
from archiver.wire.media_type import declared_media_type, essence_of
from archiver.wire.sniff import is_html

OK = 200


class NotedPages(ExitStack):
    """Lines that tell of pages, by how much they tell: the best kind that there is counts.

    Attributes:
        likenesses: how pages looked, as far as that came.
        answers: what their scripts were answered, as far as that came.
    """

    def __init__(self) -> None:
        super().__init__()
        self.likenesses = self.enter_context(KeptLikenesses())
        self.answers = self.enter_context(KeptAnswers())
        self._described, self._listed, self._html, self._other = (
            self.enter_context(SortedLines()) for _ in range(4)
        )

    def note_entry_record(self, found: ForeignEntryRecord) -> None:
        """Note what this program wrote of a snapshot; what it can't have written is no page."""
        with suppress(ArchiverError):
            entry_record = read_entry_record(found.block)
            if entry_record and entry_record.snapshot:
                timestamp = entry_record.snapshot.timestamp
                to_datetime(timestamp)  # 14 digits, or refused
                read_moment(timestamp)
                self._described.add(_line(timestamp, json.loads(found.block)))

    def note_listed(self, url: str, moment: str, title: str) -> None:
        """Note a page that a package lists, whenever that was."""
        with suppress(ArchiverError):
            noted = {"url": parse_url(url), "title": title}
            self._listed.add(_line(to_timestamp(read_moment(moment)), noted))

    def note_capture(self, found: ForeignCapture) -> None:
        """Note a capture that may be a page."""
        exchange = found.exchange
        if found.is_framed or exchange.status != OK:
            return
        kind = essence_of(declared_media_type(exchange.headers))
        lines = self._html if is_html(kind) else self._other
        noted = {"url": exchange.url, "digest": exchange.payload_digest}
        lines.add(_line(to_timestamp(exchange.at), noted))

    def best(self, *, source: str) -> Iterator[ForeignPage]:
        """Pages, oldest first; ``source`` is where those nobody describes came from."""
        for lines in (self._described, self._listed, self._html, self._other):
            if not lines.is_empty:
                return (page for line in lines if (page := _page(line, source)))
        return iter(())


class PageIntake:
    """Makes snapshots of pages whose captures are in the archive."""

    def __init__(
        self,
        context: CrawlContext,
        likenesses: KeptLikenesses | None = None,
        answers: KeptAnswers | None = None,
    ) -> None:
        self._context = context
        self._likenesses = likenesses
        self._answers = answers
        self._needs = Needs(context)
        self._answering = asyncio.Lock()

    async def take_all(
        self, pages: Sequence[ForeignPage]
    ) -> list[asyncio.Future[VisitResult | None]]:
        """As ``take``, of several at a time; those of one entry one after another, as they come.

        Their articles are left for later where the settings say so.
        """
        of_entry: dict[int, list[Placed]] = {}
        for each in await place(self._context.db, pages):
            of_entry.setdefault(each.entry_id, []).append(each)
        waiting, closing = iter(of_entry.values()), []

        async def work() -> None:
            for some in waiting:
                closing.extend([await self._take(each, may_wait=True) for each in some])

        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(self._context.settings.extract_processes + SPARE_READERS):
                    group.create_task(work())
        except ExceptionGroup as errors:
            raise errors.exceptions[0] from errors
        return closing

    async def take(self, page: ForeignPage) -> asyncio.Future[VisitResult | None] | None:
        """Make a snapshot of a page; None if it is here already, or its capture is not."""
        placed = await place(self._context.db, [page])
        return await self._take(placed[0]) if placed else None

    async def _take(
        self, placed: Placed, *, may_wait: bool = False
    ) -> asyncio.Future[VisitResult | None]:
        made = await self._visit_result(placed, may_wait=may_wait)
        return await self._context.recorder.end(made)

    async def _visit_result(self, placed: Placed, *, may_wait: bool) -> VisitResult:
        page, found = placed.page, placed.found
        obtained = await read_back(self._context, found)
        document = obtained.document if obtained else Document(b"", found.media_type, "", found.url)
        shown = await self._shown(page)
        stood = _as_it_stood(shown, found.url)
        document = stood or document
        needs = await self._context.derive.discover(document)
        outcomes = page.requisites
        if outcomes is None:
            outcomes = await self._needs.outcomes(found.url, needs.requisites, page.timestamp)
        moment = to_datetime(page.timestamp)
        entry = EntryRef(placed.entry_id, page.seed.hash_url, page.seed.url, page.seed.host)
        ref = CaptureRef.of(found)
        if not stood and may_wait and self._context.settings.articles == "later":
            article = unread_article(document, needs)
        else:
            read = as_read(document) if stood else document
            article = await read_whole(self._context, read, outcomes, page.timestamp)
        emblems = await self._emblems(ref, needs, article)
        visit = Visit(
            timestamp=page.timestamp,
            at=moment,
            page=ref,
            article=article,
            requisites=outcomes,
            charset=needs.charset,
            rendering=Rendering.NEEDED if needs.needs_browser else Rendering.NONE,
            likenesses=emblems,
            appearance=needs.appearance,
            answers=await self._answered(page),
        )
        if page.told:
            visit = replace(visit, look=page.told.look, appearance=page.told.appearance)
        if stood:
            visit = replace(visit, rendering=Rendering.DONE, likenesses=(*shown, *emblems))
        return VisitResult(entry, moment, visit=visit)

    async def _emblems(
        self, page: CaptureRef, needs: Discovery, article: Article
    ) -> tuple[NewLikeness, ...]:
        """What lists show a page by; where its article is left for later, so are they."""
        if article.extractor == UNREAD:
            return ()
        return await draw_emblems(self._context, page, needs, article)

    async def _shown(self, page: ForeignPage) -> tuple[NewLikeness, ...]:
        """How a page looked in a browser, where this program tells of it and the file holds it."""
        if self._likenesses is None or page.told is None:
            return ()
        return await asyncio.to_thread(self._likenesses.of, page.told.likenesses)

    async def _answered(self, page: ForeignPage) -> tuple[RecordId, ...]:
        """What its scripts were answered, where the file holds it: taken in under new ids."""
        if self._answers is None or page.told is None or not page.told.answers:
            return ()
        kept = []
        async with self._answering:
            for named in page.told.answers:
                found = await asyncio.to_thread(self._answers.take, named)
                if found:
                    kept.append(await self._context.recorder.keep(found))
        return tuple(each.record_id for each in kept)


def _as_it_stood(shown: Sequence[NewLikeness], url: str) -> Document | None:
    """The page as it stood, for those who read pages; without it nothing else is worth keeping."""
    pages = (each for each in shown if each.kind is LikenessKind.PAGE)
    content = next((each.content for each in pages), None)
    return None if content is None else Document(content, "text/html", "utf-8", url)


def _line(timestamp: Timestamp, noted: object) -> bytes:
    return f"{timestamp} {json.dumps(noted)}\n".encode()


def _page(line: bytes, source: str) -> ForeignPage | None:
    digits, _, rest = line.decode().partition(" ")
    noted, timestamp = json.loads(rest), Timestamp(digits)
    if "format" in noted:
        with suppress(ArchiverError):
            entry_record = read_entry_record(rest.encode())
            return _described(entry_record) if entry_record else None
        return None
    url, title = noted["url"], noted.get("title", "")[:MOST_TITLE]
    annotation = Annotation(url, to_datetime(timestamp), title=title, source=source)
    seed = Seed(hash_url(url), url, host(url), annotation)
    return ForeignPage(timestamp, seed, payload_digest=noted.get("digest"))


def _described(entry_record: EntryRecord) -> ForeignPage | None:
    """A page as this program itself told of it, with what its person said."""
    kept = entry_record.snapshot
    if kept is None:
        return None
    # The file may say anything: what names an entry is worked out again, the rest is bounded.
    url = parse_url(entry_record.url)
    annotation = bounded(entry_record.annotation).dated(to_datetime(kept.timestamp))
    return ForeignPage(
        timestamp=kept.timestamp,
        seed=Seed(hash_url(url), url, host(url), annotation),
        final=(kept.capture_url, kept.capture_timestamp, kept.capture_record),
        requisites=kept.requisites,
        revision=entry_record.revision,
        told=kept,
    )
