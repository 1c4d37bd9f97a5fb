"""Pages and snapshots imported from other archives, and saved pages.

A file may name its pages in several ways. The best one is used: entry records of this program, else
the page list of a package, else HTML responses that were not loaded into a frame, else all
responses. Pages are sorted by time in temporary files, so that an entry's snapshots are made oldest
first. They are imported in batches, since a transaction costs more than the work within it.

A saved page is recorded as a response with generated HTTP headers. The date of the record is the
time when the link was saved; the record names the page's origin. The saved page stays when its URL
is captured later.
"""

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from html import escape
from io import BytesIO

from archiver.crawl.article_extraction import read_whole, run_readers
from archiver.crawl.context import CrawlContext
from archiver.crawl.fetch import read_stored
from archiver.crawl.icons_and_thumbnails import make_previews
from archiver.crawl.imported_captures import CaptureImporter
from archiver.crawl.rendering_policy import as_read
from archiver.crawl.requisites import MAX_DEPTH, NESTED, document_of, refusal, without_other_parts
from archiver.crawl.visit_result import Visit, VisitResult
from archiver.db import captures as db_captures
from archiver.db import entries, new_entries, snapshots
from archiver.db.engine import AsyncConnection, Database
from archiver.errors import ArchiverError, InvalidUrl
from archiver.formats.archive_records import (
    ForeignCapture,
    ForeignEntryRecord,
    StoredRenditions,
    StoredResponses,
    pieces_of,
)
from archiver.formats.seeds import MAX_TITLE, bounded
from archiver.helpers import RecentItems
from archiver.http.headers import parse_head
from archiver.http.media_types import declared_media_type, essence_of, is_html, parse_media_type
from archiver.http.timestamps import to_datetime, to_timestamp
from archiver.http.urls import hash_url, host, parse_entry_url, parse_url, without_route
from archiver.model.annotation import Annotation
from archiver.model.capture import (
    Capture,
    CaptureRef,
    Exchange,
    HashUrl,
    PayloadDigest,
    RecordId,
    Timestamp,
)
from archiver.model.failure import Failure, FailureKind
from archiver.model.job import EntryRef, State
from archiver.model.page import UNREAD
from archiver.model.rendering import NewRendition, Rendering, RenditionKind
from archiver.model.requisite import Requisite, RequisiteKind, RequisiteOutcome
from archiver.model.seed import RevisedSeed, SavedPage, Seed
from archiver.pages.worker_messages import Document
from archiver.pages.worker_pool import unread_article
from archiver.warc.metadata_records import EntryRecord, SnapshotRecord, read_entry_record
from archiver.warc.records import (
    HEAD,
    ORIGIN,
    SYNTHESISED,
    digest_of,
    one_line,
    read_moment,
    upload_field,
)
from archiver.warc.temporary_lines import SortedLines

FIRST_FINAL = 200
"""Lower statuses are interim responses (RFC 9110 §15.2) and not pages."""
MAX_REDIRECTS = 10


@dataclass(frozen=True, slots=True)
class ForeignPage:
    """Page of another archive.

    Attributes:
        timestamp: when it was requested.
        seed: its URL and the user's metadata.
        payload_digest: digest of the response at ``timestamp``, if that is the final response.
        final: (URL, timestamp, record id) of the final response, if a record names it.
        requisites: outcome of each requisite; None to look them up among the stored captures.
        revision: revision of the metadata, if it comes from an entry record of this program.
        import_id: the import of links that included the page, if any.
        snapshot_record: snapshot record of this program, if there is one.
    """

    timestamp: Timestamp
    seed: Seed
    payload_digest: PayloadDigest | None = None
    final: tuple[str, Timestamp, RecordId] | None = None
    requisites: tuple[RequisiteOutcome, ...] | None = None
    revision: int | None = None
    import_id: int | None = None
    snapshot_record: SnapshotRecord | None = None


@dataclass(frozen=True, slots=True)
class PageWithCapture:
    """Page with its final capture and the row id of its entry."""

    page: ForeignPage
    capture: Capture
    entry_id: int

    @property
    def key(self) -> tuple[int, Timestamp]:
        """Key of its snapshot."""
        return self.entry_id, self.page.timestamp


async def find_captures(db: Database, pages: Sequence[ForeignPage]) -> list[PageWithCapture]:
    """Find the captures of pages, and make sure that pages with a capture have entries.

    Returns:
        The pages that have a capture but no snapshot yet, in order, without duplicates.
    """
    async with db.read() as conn:
        finals = await _final_captures(conn, pages)
    placed_pages = [
        (page, capture)
        for page, capture in zip(pages, finals, strict=True)
        if capture and capture.status >= FIRST_FINAL
    ]
    if not placed_pages:
        return []
    async with db.write() as conn:
        ids = await _ensure(conn, [page for page, _ in placed_pages])
        placed = [
            PageWithCapture(page, capture, ids[page.seed.hash_url])
            for page, capture in placed_pages
        ]
        stored = await snapshots.existing_at(conn, [each.key for each in placed])
    fresh: dict[tuple[int, Timestamp], PageWithCapture] = {}
    for each in placed:
        if each.key not in stored:
            fresh.setdefault(each.key, each)
    return [*fresh.values()]


async def _ensure(conn: AsyncConnection, pages: Sequence[ForeignPage]) -> dict[HashUrl, int]:
    """Make sure that pages have entries; metadata of the same entry is merged in page order."""
    ids: dict[HashUrl, int] = {}
    of_imports: dict[int | None, list[Seed]] = {}
    for page in pages:
        if page.revision is None:
            of_imports.setdefault(page.import_id, []).append(page.seed)
    for import_id, seeds in of_imports.items():
        ids |= await new_entries.ensure(conn, seeds, import_id=import_id)
    revised = [RevisedSeed(each.seed, each.revision) for each in pages if each.revision is not None]
    return ids | await new_entries.ensure_revised(conn, revised) if revised else ids


async def _final_captures(
    conn: AsyncConnection, pages: Sequence[ForeignPage]
) -> list[Capture | None]:
    """Return the final response of each page: the named one, or the result of its redirects."""
    named = [(page.final[0], page.final[2]) for page in pages if page.final]
    of_records = await db_captures.of_records(conn, named) if named else {}
    known_moments = [moment for page in pages if (moment := _stated_moment(page))]
    at_moment: dict[tuple[str, Timestamp], list[Capture]] = {}
    if known_moments:
        urls, moments = zip(*known_moments, strict=True)
        for each in await db_captures.at_moments(conn, urls, moments):
            at_moment.setdefault((each.url, each.timestamp), []).append(each)
    finals: list[Capture | None] = []
    for page in pages:
        final = _stated_capture(page, of_records, at_moment)
        if final is None and page.payload_digest is None:
            final = await _follow_redirects(conn, page)
        finals.append(final)
    return finals


def _stated_moment(page: ForeignPage) -> tuple[str, Timestamp] | None:
    """Return (URL, timestamp) of the final response, if the page states it."""
    if page.payload_digest:
        return without_route(page.seed.url), page.timestamp
    return page.final[:2] if page.final else None


def _stated_capture(
    page: ForeignPage,
    of_records: Mapping[tuple[str, RecordId], Sequence[tuple[int, Capture]]],
    at_moment: Mapping[tuple[str, Timestamp], Sequence[Capture]],
) -> Capture | None:
    """Return the final response that a page names by record id, or by URL, time and payload."""
    moment = _stated_moment(page)
    if moment is None:
        return None
    if page.final and not page.payload_digest:
        for _, stored in of_records.get((page.final[0], page.final[2]), ()):
            if stored.timestamp == moment[1]:
                return stored
    for each in at_moment.get(moment, ()):
        if page.payload_digest in (None, each.payload_digest):
            return each
    return None


async def _follow_redirects(conn: AsyncConnection, page: ForeignPage) -> Capture | None:
    """Return the capture nearest to a page's time, after redirects."""
    url, capture = without_route(page.seed.url), None
    for _ in range(MAX_REDIRECTS):
        capture = await db_captures.nearest(conn, url, page.timestamp) or capture
        if capture is None or capture.redirect_to is None:
            break
        url = capture.redirect_to
    return capture


MAX_CACHED = 2048
"""Maximum number of style sheets and frames whose requisites are cached.

The pages of a site share them.
"""
NOT_IN_FILE = Failure(FailureKind.NOT_IN_FILE, "The imported file does not contain this page.")


class StoredRequisites:
    """Lookup of page requisites among the stored captures."""

    def __init__(self, context: CrawlContext) -> None:
        self._context = context
        self._read = RecentItems[tuple[str, str, RequisiteKind], _ReadRequisite](MAX_CACHED)

    async def outcomes(
        self, url: str, requisites: Sequence[Requisite], timestamp: Timestamp
    ) -> tuple[RequisiteOutcome, ...]:
        """Return the outcomes of a page's requisites, including nested ones.

        Args:
            url: URL of the page.
            requisites: direct requisites.
            timestamp: preferred capture time.
        """
        outcomes: dict[str, RequisiteOutcome] = {}
        level = [*requisites]
        for _ in range(MAX_DEPTH + 1):
            captures = await self._look_up(level, timestamp)
            level = []
            for each, stored in captures:
                read = await self._read_of(each, stored)
                outcomes[each.url] = _outcome(each, stored, read.failure)
                level += read.nested
            fresh = {each.url: each for each in level if each.url not in {url, *outcomes}}
            room = max(self._context.settings.max_requisites - len(outcomes), 0)
            level = [*fresh.values()][:room]
            if not level:
                break
        return tuple(outcomes.values())

    async def _look_up(
        self, requisites: Sequence[Requisite], timestamp: Timestamp
    ) -> list[tuple[Requisite, Capture | None]]:
        if not requisites:
            return []
        async with self._context.db.read() as conn:
            stored = await db_captures.nearest_of(
                conn, [each.url for each in requisites], timestamp
            )
        return [(each, stored.get(each.url)) for each in requisites]

    async def _read_of(self, requisite: Requisite, stored: Capture | None) -> "_ReadRequisite":
        """Return the nested requisites of a requisite's capture, and why replay can't show it."""
        is_read = requisite.kind in NESTED or (stored is not None and is_html(stored.media_type))
        if stored is None or stored.redirect_to or not is_read:
            return _ReadRequisite()
        key = stored.url, stored.payload_digest, requisite.kind
        if key not in self._read:
            self._read[key] = await self._read_stored(requisite, stored)
        return self._read[key]

    async def _read_stored(self, requisite: Requisite, stored: Capture) -> "_ReadRequisite":
        response = await read_stored(self._context, stored)
        if response is None:
            return _ReadRequisite()
        nested: tuple[Requisite, ...] = ()
        if requisite.kind in NESTED:
            discovery = await self._context.derive.discover(document_of(requisite, response))
            nested = without_other_parts(requisite, discovery.requisites)
        return _ReadRequisite(nested, refusal(requisite, response))


@dataclass(frozen=True, slots=True)
class _ReadRequisite:
    """Nested requisites of a stored requisite, and why replay can't show the stored one."""

    nested: tuple[Requisite, ...] = ()
    failure: Failure | None = None


def _outcome(
    requisite: Requisite, stored: Capture | None, failure: Failure | None
) -> RequisiteOutcome:
    status, failure = (stored.status, failure) if stored else (None, NOT_IN_FILE)
    return RequisiteOutcome(requisite.url, requisite.kind, status, failure, requisite.area)


OK = 200


class SpooledPages(ExitStack):
    """Pages that a file names, stored on disk until all of it is read.

    Attributes:
        renditions: screenshots and other renderings that the file contains.
        excluded_responses: responses that the file contains and that are not replayed, such as
            those to POST requests of scripts.
    """

    def __init__(self) -> None:
        super().__init__()
        self.renditions = self.enter_context(StoredRenditions())
        self.excluded_responses = self.enter_context(StoredResponses())
        self._described, self._listed, self._html, self._other = (
            self.enter_context(SortedLines()) for _ in range(4)
        )

    def add_entry_record(self, record: ForeignEntryRecord) -> None:
        """Store an entry record of this program that has a snapshot; ignore an invalid one."""
        with suppress(ArchiverError):
            entry_record = read_entry_record(record.block)
            if entry_record and entry_record.snapshot:
                timestamp = entry_record.snapshot.timestamp
                to_datetime(timestamp)  # raises unless it has 14 digits
                read_moment(timestamp)
                self._described.add(_line(timestamp, json.loads(record.block)))

    def add_listed(self, url: str, moment: str, title: str) -> None:
        """Store a page from a package's page list."""
        with suppress(ArchiverError):
            noted = {"url": parse_entry_url(url), "title": title}
            self._listed.add(_line(to_timestamp(read_moment(moment)), noted))

    def add_capture(self, capture: ForeignCapture) -> None:
        """Store a capture that may be a page."""
        exchange = capture.exchange
        if capture.is_framed or exchange.status != OK:
            return
        kind = essence_of(declared_media_type(exchange.headers))
        lines = self._html if is_html(kind) else self._other
        noted = {"url": exchange.url, "digest": exchange.payload_digest}
        lines.add(_line(to_timestamp(exchange.at), noted))

    def best(self, *, source: str) -> Iterator[ForeignPage]:
        """Iterate over the pages of the best source, oldest first.

        ``source`` becomes the source of a new entry whose page has no user metadata.
        """
        for lines in (self._described, self._listed, self._html, self._other):
            if not lines.is_empty:
                return (page for line in lines if (page := _page(line, source)))
        return iter(())


class PageImporter:
    """Creation of snapshots for pages whose captures are stored.

    ``renditions`` and ``excluded_responses`` are those that the imported file contains.
    """

    def __init__(
        self,
        context: CrawlContext,
        renditions: StoredRenditions | None = None,
        excluded_responses: StoredResponses | None = None,
    ) -> None:
        self._context = context
        self._renditions = renditions
        self._excluded_responses = excluded_responses
        self._requisites = StoredRequisites(context)
        self._excluded_lock = asyncio.Lock()

    async def import_pages(
        self, pages: Sequence[ForeignPage]
    ) -> list[asyncio.Future[VisitResult | None]]:
        """Create snapshots for several pages concurrently, but those of one entry in order.

        Article extraction is deferred if the settings require it. The returned futures are done
        once the snapshots are durable.
        """
        of_entry: dict[int, list[PageWithCapture]] = {}
        for each in await find_captures(self._context.db, pages):
            of_entry.setdefault(each.entry_id, []).append(each)
        waiting, closing = iter(of_entry.values()), []

        async def work() -> None:
            for page_batch in waiting:
                closing.extend(
                    [await self._create_snapshot(each, may_defer=True) for each in page_batch]
                )

        await run_readers(self._context, work)
        return closing

    async def take(self, page: ForeignPage) -> asyncio.Future[VisitResult | None] | None:
        """Create a snapshot of a page.

        The returned future is done once the snapshot is durable. Return None if the snapshot exists
        already, or if the page has no capture.
        """
        placed = await find_captures(self._context.db, [page])
        return await self._create_snapshot(placed[0]) if placed else None

    async def _create_snapshot(
        self, placed: PageWithCapture, *, may_defer: bool = False
    ) -> asyncio.Future[VisitResult | None]:
        result = await self._visit_result(placed, may_defer=may_defer)
        return await self._context.recorder.end(result)

    async def _visit_result(self, placed: PageWithCapture, *, may_defer: bool) -> VisitResult:
        page, capture = placed.page, placed.capture
        response = await read_stored(self._context, capture)
        document = (
            response.document if response else Document(b"", capture.media_type, "", capture.url)
        )
        renditions = await self._stored_renditions(page)
        rendered = _rendered_document(renditions, capture.url)
        document = rendered or document
        discovery = await self._context.derive.discover(document)
        outcomes = page.requisites
        if outcomes is None:
            outcomes = await self._requisites.outcomes(
                capture.url, discovery.requisites, page.timestamp
            )
        moment = to_datetime(page.timestamp)
        entry = EntryRef(placed.entry_id, page.seed.hash_url, page.seed.url, page.seed.host)
        ref = CaptureRef.of(capture)
        if not rendered and may_defer and self._context.settings.articles == "later":
            article = unread_article(document, discovery)
        else:
            read = as_read(document) if rendered else document
            article = await read_whole(self._context, read, outcomes, page.timestamp)
        preview_images: tuple[NewRendition, ...] = ()
        if article.extractor != UNREAD:
            preview_images = await make_previews(self._context, ref, discovery, article)
        visit = Visit(
            timestamp=page.timestamp,
            at=moment,
            page=ref,
            article=article,
            requisites=outcomes,
            charset=discovery.charset,
            rendering=Rendering.NEEDED if discovery.needs_browser else Rendering.NONE,
            renditions=preview_images,
            appearance=discovery.appearance,
            excluded_responses=await self._record_excluded_responses(page),
        )
        if page.snapshot_record:
            visit = replace(visit, appearance=page.snapshot_record.appearance)
        if rendered:
            visit = replace(
                visit, rendering=Rendering.DONE, renditions=(*renditions, *preview_images)
            )
        return VisitResult(entry, moment, visit=visit)

    async def _stored_renditions(self, page: ForeignPage) -> tuple[NewRendition, ...]:
        """Return the screenshots of a page that the file contains."""
        if self._renditions is None or page.snapshot_record is None:
            return ()
        return await asyncio.to_thread(self._renditions.of, page.snapshot_record.renditions)

    async def _record_excluded_responses(self, page: ForeignPage) -> tuple[RecordId, ...]:
        """Record the page's excluded responses, which the file contains; return their new ids."""
        if (
            self._excluded_responses is None
            or page.snapshot_record is None
            or not page.snapshot_record.excluded_responses
        ):
            return ()
        excluded = []
        async with self._excluded_lock:
            for named in page.snapshot_record.excluded_responses:
                responses = await asyncio.to_thread(self._excluded_responses.take, named)
                if responses:
                    excluded.append(await self._context.recorder.keep(responses))
        return tuple(each.record_id for each in excluded)


def _rendered_document(renditions: Sequence[NewRendition], url: str) -> Document | None:
    """Return the saved document of a rendered page; None without one."""
    pages = (each for each in renditions if each.kind is RenditionKind.PAGE)
    content = next((each.content for each in pages), None)
    return None if content is None else Document(content, "text/html", "utf-8", url)


def _line(timestamp: Timestamp, noted: object) -> bytes:
    return f"{timestamp} {json.dumps(noted)}\n".encode()


def _page(line: bytes, source: str) -> ForeignPage | None:
    digits, _, document = line.decode().partition(" ")
    noted, timestamp = json.loads(document), Timestamp(digits)
    if "format" in noted:
        with suppress(ArchiverError):
            entry_record = read_entry_record(document.encode())
            return _page_of_record(entry_record) if entry_record else None
        return None
    url, title = noted["url"], noted.get("title", "")[:MAX_TITLE]
    annotation = Annotation(url, to_datetime(timestamp), title=title, source=source)
    seed = Seed(hash_url(url), url, host(url), annotation)
    return ForeignPage(timestamp, seed, payload_digest=noted.get("digest"))


def _page_of_record(entry_record: EntryRecord) -> ForeignPage | None:
    """Build a page from an entry record of this program, with the user's metadata."""
    stored = entry_record.snapshot
    if stored is None:
        return None
    # The record is untrusted, so the entry's identity is recomputed and all values are limited.
    url = parse_entry_url(entry_record.url)
    annotation = bounded(entry_record.annotation).dated(to_datetime(stored.timestamp))
    return ForeignPage(
        timestamp=stored.timestamp,
        seed=Seed(hash_url(url), url, host(url), annotation),
        final=(stored.capture_url, stored.capture_timestamp, stored.capture_record),
        requisites=stored.requisites,
        revision=entry_record.revision,
        snapshot_record=stored,
    )


PAGES_PER_BATCH = 64
_HTML_TAG = b"<html"
_SEARCHED_BYTES = 4096


class SavedPageImporter:
    """Import of saved pages. The recorder of ``context`` must be running."""

    def __init__(self, context: CrawlContext) -> None:
        self._context = context
        self._captures = CaptureImporter(context)
        self._pages = PageImporter(context)

    async def take(
        self,
        batch: Sequence[SavedPage],
        origin: str,
        *,
        import_id: int | None = None,
        uploaded_at: datetime | None = None,
    ) -> int:
        """Create snapshots of saved pages; return how many are new, once they are durable.

        Args:
            batch: saved pages, whose entries need not exist yet.
            origin: origin of the pages, stored in their records.
            import_id: the import of their links.
            uploaded_at: upload time, if a user uploaded them.
        """
        fields = ((HEAD, SYNTHESISED), (ORIGIN, one_line(origin)), *upload_field(uploaded_at))
        count = 0
        for start in range(0, len(batch), PAGES_PER_BATCH):
            new_pages = await self._without_known_undated(batch[start : start + PAGES_PER_BATCH])
            captures = await asyncio.to_thread(
                lambda pages: [[*_captures_of(page, fields)] for page in pages], new_pages
            )
            digests = [page[0].exchange.payload_digest for page in captures]
            await self._captures.captures([each for page in captures for each in page])
            await self._context.recorder.flush()
            ends = [
                await self._pages.take(
                    ForeignPage(
                        to_timestamp(each.seed.annotation.saved_at),
                        each.seed,
                        digest,
                        import_id=import_id,
                    )
                )
                for each, digest in zip(new_pages, digests, strict=True)
            ]
            for end in filter(None, ends):
                await end
                count += 1
        return count

    async def _without_known_undated(self, pages: Sequence[SavedPage]) -> list[SavedPage]:
        """Drop undated pages of saved entries; otherwise every import would add them again."""
        async with self._context.db.read() as conn:
            states = await entries.states_of(conn, [each.seed.hash_url for each in pages])
        return [
            each
            for each in pages
            if each.is_dated or states.get(each.seed.hash_url) is not State.SAVED
        ]


def _captures_of(page: SavedPage, fields: tuple[tuple[str, str], ...]) -> Iterator[ForeignCapture]:
    """Yield the captures of a saved page: the page first, then its resources."""
    at, body = page.seed.annotation.saved_at, page.page
    address = without_route(page.seed.url)
    yield _capture(address, body.media_type, _document(page), at, fields)
    addresses = {address}
    for part in body.parts:
        with suppress(InvalidUrl):
            url = parse_url(part.url)
            if url not in addresses:
                addresses.add(url)
                yield _capture(url, part.media_type, part.content, at, fields)


def _capture(
    url: str, media_type: str, content: bytes, at: datetime, fields: tuple[tuple[str, str], ...]
) -> ForeignCapture:
    body = BytesIO(content)
    digest, length = digest_of(pieces_of(body))
    lines = (
        "HTTP/1.1 200 OK",
        f"Content-Type: {one_line(media_type)}",
        f"Content-Length: {length}",
    )
    head = "\r\n".join((*lines, "", "")).encode("latin-1", "replace")
    exchange = Exchange(
        url=url,
        at=at,
        ip="",
        request=b"",
        head=head,
        body=body,
        chunked=False,
        status=200,
        headers=parse_head(head).headers,
        payload_digest=digest,
        payload_length=length,
        fields=fields,
    )
    return ForeignCapture(exchange, "")


def _document(page: SavedPage) -> bytes:
    """Return the page, or an HTML page built around a bare article."""
    content = page.page.content
    if not is_html(essence_of(parse_media_type(page.page.media_type))):
        return content
    if _HTML_TAG in content[:_SEARCHED_BYTES].lower():
        return content
    title = escape(page.seed.annotation.title)
    head = f'<head><meta charset="utf-8"><title>{title}</title></head>'
    heading = f"<h1>{title}</h1>" if title else ""
    before = f"<!DOCTYPE html>\n<html>{head}\n<body><article>{heading}\n"
    return before.encode("utf-8", "replace") + content + b"\n</article></body></html>\n"
