"""Followed feeds."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from io import BytesIO
from pathlib import Path

from archiver.config import show_size
from archiver.crawl.context import CrawlContext
from archiver.crawl.feed_requests import FeedResponse, request_feed
from archiver.crawl.imported_pages import SavedPageImporter
from archiver.db import entries, feeds, new_entries, snapshots
from archiver.db.engine import Database
from archiver.errors import ConfigurationError, FetchError, InputError, NotFound, UnreadableFile
from archiver.formats.feeds import FORMS, feed_title
from archiver.formats.import_process import Batch, open_links
from archiver.formats.outlines import MAX_BYTES, MAX_FEEDS, read_subscriptions, write_subscriptions
from archiver.http.urls import host, parse_url, with_scheme
from archiver.logs import get_log
from archiver.model.failure import Failure
from archiver.model.feed import NO_FEED, FeedState, FollowedFeed, Subscription, source_of
from archiver.model.imports import as_message
from archiver.model.seed import SavedPage, Seed
from archiver.pages.worker_messages import Document
from archiver.services.entries import clean_tags
from archiver.services.search_results import ListedEntry, shown_of
from archiver.services.user_files import FEEDS, user_file

AT_ONCE = 4
PAUSE_SECONDS = 30.0
MAX_SECONDS = 86400
MAX_ITEMS = 1000
"""Maximum items processed per feed."""
_NEVER = datetime.max.replace(tzinfo=UTC, microsecond=0)

log = get_log(__name__)


class NoFeed(InputError):
    """The URL does not return a feed."""


class OtherFormat(NoFeed):
    """The document contains links in another format, such as bookmarks."""


class FeedChecks:
    """Checks of feeds for new items.

    Args:
        context: the crawl whose guard and limits apply to requests for feeds.
        open_writer: opens a context whose recorder is running, for articles in feeds.
        on_queued: called after new items are queued.
    """

    def __init__(
        self,
        context: CrawlContext,
        open_writer: Callable[[], AbstractAsyncContextManager[CrawlContext]],
        on_queued: Callable[[], None],
    ) -> None:
        self._context = context
        self._open_writer = open_writer
        self._on_queued = on_queued
        self._interval = context.settings.feed_interval
        self.pause = min(PAUSE_SECONDS, self._interval)

    async def find(self, url: str) -> Subscription:
        """Return the feed at a URL, or the first feed that the page at the URL links to.

        Raises:
            InputError: there is no feed; the message says why.
        """
        try:
            response = await request_feed(self._context, url)
            try:
                await self._items(response)
            except NoFeed:
                named = await self._linked_feed(response)
                if not named:
                    raise
                response = await request_feed(self._context, named)
                await self._items(response)
        except FetchError as error:
            raise InputError(error.failure.message) from error
        feed_url = response.moved_to or response.url
        return Subscription(
            feed_url, feed_title(response.content), home="" if feed_url == url else url
        )

    async def check_all(
        self,
        followed: Sequence[FollowedFeed],
        check: Callable[[FollowedFeed], Awaitable[FollowedFeed]],
    ) -> list[FollowedFeed]:
        """Check several feeds with limited concurrency; return the results in the same order."""
        turns = asyncio.Semaphore(AT_ONCE)

        async def check_in_turn(one: FollowedFeed) -> FollowedFeed:
            async with turns:
                return await check(one)

        async with asyncio.TaskGroup() as group:
            checks = [group.create_task(check_in_turn(each)) for each in followed]
        return [each.result() for each in checks]

    async def check(self, followed: FollowedFeed, *, everything: bool = False) -> FollowedFeed:
        """Check a feed, queue new items, and store the result.

        With ``everything``, items older than the subscription are included. Problems of the feed
        are stored, not raised.

        Raises:
            StoreError: the index failed.
        """
        subscription, before, began_at = followed.subscription, followed.state, self._now()
        try:
            response = await request_feed(
                self._context,
                subscription.url,
                etag=before.etag if before and not everything else "",
                modified=before.modified if before and not everything else "",
            )
            items = await self._items(response) if response.is_modified else Batch()
        except FetchError as error:
            return await self._failed(followed, error.failure)
        except (NoFeed, UnreadableFile) as error:
            return await self._failed(followed, error)
        return await self._store_and_queue(
            followed, response, items, None if everything else began_at
        )

    async def _items(self, response: FeedResponse) -> Batch:
        """Parse the items of a feed in a worker process.

        Raises:
            NoFeed: the response is not a feed.
            UnreadableFile: no item of the feed has a valid link.
        """
        name = host(response.url)
        memory = self._context.settings.extract_memory_bytes
        try:
            async with open_links(
                BytesIO(response.content), name, memory_bytes=memory, url=response.url
            ) as links:
                if (
                    links.form not in FORMS
                    and response.is_page
                    and not _is_bookmark_export(response)
                ):
                    raise NoFeed("No feed found at {host}.", host=name)
                if links.form not in FORMS:
                    raise OtherFormat(
                        "No feed found at {host}, but a file in the format {form}. "
                        "Save and import it.",
                        host=name,
                        form=links.form,
                    )
                batch = await links.next_batch()
        except UnreadableFile as error:
            raise NoFeed("No feed found at {host}.", host=name) from error
        if batch.rejected and not batch.seeds:
            raise UnreadableFile(
                "The feed from {host} has {number} items, but none has a usable link. {problem}",
                host=name,
                number=len(batch.rejected),
                problem=as_message(batch.rejected[0].reason),
            )
        return batch

    async def _linked_feed(self, response: FeedResponse) -> str:
        if not response.is_page:
            return ""
        page = Document(response.content, "text/html", "", response.url)
        return (await self._context.derive.discover(page)).feed

    async def _failed(self, followed: FollowedFeed, why: Failure | InputError) -> FollowedFeed:
        before, now = followed.state, self._now()
        problem, reason, wait = str(why), NO_FEED, 0.0
        if isinstance(why, Failure):
            problem, reason, wait = why.message, why.reason, why.retry_after or 0
        failures = before.failures + 1 if before else 1
        seconds = min(self._interval * 2 ** min(failures - 1, 16), MAX_SECONDS)
        due_at = now + timedelta(seconds=max(seconds, min(wait, MAX_SECONDS)))
        state = replace(
            before or FeedState(now, due_at),
            checked_at=now,
            due_at=due_at,
            failures=failures,
            problem=problem,
            reason=reason,
        )
        log.warning("reading a feed failed", url=followed.subscription.url, reason=problem)
        return await self._put(replace(followed, state=state))

    async def _put(self, followed: FollowedFeed) -> FollowedFeed:
        if followed.state:
            async with self._context.db.write() as conn:
                await feeds.put_state(conn, followed.subscription.url, followed.state)
        return followed

    async def _store_and_queue(
        self,
        followed: FollowedFeed,
        response: FeedResponse,
        batch: Batch,
        began_at: datetime | None,
    ) -> FollowedFeed:
        """Store the result of a check, queue the new items, and store the articles in them.

        ``began_at`` is the start of the check; None to queue older items too.
        """
        now = self._now()
        items = [each.seed for each in batch.seeds[:MAX_ITEMS]]
        state = self._state_after(followed.state, response, now)
        subscription = followed.subscription
        if response.is_modified and not subscription.title:
            subscription = replace(subscription, title=feed_title(response.content))
        moved = response.moved_to
        async with self._context.db.write() as conn:
            if moved and followed.state:
                await feeds.rename(conn, subscription.url, moved)
            subscription = replace(subscription, url=moved or subscription.url)
            await feeds.put_state(conn, subscription.url, state)
            keys = [each.hash_url for each in items]
            is_first = not await feeds.items_of(conn, subscription.url, limit=1)
            fresh = await feeds.store_items(conn, subscription.url, keys, now=now)
            fresh = fresh if began_at else {*keys}
            fresh -= await feeds.known_or_deleted(conn, fresh)
            new_items = [each for each in items if each.hash_url in fresh]
            if is_first and began_at:
                new_items = [each for each in new_items if _is_since(each, subscription, began_at)]
            annotated = [_annotated(each, subscription, now) for each in new_items]
            if followed.state is None:  # the feed may have been unfollowed and followed again
                state = replace(
                    state, saved_count=await feeds.count_saved(conn, subscription.url, keys)
                )
            if annotated:
                await new_entries.receive(conn, annotated, now=now, recapture=False)
            state = replace(state, saved_count=state.saved_count + len(annotated))
            await feeds.put_state(conn, subscription.url, state)
        if annotated:
            self._on_queued()
        articles = {batch.seeds[each.place].seed.hash_url: each.page for each in batch.pages}
        pages = [
            SavedPage(each, articles[each.hash_url], is_dated=True)
            for each in annotated
            if each.hash_url in articles
        ]
        if pages:
            async with self._open_writer() as context:
                await SavedPageImporter(context).take(pages, source_of(subscription.url))
        return FollowedFeed(subscription, state)

    def _state_after(
        self, before: FeedState | None, response: FeedResponse, now: datetime
    ) -> FeedState:
        wait = max(self._interval, min(response.fresh_seconds, MAX_SECONDS))
        state = replace(
            before or FeedState(now, now),
            checked_at=now,
            due_at=_NEVER if response.is_gone else now + timedelta(seconds=wait),
            failures=0,
            problem="",
            reason="",
            is_gone=response.is_gone,
        )
        if response.is_modified:
            state = replace(state, etag=response.etag, modified=response.modified)
        return state

    def _now(self) -> datetime:
        return datetime.now(UTC).replace(microsecond=0)


def _is_since(item: Seed, subscription: Subscription, began_at: datetime) -> bool:
    """Return whether an item is newer than the subscription.

    An item without a date was given the time of parsing, which is after ``began_at``, the start of
    the check. Such an item counts as older.
    """
    if subscription.since is None:
        return True
    return subscription.since <= item.annotation.saved_at < began_at


def _annotated(item: Seed, subscription: Subscription, now: datetime) -> Seed:
    """Return an item with the tags of the subscription, without its own note and folders.

    It is dated one second before ``now``, because the article in the feed becomes a snapshot of
    that second, and two snapshots of an entry must not have the same second.
    """
    annotation = replace(
        item.annotation,
        added_at=now - timedelta(seconds=1),
        tags=subscription.tags,
        note="",
        source=source_of(subscription.url),
        folders=(),
        source_record="",
    )
    return replace(item, annotation=annotation)


def _is_bookmark_export(response: FeedResponse) -> bool:
    """Return whether a page is a browser's bookmark export; ordinary pages also contain links."""
    return b"netscape-bookmark-file" in response.content[:1024].lower()


MAX_SHOWN = 50
"""Maximum number of feeds whose newest entries are listed."""
MAX_NEWEST = 5
"""Maximum number of newest entries that are listed for one feed."""
CLAIM_SECONDS = 600
"""Seconds after which another process may take over a due feed."""


@dataclass(frozen=True, slots=True)
class FeedContent:
    """Newest entries of a feed, and the number of its unread entries."""

    newest: tuple[ListedEntry, ...] = ()
    unread: int = 0


_Change = Callable[[list[Subscription]], list[Subscription]]


class Subscriptions:
    """Feed subscriptions of an archive."""

    def __init__(self, data: Path, db: Database, checks: FeedChecks) -> None:
        self._file = user_file(data, FEEDS, db)
        self._db = db
        self._checks = checks

    async def all(self) -> list[FollowedFeed]:
        """Return all feeds with their states, in order of subscription.

        Raises:
            ConfigurationError: the stored subscriptions can't be read.
        """
        subscriptions = await self._subscriptions()
        async with self._db.read() as conn:
            states = await feeds.states(conn)
        return [FollowedFeed(each, states.get(each.url)) for each in subscriptions]

    async def contents(self, followed: Sequence[FollowedFeed]) -> dict[str, FeedContent]:
        """Return the contents of each feed by its URL, for the first `MAX_SHOWN` feeds."""
        urls = [each.subscription.url for each in followed[:MAX_SHOWN]]
        async with self._db.read() as conn:
            newest = await feeds.newest_entries(conn, urls, each=MAX_NEWEST)
            unread = await feeds.count_unread(conn, urls)
            ids = [row_id for _, row_id in newest]
            newest_snapshots = await snapshots.latest_of(conn, ids)
            items = await shown_of(conn, await entries.by_ids(conn, ids), newest_snapshots)
        return {
            url: FeedContent(
                tuple(
                    items[row_id]
                    for feed_url, row_id in newest
                    if feed_url == url and row_id in items
                ),
                unread.get(url, 0),
            )
            for url in urls
        }

    async def follow(
        self, address: str, tags: Sequence[str] = (), *, everything: bool = False
    ) -> FollowedFeed:
        """Follow a feed, or the first feed that a page links to.

        Args:
            address: URL of a feed or page.
            tags: tags of entries from the feed.
            everything: whether the current items are captured too. With this option, the feed may
                already be followed.

        Raises:
            InvalidUrl: the URL is invalid.
            InputError: there is no feed, or the feed is already followed.
        """
        url = parse_url(with_scheme(address))
        since = None if everything else datetime.now(UTC).replace(microsecond=0)
        feed = await self._checks.find(url)
        subscription = replace(feed, tags=clean_tags(tags), since=since)

        def add(subscriptions: list[Subscription]) -> list[Subscription]:
            if any(each.url == subscription.url for each in subscriptions):
                if everything:
                    return subscriptions
                raise InputError("You already follow {url}.", url=subscription.url)
            return [*subscriptions, subscription]

        await self._change(add)
        return await self.check(subscription.url, everything=everything)

    async def unfollow(self, address: str) -> None:
        """Unfollow a feed; its entries stay.

        Raises:
            NotFound: the feed is not followed.
        """
        url = with_scheme(address)

        def remove(subscriptions: list[Subscription]) -> list[Subscription]:
            remaining = [each for each in subscriptions if each.url != url]
            if len(remaining) == len(subscriptions):
                raise NotFound("You do not follow {url}.", url=url)
            return remaining

        await self._change(remove)
        async with self._db.write() as conn:
            await feeds.forget(conn, url)

    async def import_outline(self, content: bytes, name: str, *, everything: bool = False) -> int:
        """Follow the feeds of an OPML file; return the number of new ones.

        Existing subscriptions are unchanged.

        Raises:
            InputError: the file is too large, not OPML, or contains no feed.
        """
        if len(content) > MAX_BYTES:
            raise InputError("{name} is larger than {most}.", name=name, most=show_size(MAX_BYTES))
        outline = await asyncio.to_thread(read_subscriptions, content, name)
        if not outline:
            raise InputError("{name} contains no feeds.", name=name)
        since = None if everything else datetime.now(UTC).replace(microsecond=0)
        imported = [each if each.since else replace(each, since=since) for each in outline]
        before = 0

        def add(subscriptions: list[Subscription]) -> list[Subscription]:
            nonlocal before
            before = len(subscriptions)
            return _each_once([*subscriptions, *imported])

        return len(await self._change(add)) - before

    async def export_opml(self) -> bytes:
        """Return the subscriptions as OPML.

        Raises:
            ConfigurationError: the stored subscriptions can't be read.
        """
        return write_subscriptions(await self._subscriptions())

    async def check(self, address: str, *, everything: bool = False) -> FollowedFeed:
        """Check a feed now; with ``everything``, include older items.

        Raises:
            NotFound: the feed is not followed.
        """
        url = with_scheme(address)
        for each in await self.all():
            if each.subscription.url == url:
                return await self._check(each, everything=everything)
        raise NotFound("You do not follow {url}.", url=url)

    async def check_all(self) -> list[FollowedFeed]:
        """Check all feeds now, except those that are permanently gone."""
        subscriptions = [
            each for each in await self.all() if not (each.state and each.state.is_gone)
        ]
        return await self._checks.check_all(subscriptions, self._check)

    async def check_due(self) -> list[FollowedFeed]:
        """Check the feeds that are due and not claimed by another process."""
        now = datetime.now(UTC)
        due = [each for each in await self.all() if _is_due(each, now)]
        if urls := [each.subscription.url for each in due if each.state]:
            async with self._db.write() as conn:
                mine = await feeds.claim(conn, urls, now=now, seconds=CLAIM_SECONDS)
            due = [each for each in due if not each.state or each.subscription.url in mine]
        return await self._checks.check_all(due, self._check)

    async def keep_checking(self) -> None:
        """Check feeds when they are due, without end."""
        while True:
            await self.check_due()
            await asyncio.sleep(self._checks.pause)

    async def _check(self, followed: FollowedFeed, *, everything: bool = False) -> FollowedFeed:
        checked = await self._checks.check(followed, everything=everything)
        if checked.subscription != followed.subscription:
            await self._change(
                lambda subscriptions: _each_once(
                    checked.subscription if each.url == followed.subscription.url else each
                    for each in subscriptions
                )
            )
        return checked

    async def _change(self, change: _Change) -> list[Subscription]:
        after: list[Subscription] = []

        def rewrite(content: bytes | None) -> bytes | None:
            nonlocal after
            before = self._parse(content)
            after = change(before)
            if len(after) > MAX_FEEDS:
                raise InputError("You can follow at most {most} feeds.", most=MAX_FEEDS)
            if after == before:
                return None
            return _written(after, is_more=len(after) > len(before))

        await self._file.change(rewrite)
        return after

    async def _subscriptions(self) -> list[Subscription]:
        return await asyncio.to_thread(self._parse, await self._file.read())

    def _parse(self, content: bytes | None) -> list[Subscription]:
        try:
            return read_subscriptions(content, FEEDS) if content is not None else []
        except UnreadableFile as error:
            raise ConfigurationError(
                f"Cannot read {self._file.place} ({error}). Restore it from a backup, or delete "
                "it to unfollow all feeds."
            ) from error


def _written(subscriptions: Sequence[Subscription], *, is_more: bool) -> bytes:
    """Serialise the subscriptions.

    Raises:
        InputError: subscriptions were added, and the file would be too large to be read.
    """
    written = write_subscriptions(subscriptions)
    if is_more and len(written) > MAX_BYTES:
        raise InputError(
            "The list of feeds would be larger than {most}. Unfollow some feeds first.",
            most=show_size(MAX_BYTES),
        )
    return written


def _is_due(followed: FollowedFeed, now: datetime) -> bool:
    state = followed.state
    return state is None or (state.due_at <= now and not state.is_gone)


def _each_once(subscriptions: Iterable[Subscription]) -> list[Subscription]:
    by_url: dict[str, Subscription] = {}
    for each in subscriptions:
        by_url.setdefault(each.url, each)
    return [*by_url.values()]
