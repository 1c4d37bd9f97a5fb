"""Saving, finding and showing entries."""

import asyncio
import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from archiver.crawl.stored_content import article_html, snapshot_record_of
from archiver.db import attempts as db_attempts
from archiver.db import crawl_status, deletions, entries, new_entries, queue, screenshots
from archiver.db import jobs as db_jobs
from archiver.db import snapshots as db_snapshots
from archiver.db.engine import AsyncConnection, Database
from archiver.errors import (
    InBin,
    IndexUnavailable,
    InputError,
    InvalidRecord,
    InvalidUrl,
    NotFound,
    StoreError,
    StoreUnavailable,
)
from archiver.formats.seeds import MAX_TAG_CHARACTERS, MAX_TAGS, bounded, seed_of, tidy_tag
from archiver.http.text_decoders import well_formed
from archiver.http.timestamps import middle_of, to_datetime
from archiver.http.urls import hash_url, is_hash_url, parse_entry_url, with_scheme
from archiver.logs import get_log
from archiver.model.annotation import Annotation, unique_tags
from archiver.model.capture import HashUrl, Provenance, Timestamp
from archiver.model.entry import Entry, Snapshot
from archiver.model.imports import Rejected
from archiver.model.job import Attempt, Job
from archiver.model.page import UNREAD, Charset
from archiver.model.rendering import (
    NO_PREVIEW_IMAGES,
    PreviewImages,
    Rendition,
    RenditionKind,
    Score,
)
from archiver.model.requisite import RequisiteOutcome
from archiver.model.seed import QueuedSeed, Seed
from archiver.pages.article_text import to_reading
from archiver.pages.capture_quality import needed, score_of
from archiver.pages.sanitizer import sanitise
from archiver.warc.metadata_records import SnapshotRecord
from archiver.warc.records import read_provenance
from archiver.warc.segments import SegmentStore

_MIN_PREFIX = 4
_MAX_SHOWN = 100
_HASH_PREFIX = re.compile("[0-9a-f]{1,31}")


async def find_entry(conn: AsyncConnection, ref: str) -> tuple[int, Entry]:
    """Return an entry and its row id by hash_url, start of a hash_url, or URL.

    Raises:
        NotFound: there is no such entry.
        InputError: the start of a hash_url is too short, or several entries have it.
        InvalidUrl: ``ref`` is neither a hash_url nor a URL.
    """
    if _HASH_PREFIX.fullmatch(ref):
        return await _by_prefix(conn, ref)
    key = HashUrl(ref) if is_hash_url(ref) else _of_url(ref)
    row = await entries.by_hash(conn, key)
    if row is None and await deletions.is_in_bin(conn, key):
        raise InBin("{ref} was deleted and is in the bin. Restore it there to open it.", ref=ref)
    if row is None:
        raise NotFound("{ref} is not in the archive.", ref=ref)
    return row


async def find_page(conn: AsyncConnection, ref: str) -> tuple[int, Entry]:
    """Return an entry and its row id, as ``find_entry`` does.

    If no entry has the URL ``ref``, search for it among the other URLs of saved pages.

    Raises:
        NotFound: there is no such entry.
        InputError: the start of a hash_url is too short, or several entries have it.
        InvalidUrl: ``ref`` is neither a hash_url nor a URL.
    """
    try:
        return await find_entry(conn, ref)
    except NotFound:
        if is_hash_url(ref) or _HASH_PREFIX.fullmatch(ref):
            raise
        aliases = await entries.saved_aliases(conn, parse_entry_url(with_scheme(ref)))
        for alias in aliases.items():
            return alias
        raise


def hash_urls_of(urls: Iterable[str]) -> dict[str, HashUrl]:
    """Return the hash_url of each valid URL."""
    named = {}
    for url in urls:
        with suppress(InvalidUrl):
            named[url] = hash_url(parse_entry_url(url))
    return named


def _of_url(ref: str) -> HashUrl:
    try:
        return hash_url(parse_entry_url(with_scheme(ref)))
    except InvalidUrl:
        raise InvalidUrl(
            "No entry found for “{ref}”. Use the URL of the page (https://…), the hash_url, "
            "or the first characters of the hash_url.",
            ref=ref[:_MAX_SHOWN],
        ) from None


async def _by_prefix(conn: AsyncConnection, beginning: str) -> tuple[int, Entry]:
    if len(beginning) < _MIN_PREFIX:
        raise InputError(
            "{beginning} is too short. Use at least {fewest} characters of the hash_url, or the "
            "URL of the page.",
            beginning=beginning,
            fewest=_MIN_PREFIX,
        )
    hash_urls = await entries.with_prefix(conn, beginning, limit=2)
    if len(hash_urls) > 1:
        raise InputError(
            "Several entries have a hash_url that starts with {beginning}, such as {one} and "
            "{other}. Use more characters.",
            beginning=beginning,
            one=hash_urls[0],
            other=hash_urls[1],
        )
    entry = await entries.by_hash(conn, hash_urls[0]) if hash_urls else None
    if entry is None:
        raise NotFound("No hash_url starts with {beginning}.", beginning=beginning)
    return entry


MAX_URLS = 10_000


def clean_tags(tags: Sequence[str]) -> tuple[str, ...]:
    """Normalise tags: strip spaces and a leading #, drop duplicates, keep the order.

    Raises:
        InputError: a tag is too long, or there are too many tags.
    """
    cleaned = unique_tags(filter(None, (tidy_tag(tag).lstrip("# ") for tag in tags)))
    if len(cleaned) > MAX_TAGS:
        raise InputError(
            "Too many tags ({count}); the limit is {most}.", count=len(cleaned), most=MAX_TAGS
        )
    for tag in cleaned:
        if len(tag) > MAX_TAG_CHARACTERS:
            raise InputError(
                "The tag “{tag}…” is too long; the limit is {most} characters.",
                tag=tag[:30],
                most=MAX_TAG_CHARACTERS,
            )
    return cleaned


def checked_urls(urls: Sequence[str], *, is_described: bool) -> list[str]:
    """Return the URLs of a request, without empty ones.

    Args:
        urls: the submitted URLs.
        is_described: whether the request has a title or note, which is allowed for one URL only.

    Raises:
        InputError: there is no URL, or there are too many.
    """
    addresses = [with_scheme(url) for url in urls if url.strip()]
    if not addresses:
        raise InputError("Enter at least one link, such as https://example.org.")
    if len(addresses) > MAX_URLS:
        raise InputError(
            "You entered {count} links, but only {most} can be saved at a time. Import them "
            "as a file instead.",
            count=len(addresses),
            most=MAX_URLS,
        )
    if len(addresses) > 1 and is_described:
        raise InputError("You can only set a title or note when you save a single link.")
    return addresses


def seeds_of(
    urls: Sequence[str], annotation: Annotation, now: datetime
) -> tuple[list[Seed], list[Rejected]]:
    """Return seeds of URLs that all get the same metadata, and the rejected URLs."""
    seeds, rejected = [], []
    for url in urls:
        try:
            seeds.append(seed_of(replace(annotation, url_given=url), now=now))
        except InvalidUrl as error:
            rejected.append(Rejected(well_formed(url), str(error)))
    return seeds, rejected


MAX_SNAPSHOTS = 1_000
MAX_ATTEMPTS = 50

_log = get_log(__name__)


@dataclass(frozen=True, slots=True)
class SaveResult:
    """Result of saving URLs: ``accepted`` URLs are queued and durable."""

    accepted: tuple[QueuedSeed, ...]
    rejected: tuple[Rejected, ...]


@dataclass(frozen=True, slots=True)
class SavedAddress:
    """A URL that is already saved.

    Attributes:
        given: the URL as submitted.
        entry: entry of the URL, or of another URL of the same page.
        since: timestamp of the first snapshot of the entry.
        is_duplicate: whether the entry has another URL of the same page.
        other_entries: further entries of the page.
    """

    given: str
    entry: Entry
    since: Timestamp
    is_duplicate: bool = False
    other_entries: tuple[Entry, ...] = ()


@dataclass(frozen=True, slots=True)
class SavedPage:
    """Entries of one page; there are none if the page is not saved.

    Attributes:
        url: the submitted URL after parsing.
        entries: the entry of ``url`` first, then entries of other URLs of the page.
    """

    url: str
    entries: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class PastedUrls:
    """URLs that a user is about to save.

    Attributes:
        known: URLs of pages that have a snapshot.
        fresh: all other URLs.
    """

    known: tuple[SavedAddress, ...] = ()
    fresh: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EntryDetail:
    """An entry with its newest job, its snapshots and failed attempts, newest first.

    ``preview_images`` are the icon and the preview image of the newest snapshot. ``duplicates`` are
    other entries for the same page, under another URL, that have snapshots.
    """

    entry: Entry
    job: Job | None
    snapshots: tuple[Snapshot, ...]
    attempts: tuple[Attempt, ...] = ()
    preview_images: PreviewImages = NO_PREVIEW_IMAGES
    duplicates: tuple[Entry, ...] = ()


@dataclass(frozen=True, slots=True)
class SnapshotDetail:
    """A snapshot with its details.

    Attributes:
        entry: the entry of the snapshot.
        snapshot: the snapshot.
        article: article as sanitised HTML with absolute URLs; empty if the snapshot has none.
        requisites: results of fetching the page requisites, without preview images for lists.
        charset: the detected and the declared encoding.
        renditions: images and PDFs that a browser made of the page, if any.
        score: quality score, with the reasons for a lower score.
        earlier, later: timestamps of the adjacent snapshots; None if there is none.
        provenance: origin of the capture, if this archive did not crawl it.
        is_unreadable: whether the record of the article can't be read.
    """

    entry: Entry
    snapshot: Snapshot
    article: str
    requisites: tuple[RequisiteOutcome, ...]
    charset: Charset
    renditions: tuple[Rendition, ...]
    score: Score
    earlier: Timestamp | None
    later: Timestamp | None
    provenance: Provenance | None = None
    is_unreadable: bool = False

    @property
    def rendition_kinds(self) -> frozenset[RenditionKind]:
        """Available kinds of renditions."""
        return frozenset(each.kind for each in self.renditions)

    @property
    def text(self) -> str:
        """Plain text of the article. The whitespace of code is unchanged."""
        return to_reading(self.article)


class Entries:
    """Entries and their snapshots."""

    def __init__(
        self, db: Database, store: SegmentStore, on_queued: Callable[[], None] = lambda: None
    ) -> None:
        self._db = db
        self._store = store
        self._on_queued = on_queued

    async def save(
        self,
        urls: Sequence[str],
        *,
        tags: Sequence[str] = (),
        source: str,
        title: str = "",
        note: str = "",
        render: bool = False,
    ) -> SaveResult:
        """Queue URLs with priority over imports; saved URLs are captured again.

        Args:
            urls: submitted URLs, up to ``MAX_URLS``; empty ones are skipped.
            tags: tags for all URLs.
            source: ``web``, ``cli`` or ``api``; empty if no user requested the capture.
            title: the user's title; only for a single URL.
            note: the user's note; only for a single URL.
            render: whether to render in a browser even if not needed.

        Raises:
            InputError: there is no URL, there are too many, or a tag is too long.
        """
        addresses = checked_urls(urls, is_described=bool(title or note))
        annotation = bounded(Annotation("", None, title, clean_tags(tags), note, source))
        seeds, rejected = seeds_of(addresses, annotation, datetime.now(UTC))
        async with self._db.write() as conn:
            received = await new_entries.receive(conn, seeds, now=datetime.now(UTC), recapture=True)
            to_render = [each.job_id for each in received if render and each.job_id]
            await queue.mark_for_browser(conn, to_render)
        self._on_queued()
        return SaveResult(tuple(received), tuple(rejected))

    async def saved_addresses(self, urls: Sequence[str]) -> PastedUrls:
        """Return which URLs have snapshots and which are new; empty URLs are skipped."""
        saved, fresh = [], []
        async with self._db.read() as conn:
            for address in filter(None, (with_scheme(each) for each in urls)):
                if (address_state := await _saved_address(conn, address)) is not None:
                    saved.append(address_state)
                else:
                    fresh.append(address)
        return PastedUrls(tuple(saved), tuple(fresh))

    async def saved_at(self, text: str) -> SavedPage:
        """Return the entries of a page by any of its URLs: its own, a redirecting or canonical one.

        Raises:
            InvalidUrl: ``text`` is not a URL.
        """
        url = parse_entry_url(with_scheme(text))
        async with self._db.read() as conn:
            entry = await entries.by_hash(conn, hash_url(url))
            aliases = await entries.saved_aliases(conn, url)
        return SavedPage(url, tuple(dict([*([entry] if entry else []), *aliases.items()]).values()))

    async def get(self, ref: str) -> EntryDetail:
        """Return an entry by hash_url or URL.

        Raises:
            NotFound: there is no such entry.
            InvalidUrl: ``ref`` is neither a hash_url nor a URL.
        """
        async with self._db.read() as conn:
            entry_id, entry = await find_page(conn, ref)
            row = await db_snapshots.of_entry(conn, entry_id, limit=MAX_SNAPSHOTS)
            job = await db_jobs.latest_of_entry(conn, entry_id)
            failed = await db_attempts.of_entry(conn, entry_id, limit=MAX_ATTEMPTS)
            newest = [each.row_id for each in row[:1]]
            drawn = await screenshots.preview_images_of(conn, newest) if newest else {}
            aliases = await entries.saved_aliases(conn, entry.url)
        snapshots = tuple(each.snapshot for each in row)
        preview_images = drawn.get(newest[0], NO_PREVIEW_IMAGES) if newest else NO_PREVIEW_IMAGES
        return EntryDetail(
            entry, job, snapshots, tuple(failed), preview_images, (*aliases.values(),)
        )

    async def snapshot(self, ref: str, timestamp: str | None = None) -> SnapshotDetail:
        """Return the snapshot closest to a timestamp, or the newest.

        Args:
            ref: hash_url or URL.
            timestamp: 4 to 14 digits; None for the newest snapshot.

        Raises:
            NotFound: there is no such entry, or it has no snapshot.
            InputError: the timestamp is invalid.
        """
        async with self._db.read() as conn:
            entry_id, entry = await find_page(conn, ref)
            at = middle_of(timestamp) if timestamp else entry.latest
            neighbours = await db_snapshots.nearest_rows(conn, entry_id, at) if at else (None, None)
            row = _nearest(neighbours, at)
            if row is None:
                raise NotFound("{url} has no snapshot yet.", url=entry.url)
            earlier, later = await db_snapshots.neighbours(conn, entry_id, row.snapshot.timestamp)
            renditions = await screenshots.of_snapshots(conn, [row.row_id])
        read = await asyncio.to_thread(self._read, row)
        if read.is_damaged and row.snapshot.extractor != UNREAD:
            await self._extract_again(row)
        return SnapshotDetail(
            entry=entry,
            snapshot=row.snapshot,
            article=read.article or "",
            requisites=needed(read.record.requisites),
            charset=read.record.charset,
            renditions=renditions.get(row.row_id, ()),
            score=score_of(read.record.rendering, read.record.requisites, read.record.appearance),
            earlier=earlier,
            later=later,
            provenance=read.provenance,
            is_unreadable=read.article is None,
        )

    async def rendition(self, ref: str, timestamp: str, kind: RenditionKind) -> tuple[str, bytes]:
        """Return (media type, content) of a snapshot's rendition.

        Raises:
            NotFound: the snapshot has no such rendition.
        """
        detail = await self.snapshot(ref, timestamp)
        for each in detail.renditions:
            if each.kind is kind and detail.snapshot.timestamp == timestamp:
                return each.media_type, await self._content(each)
        raise NotFound("Image not found in this snapshot.")

    async def preview_image(self, digest: str) -> tuple[str, bytes]:
        """Return (media type, content) of a favicon or preview image.

        Raises:
            NotFound: there is no such image, or its snapshot was deleted.
        """
        async with self._db.read() as conn:
            rendition = await screenshots.by_digest(conn, digest)
        if rendition is None:
            raise NotFound("Image not found.")
        return rendition.media_type, await self._content(rendition)

    async def _content(self, rendition: Rendition) -> bytes:
        try:
            record = await asyncio.to_thread(self._store.read, rendition.location)
            return await asyncio.to_thread(record.block.read)
        except InvalidRecord as error:
            raise NotFound(
                "The record of this image is damaged. Run `archiver verify` for details."
            ) from error

    async def jobs(self, ids: Sequence[int]) -> list[Job]:
        """Return jobs in their current state, in order of creation.

        If a job waits because another page of its host failed, the returned job has the failure of
        that page and the time until which it waits.
        """
        async with self._db.read() as conn:
            found_jobs = await db_jobs.by_ids(conn, ids[:MAX_URLS])
            why = await crawl_status.why_waiting(conn, [each.id for each in found_jobs])
        return [
            replace(each, failure=why[each.id][0], not_before=why[each.id][1])
            if each.id in why
            else each
            for each in found_jobs
        ]

    async def _extract_again(self, row: db_snapshots.SnapshotRow) -> None:
        """Mark an article as pending; `archiver serve` or `archiver extract` extracts it again."""
        _log.warning("record damaged; the article is extracted again", url=row.snapshot.url)
        with suppress(IndexUnavailable):
            async with self._db.write() as conn:
                await db_snapshots.mark_unread(conn, row)

    def _read(self, row: db_snapshots.SnapshotRow) -> "_Read":
        record, is_damaged = snapshot_record_of(self._store, row)
        article: str | None = ""
        if row.snapshot.article:
            try:
                article = sanitise(article_html(self._store.read, row.snapshot.article))
            except StoreUnavailable:
                raise
            except StoreError as error:
                # Only damage causes another extraction: a missing segment may become available.
                article, is_damaged = None, is_damaged or isinstance(error, InvalidRecord)
        provenance = None
        with suppress(StoreError):
            response = self._store.read(row.snapshot.capture.location)
            provenance = read_provenance(response.fields)
        return _Read(article, record, provenance, is_damaged)


@dataclass(frozen=True, slots=True)
class _Read:
    """Records of a snapshot.

    ``article`` is None if its record can't be read. ``is_damaged`` is set if the article has to be
    extracted again, because a record is damaged.
    """

    article: str | None
    record: SnapshotRecord
    provenance: Provenance | None
    is_damaged: bool


async def _saved_address(conn: AsyncConnection, address: str) -> SavedAddress | None:
    try:
        url = parse_entry_url(address)
    except InvalidUrl:
        return None
    match = await entries.by_hash(conn, hash_url(url))
    by_url = dict([match]) if match and match[1].latest else await entries.saved_aliases(conn, url)
    for number, entry in by_url.items():
        if first := await db_snapshots.first_of(conn, number):
            aliases = tuple(each for each in by_url.values() if each is not entry)
            return SavedAddress(address, entry, first, entry.url != url, aliases)
    return None


def _nearest(
    neighbours: tuple[db_snapshots.SnapshotRow | None, db_snapshots.SnapshotRow | None],
    timestamp: Timestamp | None,
) -> db_snapshots.SnapshotRow | None:
    before, after = neighbours
    if before is None or after is None or timestamp is None:
        return before or after
    gap_before = _seconds(timestamp) - _seconds(before.snapshot.timestamp)
    gap_after = _seconds(after.snapshot.timestamp) - _seconds(timestamp)
    return before if gap_before <= gap_after else after


def _seconds(timestamp: Timestamp) -> float:
    return to_datetime(timestamp).timestamp()
