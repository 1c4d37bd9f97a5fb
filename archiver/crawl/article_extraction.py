"""Article extraction from stored pages, without fetching anything.

The recorder writes two records for each article: a conversion record with the article, and a new
snapshot record, which replaces the earlier record of the snapshot.
"""

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from archiver.crawl.context import CrawlContext
from archiver.crawl.fetch import read_stored
from archiver.crawl.icons_and_thumbnails import make_previews
from archiver.crawl.requisites import read_nearest
from archiver.crawl.stored_content import article_text, snapshot_record_of
from archiver.crawl.visit_result import Visit, VisitResult
from archiver.db import captures, snapshots
from archiver.db.snapshots import SnapshotRow
from archiver.errors import ArchiverError, StoreError
from archiver.http.timestamps import to_datetime
from archiver.http.urls import host
from archiver.logs import get_log
from archiver.model.capture import CaptureRef, Location, Timestamp
from archiver.model.entry import Snapshot
from archiver.model.job import EntryRef
from archiver.model.page import UNREAD, Article, Discovery
from archiver.model.requisite import RequisiteKind, RequisiteOutcome
from archiver.pages.article.multipage import join_parts
from archiver.pages.worker_messages import Document


async def read_whole(
    context: CrawlContext,
    document: Document,
    outcomes: tuple[RequisiteOutcome, ...],
    timestamp: Timestamp,
    article: Article | None = None,
) -> Article:
    """Extract an article, which may continue on further pages, from stored captures.

    Args:
        context: services of the crawl.
        document: the first page.
        outcomes: requisites of the first page, including the further pages of the article.
        timestamp: time of the first page; the captures nearest to this time are used.
        article: the article of the first page alone, if it was extracted before.

    Raises:
        StoreError: the index can't be read.
    """
    article = article or await context.derive.extract(document)
    following = []
    for number, url in enumerate(_parts(outcomes), 2):
        part = await read_nearest(context, url, timestamp)
        if part:
            read = replace(part.document, part=number)
            following.append(await context.derive.extract(read))
    return join_parts(article, following)


def _parts(outcomes: Iterable[RequisiteOutcome]) -> list[str]:
    snapshot = (
        each for each in outcomes if each.kind is RequisiteKind.PART and not each.is_missing
    )
    return [each.url for each in snapshot]


CHUNK = 64
SPARE_READERS = 2
"""Number of reader tasks beyond one per worker process, so that each process has a page waiting."""

log = get_log(__name__)


async def run_readers(
    context: CrawlContext, work: Callable[[], Coroutine[None, None, None]]
) -> None:
    """Run enough tasks of ``work`` to keep the worker processes busy; raise the first error."""
    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(context.settings.extract_processes + SPARE_READERS):
                group.create_task(work())
    except ExceptionGroup as errors:
        raise errors.exceptions[0] from errors


@dataclass(frozen=True, slots=True)
class ExtractedArticle:
    """Snapshot whose article was extracted, and the texts of its previous and its new article."""

    snapshot: Snapshot
    before: str
    after: str


OnRead = Callable[[ExtractedArticle], None]


class DeferredExtraction:
    """Extraction of articles that were not extracted when their pages were captured.

    The recorder of ``context`` must be running.
    """

    def __init__(self, context: CrawlContext) -> None:
        self._context = context
        self._after = 0

    async def read(self, on_read: OnRead = lambda _: None) -> int:
        """Extract the next ``CHUNK`` deferred articles and return their number.

        ``on_read`` is called for each extracted article. Unreadable pages are logged and skipped.

        Raises:
            StoreError: the disk or the index failed; the next call reads the same pages again.
        """
        async with self._context.db.read() as conn:
            pending, after = await snapshots.pending_articles(conn, self._after, limit=CHUNK)
        await self.extract(pending, on_read)
        self._after = after
        return len(pending)

    async def extract(self, rows: Iterable[SnapshotRow], on_read: OnRead) -> None:
        """Extract the articles of the given snapshots, as ``read`` does.

        Raises:
            StoreError: the disk or the index failed.
        """
        waiting = iter(rows)
        await run_readers(self._context, lambda: self._work(waiting, on_read))

    async def _work(self, waiting: Iterator[SnapshotRow], on_read: OnRead) -> None:
        """Extract articles one by one; each is recorded while the next is extracted."""
        closing = []
        for each in waiting:
            url = each.snapshot.url
            try:
                visit_result = await self._visit_result(each)
            except ArchiverError as error:
                log.warning(
                    ("article extraction failed; the page is stored"), url=url, reason=str(error)
                )
                continue
            except Exception:
                log.exception("article extraction failed; the page is stored", url=url)
                continue
            after = visit_result.visit.article.text if visit_result.visit else ""
            before = await asyncio.to_thread(self._text, each.snapshot.article)
            read = ExtractedArticle(each.snapshot, before, after)
            closing.append((await self._context.recorder.end(visit_result), read))
        for done, read in closing:
            await done
            on_read(read)

    def _text(self, article: Location | None) -> str:
        """Return the previous text of an article; empty if there is none."""
        with suppress(StoreError):
            return article_text(self._context.store.read, article) if article else ""
        return ""

    async def _outcomes(
        self, discovery: Discovery, timestamp: Timestamp
    ) -> tuple[RequisiteOutcome, ...]:
        """Return the archived requisites of a page whose snapshot record is damaged."""
        urls = [each.url for each in discovery.requisites]
        async with self._context.db.read() as conn:
            captured = await captures.nearest_of(conn, urls, timestamp, exact_only=True)
        return tuple(
            RequisiteOutcome(each.url, each.kind, captured[each.url].status, area=each.area)
            for each in discovery.requisites
            if each.url in captured
        )

    async def _visit_result(self, unread: SnapshotRow) -> VisitResult:
        snapshot = unread.snapshot
        record, _ = await asyncio.to_thread(snapshot_record_of, self._context.store, unread)
        response = await read_stored(self._context, snapshot.capture)
        if response is None:
            raise StoreError("Cannot read its record. Run `archiver verify` for details.")
        discovery, read = await self._context.derive.inspect_and_extract(response.document)
        if snapshot.requisite_count and not record.requisites:
            outcomes = await self._outcomes(discovery, snapshot.timestamp)
            record = replace(record, requisites=outcomes, charset=discovery.charset)
        article = await read_whole(
            self._context, response.document, record.requisites, snapshot.timestamp, read
        )
        if article.is_failed:
            if snapshot.extractor != UNREAD:
                raise StoreError(
                    "Extracting the article again failed. The existing article is kept."
                )
            article = Article(record.metadata, is_failed=True)
        page = CaptureRef.of(snapshot.capture)
        visit = Visit(
            timestamp=snapshot.timestamp,
            at=to_datetime(snapshot.timestamp),
            page=page,
            article=article,
            requisites=record.requisites,
            charset=record.charset,
            rendering=record.rendering,
            renditions=await make_previews(self._context, page, discovery, article),
            appearance=record.appearance,
            excluded_responses=record.excluded_responses,
        )
        now = datetime.now(UTC).replace(microsecond=0)
        entry = EntryRef(unread.entry_id, snapshot.hash_url, snapshot.url, host(snapshot.url))
        return VisitResult(entry, now, visit=visit)
