"""Which captures of other archives are pages, and a snapshot for each.

Entry records of this program are believed first, then the lists of a package, then every HTML
response that no browser asked for into a frame, then every response. Pages are put in order of time
outside of memory: an entry's snapshots are made oldest first.
"""

import asyncio
import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace

from archiver.crawl.context import CrawlContext
from archiver.crawl.deferred_extraction import SPARE_READERS
from archiver.crawl.emblems import draw_emblems
from archiver.crawl.fetch_or_recall import read_back
from archiver.crawl.rendering import as_read
from archiver.derive.pool import Document
from archiver.errors import ArchiverError
from archiver.formats.seeds import MOST_TITLE, bounded
from archiver.index import captures, seeds, snapshots
from archiver.index.database import AsyncConnection
from archiver.ingest.answers import KeptAnswers
from archiver.ingest.exchanges import ForeignCapture, ForeignEntryRecord
from archiver.ingest.likenesses import KeptLikenesses
from archiver.ingest.needs import Needs
from archiver.ledger.visit_result import Visit, VisitResult
from archiver.memento.timestamps import to_datetime, to_timestamp
from archiver.model.annotation import Annotation
from archiver.model.capture import (
    Capture,
    CaptureRef,
    HashUrl,
    PayloadDigest,
    RecordId,
    Timestamp,
)
from archiver.model.entry_ref import EntryRef
from archiver.model.likeness import LikenessKind, NewLikeness
from archiver.model.rendering import Rendering
from archiver.model.requisite import RequisiteOutcome
from archiver.model.seed import RevisedSeed, Seed
from archiver.store.sorting import SortedLines
from archiver.urls.parse import hash_url, host, parse_url
from archiver.warc.entry_record import EntryRecord, SnapshotRecord, read_entry_record
from archiver.warc.moments import read_moment
from archiver.wire.media_type import declared_media_type, essence_of
from archiver.wire.sniff import is_html

OK = 200
FIRST_FINAL = 200
"""What has a lower status is an interim response (RFC 9110 §15.2), and no page."""
MOST_REDIRECTS = 10


@dataclass(frozen=True, slots=True)
class ForeignPage:
    """A page of another archive.

    Attributes:
        timestamp: when it was asked for.
        seed: its URL, and what a person says of it.
        payload_digest: of its response, where that is known to be the final one.
        final: (URL, timestamp, record id) of its final response, where a record names it.
        requisites: what became of each, where that is known.
        revision: of what the person says, where this program's own record tells.
        import_id: the import of links that it came with, if it did.
        told: what this program's own record tells of it.
    """

    timestamp: Timestamp
    seed: Seed
    payload_digest: PayloadDigest | None = None
    final: tuple[str, Timestamp, RecordId] | None = None
    requisites: tuple[RequisiteOutcome, ...] | None = None
    revision: int | None = None
    import_id: int | None = None
    told: SnapshotRecord | None = None


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
        self, pages: Iterable[ForeignPage]
    ) -> list[asyncio.Future[VisitResult | None]]:
        """As ``take``, of several at a time; those of one entry one after another, as they come."""
        of_entry: dict[HashUrl, list[ForeignPage]] = {}
        for page in pages:
            of_entry.setdefault(page.seed.hash_url, []).append(page)
        waiting, closing = iter(of_entry.values()), []

        async def work() -> None:
            for some in waiting:
                closing.extend([made for page in some if (made := await self.take(page))])

        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(self._context.settings.extract_processes + SPARE_READERS):
                    group.create_task(work())
        except ExceptionGroup as errors:
            raise errors.exceptions[0] from errors
        return closing

    async def take(self, page: ForeignPage) -> asyncio.Future[VisitResult | None] | None:
        """Make a snapshot of a page; None if it is here already, or its capture is not."""
        async with self._context.db.read() as conn:
            found = await _final_capture(conn, page)
        if found is None or found.status < FIRST_FINAL:
            return None
        async with self._context.db.write() as conn:
            entry_id = (await _ensure(conn, page))[page.seed.hash_url]
            held, _ = await snapshots.around(conn, entry_id, page.timestamp)
        if held and held.snapshot.timestamp == page.timestamp:
            return None
        return await self._context.recorder.end(await self._visit_result(page, found, entry_id))

    async def _visit_result(self, page: ForeignPage, found: Capture, entry_id: int) -> VisitResult:
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
        entry = EntryRef(entry_id, page.seed.hash_url, page.seed.url, page.seed.host)
        article = await self._context.derive.extract(as_read(document) if stood else document)
        ref = CaptureRef.of(found)
        emblems = await draw_emblems(self._context, ref, needs, article)
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


async def _ensure(conn: AsyncConnection, page: ForeignPage) -> dict[HashUrl, int]:
    if page.revision is None:
        return await seeds.ensure(conn, [page.seed], import_id=page.import_id)
    return await seeds.take_in(conn, [RevisedSeed(page.seed, page.revision)])


async def _final_capture(conn: AsyncConnection, page: ForeignPage) -> Capture | None:
    """The final response of a page: the one that is named, else what its URL leads to then."""
    if page.payload_digest:
        return await _at(conn, page.seed.url, page.timestamp, page.payload_digest)
    if page.final:
        url, timestamp, record_id = page.final
        for _, held in (await captures.of_records(conn, [(url, record_id)])).get(
            (url, record_id), ()
        ):
            if held.timestamp == timestamp:
                return held
        if found := await _at(conn, url, timestamp):
            return found
    url, found = page.seed.url, None
    for _ in range(MOST_REDIRECTS):
        found = await captures.nearest(conn, url, page.timestamp) or found
        if found is None or found.redirect_to is None:
            break
        url = found.redirect_to
    return found


async def _at(
    conn: AsyncConnection, url: str, timestamp: Timestamp, digest: PayloadDigest | None = None
) -> Capture | None:
    """The capture of a URL at a moment, with that payload if one is told."""
    for each in await captures.at_moments(conn, [url], [timestamp]):
        if each.url == url and digest in (None, each.payload_digest):
            return each
    return None


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
