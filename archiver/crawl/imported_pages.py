"""Pages and snapshots imported from other archives.

Pages are imported in batches, since a transaction for each costs more than the work within it.

The best available source of pages is used: entry records of this program, else the page lists of a
package, else HTML responses that were not loaded into a frame, else all responses. Pages are sorted
by time on disk, so that an entry's snapshots are made oldest first.

A saved page is recorded as a response with a generated head, dated when the link was saved, with
its origin in the record. It coexists with later captures.
"""

import asyncio
import json
from collections import Counter, OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from html import escape
from io import BytesIO

from archiver.crawl.article_extraction import SPARE_READERS, read_whole
from archiver.crawl.context import CrawlContext
from archiver.crawl.fetch import read_stored
from archiver.crawl.icons_and_thumbnails import make_previews
from archiver.crawl.imported_captures import CaptureImporter
from archiver.crawl.rendering_policy import as_read
from archiver.crawl.requisites import MAX_DEPTH, NESTED, without_other_parts
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
from archiver.model.page import UNREAD, Article, Discovery
from archiver.model.rendering import NewRendition, Rendering, RenditionKind
from archiver.model.requisite import Requisite, RequisiteOutcome
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
        payload_digest: digest of its response, if that is known to be the final one.
        final: (URL, timestamp, record id) of its final response, if a record names it.
        requisites: outcome of each requisite, if known.
        revision: revision of the metadata, from an entry record of this program.
        import_id: the import of links that included the page, if any.
        told: snapshot record of this program, if any.
    """

    timestamp: Timestamp
    seed: Seed
    payload_digest: PayloadDigest | None = None
    final: tuple[str, Timestamp, RecordId] | None = None
    requisites: tuple[RequisiteOutcome, ...] | None = None
    revision: int | None = None
    import_id: int | None = None
    told: SnapshotRecord | None = None


@dataclass(frozen=True, slots=True)
class Placed:
    """Page with its final capture and the row id of its entry."""

    page: ForeignPage
    found: Capture
    entry_id: int

    @property
    def key(self) -> tuple[int, Timestamp]:
        """Key of its snapshot."""
        return self.entry_id, self.page.timestamp


async def place(db: Database, pages: Sequence[ForeignPage]) -> list[Placed]:
    """Ensure that pages have entries.

    Returns:
        The pages with a capture and without a snapshot, in order; of duplicates the first.
    """
    async with db.read() as conn:
        finals = await _final_captures(conn, pages)
    there = [
        (page, found)
        for page, found in zip(pages, finals, strict=True)
        if found and found.status >= FIRST_FINAL
    ]
    if not there:
        return []
    async with db.write() as conn:
        ids = await _ensure(conn, [page for page, _ in there])
        placed = [Placed(page, found, ids[page.seed.hash_url]) for page, found in there]
        held = await snapshots.existing_at(conn, [each.key for each in placed])
    fresh: dict[tuple[int, Timestamp], Placed] = {}
    for each in placed:
        if each.key not in held:
            fresh.setdefault(each.key, each)
    return [*fresh.values()]


async def _ensure(conn: AsyncConnection, pages: Iterable[ForeignPage]) -> dict[HashUrl, int]:
    """Ensure entries for pages in order, so metadata of one entry is merged in sequence."""
    ids: dict[HashUrl, int] = {}
    for round_ in _rounds(pages):
        given: dict[int | None, list[Seed]] = {}
        for page in round_:
            if page.revision is None:
                given.setdefault(page.import_id, []).append(page.seed)
        for import_id, some in given.items():
            ids |= await new_entries.ensure(conn, some, import_id=import_id)
        revised = [
            RevisedSeed(each.seed, each.revision) for each in round_ if each.revision is not None
        ]
        if revised:
            ids |= await new_entries.ensure_revised(conn, revised)
    return ids


def _rounds(pages: Iterable[ForeignPage]) -> list[list[ForeignPage]]:
    """Split pages into rounds with at most one page per entry."""
    rounds: list[list[ForeignPage]] = []
    met: Counter[HashUrl] = Counter()
    for page in pages:
        round_ = met[page.seed.hash_url]
        met[page.seed.hash_url] += 1
        if round_ == len(rounds):
            rounds.append([])
        rounds[round_].append(page)
    return rounds


async def _final_captures(
    conn: AsyncConnection, pages: Sequence[ForeignPage]
) -> list[Capture | None]:
    """Return the final response of each page: the named one, or the result of its redirects."""
    named = [(page.final[0], page.final[2]) for page in pages if page.final]
    of_records = await db_captures.of_records(conn, named) if named else {}
    places = [place for page in pages if (place := _place_of(page))]
    at_place: dict[tuple[str, Timestamp], list[Capture]] = {}
    if places:
        urls, moments = zip(*places, strict=True)
        for each in await db_captures.at_moments(conn, urls, moments):
            at_place.setdefault((each.url, each.timestamp), []).append(each)
    finals: list[Capture | None] = []
    for page in pages:
        found = _named_capture(page, of_records, at_place)
        if found is None and page.payload_digest is None:
            found = await _led_to(conn, page)
        finals.append(found)
    return finals


def _place_of(page: ForeignPage) -> tuple[str, Timestamp] | None:
    """Return (URL, timestamp) of the stated final response."""
    if page.payload_digest:
        return without_route(page.seed.url), page.timestamp
    return page.final[:2] if page.final else None


def _named_capture(
    page: ForeignPage,
    of_records: Mapping[tuple[str, RecordId], Sequence[tuple[int, Capture]]],
    at_place: Mapping[tuple[str, Timestamp], Sequence[Capture]],
) -> Capture | None:
    """Return the stated capture, found by its record, or by its URL, time and payload."""
    place = _place_of(page)
    if place is None:
        return None
    if page.final and not page.payload_digest:
        for _, held in of_records.get((page.final[0], page.final[2]), ()):
            if held.timestamp == place[1]:
                return held
    for each in at_place.get(place, ()):
        if page.payload_digest in (None, each.payload_digest):
            return each
    return None


async def _led_to(conn: AsyncConnection, page: ForeignPage) -> Capture | None:
    url, found = without_route(page.seed.url), None
    for _ in range(MAX_REDIRECTS):
        found = await db_captures.nearest(conn, url, page.timestamp) or found
        if found is None or found.redirect_to is None:
            break
        url = found.redirect_to
    return found


REMEMBERED = 2048
"""Cache size for style sheets and frames, which the pages of a site share."""
NOT_IN_FILE = Failure(FailureKind.NOT_IN_FILE, "The imported file does not contain this page.")


class Needs:
    """Lookup of page requisites, with a cache for the requisites of style sheets and frames."""

    def __init__(self, context: CrawlContext) -> None:
        self._context = context
        self._known: OrderedDict[tuple[str, str], tuple[Requisite, ...]] = OrderedDict()

    async def outcomes(
        self, url: str, wanted: Sequence[Requisite], timestamp: Timestamp
    ) -> tuple[RequisiteOutcome, ...]:
        """Return the stored state of a page's requisites, including nested ones.

        Args:
            url: URL of the page.
            wanted: direct requisites.
            timestamp: preferred capture time.
        """
        outcomes: dict[str, RequisiteOutcome] = {}
        level = [*wanted]
        for _ in range(MAX_DEPTH + 1):
            found = await self._look_up(level, timestamp)
            outcomes |= {each.url: _outcome(each, held) for each, held in found}
            level = []
            for each, held in found:
                level += await self._of(each, held)
            fresh = {each.url: each for each in level if each.url not in {url, *outcomes}}
            room = max(self._context.settings.max_requisites - len(outcomes), 0)
            level = [*fresh.values()][:room]
            if not level:
                break
        return tuple(outcomes.values())

    async def _look_up(
        self, wanted: Sequence[Requisite], timestamp: Timestamp
    ) -> list[tuple[Requisite, Capture | None]]:
        if not wanted:
            return []
        async with self._context.db.read() as conn:
            held = await db_captures.nearest_of(conn, [each.url for each in wanted], timestamp)
        return [(each, held.get(each.url)) for each in wanted]

    async def _of(self, wanted: Requisite, held: Capture | None) -> tuple[Requisite, ...]:
        """Return the requisites of a style sheet or frame; empty if it redirects."""
        if held is None or held.redirect_to or wanted.kind not in NESTED:
            return ()
        key = held.url, held.payload_digest
        if key not in self._known:
            found = await read_stored(self._context, held)
            needs = await self._context.derive.discover(found.document) if found else None
            self._known[key] = without_other_parts(wanted, needs.requisites) if needs else ()
            if len(self._known) > REMEMBERED:
                self._known.popitem(last=False)
        self._known.move_to_end(key)
        return self._known[key]


def _outcome(wanted: Requisite, held: Capture | None) -> RequisiteOutcome:
    status, failure = (held.status, None) if held else (None, NOT_IN_FILE)
    return RequisiteOutcome(wanted.url, wanted.kind, status, failure, wanted.area)


OK = 200


class NotedPages(ExitStack):
    """Spooled page lists by source; the best available source is used.

    Attributes:
        renditions: screenshots and other renderings.
        answers: responses to scripts.
    """

    def __init__(self) -> None:
        super().__init__()
        self.renditions = self.enter_context(StoredRenditions())
        self.answers = self.enter_context(StoredResponses())
        self._described, self._listed, self._html, self._other = (
            self.enter_context(SortedLines()) for _ in range(4)
        )

    def note_entry_record(self, found: ForeignEntryRecord) -> None:
        """Store an entry record of this program that has a snapshot; ignore an invalid one."""
        with suppress(ArchiverError):
            entry_record = read_entry_record(found.block)
            if entry_record and entry_record.snapshot:
                timestamp = entry_record.snapshot.timestamp
                to_datetime(timestamp)  # raises unless it has 14 digits
                read_moment(timestamp)
                self._described.add(_line(timestamp, json.loads(found.block)))

    def note_listed(self, url: str, moment: str, title: str) -> None:
        """Store a page from a package's page list."""
        with suppress(ArchiverError):
            noted = {"url": parse_entry_url(url), "title": title}
            self._listed.add(_line(to_timestamp(read_moment(moment)), noted))

    def note_capture(self, found: ForeignCapture) -> None:
        """Store a capture that may be a page."""
        exchange = found.exchange
        if found.is_framed or exchange.status != OK:
            return
        kind = essence_of(declared_media_type(exchange.headers))
        lines = self._html if is_html(kind) else self._other
        noted = {"url": exchange.url, "digest": exchange.payload_digest}
        lines.add(_line(to_timestamp(exchange.at), noted))

    def best(self, *, source: str) -> Iterator[ForeignPage]:
        """Iterate over pages, oldest first; ``source`` is the source of pages without metadata."""
        for lines in (self._described, self._listed, self._html, self._other):
            if not lines.is_empty:
                return (page for line in lines if (page := _page(line, source)))
        return iter(())


class PageImporter:
    """Creation of snapshots for pages whose captures are stored."""

    def __init__(
        self,
        context: CrawlContext,
        renditions: StoredRenditions | None = None,
        answers: StoredResponses | None = None,
    ) -> None:
        self._context = context
        self._likenesses = renditions
        self._answers = answers
        self._needs = Needs(context)
        self._answering = asyncio.Lock()

    async def take_all(
        self, pages: Sequence[ForeignPage]
    ) -> list[asyncio.Future[VisitResult | None]]:
        """Create snapshots for several pages concurrently; those of one entry in order.

        Article extraction is deferred if the settings require it.
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
        """Create a snapshot of a page; None if it exists or the capture is missing."""
        placed = await place(self._context.db, [page])
        return await self._take(placed[0]) if placed else None

    async def _take(
        self, placed: Placed, *, may_wait: bool = False
    ) -> asyncio.Future[VisitResult | None]:
        made = await self._visit_result(placed, may_wait=may_wait)
        return await self._context.recorder.end(made)

    async def _visit_result(self, placed: Placed, *, may_wait: bool) -> VisitResult:
        page, found = placed.page, placed.found
        response = await read_stored(self._context, found)
        document = response.document if response else Document(b"", found.media_type, "", found.url)
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
        preview_images = await self._preview_images(ref, needs, article)
        visit = Visit(
            timestamp=page.timestamp,
            at=moment,
            page=ref,
            article=article,
            requisites=outcomes,
            charset=needs.charset,
            rendering=Rendering.NEEDED if needs.needs_browser else Rendering.NONE,
            renditions=preview_images,
            appearance=needs.appearance,
            answers=await self._answered(page),
        )
        if page.told:
            visit = replace(visit, look=page.told.look, appearance=page.told.appearance)
        if stood:
            visit = replace(visit, rendering=Rendering.DONE, renditions=(*shown, *preview_images))
        return VisitResult(entry, moment, visit=visit)

    async def _preview_images(
        self, page: CaptureRef, needs: Discovery, article: Article
    ) -> tuple[NewRendition, ...]:
        """Return the icon and preview image of a page; deferred if its article is."""
        if article.extractor == UNREAD:
            return ()
        return await make_previews(self._context, page, needs, article)

    async def _shown(self, page: ForeignPage) -> tuple[NewRendition, ...]:
        """Return the screenshots of a page that the file contains."""
        if self._likenesses is None or page.told is None:
            return ()
        return await asyncio.to_thread(self._likenesses.of, page.told.renditions)

    async def _answered(self, page: ForeignPage) -> tuple[RecordId, ...]:
        """Record the responses to a page's scripts that the file contains, under new ids."""
        if self._answers is None or page.told is None or not page.told.answers:
            return ()
        kept = []
        async with self._answering:
            for named in page.told.answers:
                found = await asyncio.to_thread(self._answers.take, named)
                if found:
                    kept.append(await self._context.recorder.keep(found))
        return tuple(each.record_id for each in kept)


def _as_it_stood(shown: Sequence[NewRendition], url: str) -> Document | None:
    """Return the saved document of a rendered page; other renderings are useless without it."""
    pages = (each for each in shown if each.kind is RenditionKind.PAGE)
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
    url, title = noted["url"], noted.get("title", "")[:MAX_TITLE]
    annotation = Annotation(url, to_datetime(timestamp), title=title, source=source)
    seed = Seed(hash_url(url), url, host(url), annotation)
    return ForeignPage(timestamp, seed, payload_digest=noted.get("digest"))


def _described(entry_record: EntryRecord) -> ForeignPage | None:
    """Build a page from an entry record of this program, with the user's metadata."""
    kept = entry_record.snapshot
    if kept is None:
        return None
    # The record is untrusted, so the entry's identity is recomputed and all values are limited.
    url = parse_entry_url(entry_record.url)
    annotation = bounded(entry_record.annotation).dated(to_datetime(kept.timestamp))
    return ForeignPage(
        timestamp=kept.timestamp,
        seed=Seed(hash_url(url), url, host(url), annotation),
        final=(kept.capture_url, kept.capture_timestamp, kept.capture_record),
        requisites=kept.requisites,
        revision=entry_record.revision,
        told=kept,
    )


AT_ONCE = 64
_WHOLE = b"<html"
_LOOKED_AT = 4096


class SavedPageImporter:
    """Import of saved pages. ``context`` needs a running recorder used by nothing else."""

    def __init__(self, context: CrawlContext) -> None:
        self._context = context
        self._intake = CaptureImporter(context)
        self._pages = PageImporter(context)

    async def take(
        self,
        found: Sequence[SavedPage],
        origin: str,
        *,
        import_id: int | None = None,
        handed_in: datetime | None = None,
    ) -> int:
        """Create snapshots of saved pages; return how many are new, once they are durable.

        Args:
            found: saved pages; their entries may exist.
            origin: origin of the pages, stored in their records.
            import_id: the import of their links.
            handed_in: upload time, if a user uploaded them.
        """
        fields = ((HEAD, SYNTHESISED), (ORIGIN, one_line(origin)), *upload_field(handed_in))
        made = 0
        for start in range(0, len(found), AT_ONCE):
            some = await self._wanted(found[start : start + AT_ONCE])
            captures = await asyncio.to_thread(_captures, some, fields)
            await self._intake.captures([each for page in captures for each in page])
            await self._context.recorder.drain()
            ends = [
                await self._pages.take(
                    ForeignPage(_timestamp(each), each.seed, digests[0], import_id=import_id)
                )
                for each, digests in zip(some, _digests(captures), strict=True)
            ]
            for end in filter(None, ends):
                await end
                made += 1
        return made

    async def _wanted(self, found: Sequence[SavedPage]) -> list[SavedPage]:
        """Drop undated pages of saved entries, which every import would add again."""
        async with self._context.db.read() as conn:
            states = await entries.states_of(conn, [each.seed.hash_url for each in found])
        return [
            each
            for each in found
            if each.is_dated or states.get(each.seed.hash_url) is not State.SAVED
        ]


def _captures(
    pages: Sequence[SavedPage], fields: tuple[tuple[str, str], ...]
) -> list[list[ForeignCapture]]:
    """Return the captures of each page: the page first, then its resources."""
    return [[*_of_page(each, fields)] for each in pages]


def _digests(captures: Sequence[Sequence[ForeignCapture]]) -> list[list[PayloadDigest]]:
    return [[each.exchange.payload_digest for each in page] for page in captures]


def _of_page(page: SavedPage, fields: tuple[tuple[str, str], ...]) -> Iterator[ForeignCapture]:
    at, kept = page.seed.annotation.saved_at, page.page
    address = without_route(page.seed.url)
    yield _capture(address, kept.media_type, _document(page), at, fields)
    seen = {address}
    for part in kept.parts:
        with suppress(InvalidUrl):
            url = parse_url(part.url)
            if url not in seen:
                seen.add(url)
                yield _capture(url, part.media_type, part.content, at, fields)


def _capture(
    url: str,
    media_type: str,
    content: bytes,
    at: datetime,
    fields: tuple[tuple[str, str], ...],
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
    if _WHOLE in content[:_LOOKED_AT].lower():
        return content
    title = escape(page.seed.annotation.title)
    head = f'<head><meta charset="utf-8"><title>{title}</title></head>'
    heading = f"<h1>{title}</h1>" if title else ""
    before = f"<!DOCTYPE html>\n<html>{head}\n<body><article>{heading}\n"
    return before.encode("utf-8", "replace") + content + b"\n</article></body></html>\n"


def _timestamp(page: SavedPage) -> Timestamp:
    return to_timestamp(page.seed.annotation.saved_at)
