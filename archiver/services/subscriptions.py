"""Feeds that are followed: which they are, as one file beside the archive says."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from archiver.errors import ConfigurationError, InputError, NotFound, UnreadableFile
from archiver.formats.subscription_list import (
    MOST_BYTES,
    MOST_FEEDS,
    read_subscriptions,
    write_subscriptions,
)
from archiver.index import followed_feeds
from archiver.index.database import Database
from archiver.model.subscription import Followed, Subscription
from archiver.services.feed_looks import FeedLooks
from archiver.services.given_links import clean_tags
from archiver.services.user_files import FEEDS, user_file
from archiver.urls.parse import parse_url
from archiver.urls.pasted import with_scheme

CLAIM_SECONDS = 600
"""After it another machine may look at a feed that one of them was to look at."""
_Change = Callable[[list[Subscription]], list[Subscription]]


class Subscriptions:
    """The feeds of an archive."""

    def __init__(self, data: Path, db: Database, looks: FeedLooks) -> None:
        self._file = user_file(data, FEEDS, db)
        self._db = db
        self._looks = looks

    async def all(self) -> list[Followed]:
        """Every feed with how it stands, in the order they were taken up.

        Raises:
            ConfigurationError: the file can't be read.
        """
        held = await self._held()
        async with self._db.read() as conn:
            states = await followed_feeds.states(conn)
        return [Followed(each, states.get(each.url)) for each in held]

    async def follow(
        self, given: str, tags: Sequence[str] = (), *, everything: bool = False
    ) -> Followed:
        """Follow a feed, or the first that a page names; what is new in it is captured.

        Args:
            given: the address of either.
            tags: which what comes is given.
            everything: whether what is in it now is captured too, also of one that is followed.

        Raises:
            InvalidUrl: that is no address.
            InputError: there is no feed, or it is followed already and nothing is asked for; the
                message says why.
        """
        url = parse_url(with_scheme(given))
        since = None if everything else datetime.now(UTC).replace(microsecond=0)
        found = await self._looks.find(url)
        wanted = replace(found, tags=clean_tags(tags), since=since)

        def add(held: list[Subscription]) -> list[Subscription]:
            if any(each.url == wanted.url for each in held):
                if everything:
                    return held
                raise InputError("{url} is followed already.", url=wanted.url)
            return [*held, wanted]

        await self._change(add)
        return await self.look(wanted.url, everything=everything)

    async def unfollow(self, given: str) -> None:
        """Follow a feed no more; what it brought stays.

        Raises:
            NotFound: it is not followed.
        """
        url = with_scheme(given)

        def remove(held: list[Subscription]) -> list[Subscription]:
            left = [each for each in held if each.url != url]
            if len(left) == len(held):
                raise NotFound("{url} is not followed.", url=url)
            return left

        await self._change(remove)
        async with self._db.write() as conn:
            await followed_feeds.forget(conn, url)

    async def take_in(self, content: bytes, name: str, *, everything: bool = False) -> int:
        """Follow the feeds of an OPML file too; how many of them are new.

        What is said of one that is followed already stays as it is.

        Raises:
            InputError: it is too large, no OPML, or names no feed.
        """
        if len(content) > MOST_BYTES:
            raise InputError("{name} is larger than {most} bytes.", name=name, most=MOST_BYTES)
        found = await asyncio.to_thread(read_subscriptions, content, name)
        if not found:
            raise InputError("{name} names no feed.", name=name)
        since = None if everything else datetime.now(UTC).replace(microsecond=0)
        wanted = [each if each.since else replace(each, since=since) for each in found]
        before = 0

        def add(held: list[Subscription]) -> list[Subscription]:
            nonlocal before
            before = len(held)
            return _each_once([*held, *wanted])

        return len(await self._change(add)) - before

    async def outline(self) -> bytes:
        """The feeds as OPML, for any feed reader.

        Raises:
            ConfigurationError: the file can't be read.
        """
        return write_subscriptions(await self._held())

    async def look(self, given: str, *, everything: bool = False) -> Followed:
        """Look at a feed now, whenever it is due; take what was in it before, too, if asked to.

        Raises:
            NotFound: it is not followed.
        """
        url = with_scheme(given)
        for each in await self.all():
            if each.subscription.url == url:
                return await self._look(each, everything=everything)
        raise NotFound("{url} is not followed.", url=url)

    async def look_at_all(self) -> list[Followed]:
        """Look at every feed now, but for those that are gone."""
        held = [each for each in await self.all() if not (each.state and each.state.is_gone)]
        return await self._looks.each(held, self._look)

    async def look_at_due(self) -> list[Followed]:
        """Look at the feeds whose time has come, and which no other machine looks at just now."""
        now = datetime.now(UTC)
        due = [each for each in await self.all() if _is_due(each, now)]
        if self._db.machine:
            async with self._db.write() as conn:
                urls = [each.subscription.url for each in due if each.state]
                mine = await followed_feeds.claim(conn, urls, now=now, seconds=CLAIM_SECONDS)
            due = [each for each in due if not each.state or each.subscription.url in mine]
        return await self._looks.each(due, self._look)

    async def keep_looking(self) -> None:
        """Look at each feed whenever it is due, for ever."""
        while True:
            await self.look_at_due()
            await asyncio.sleep(self._looks.pause)

    async def _look(self, followed: Followed, *, everything: bool = False) -> Followed:
        looked = await self._looks.look(followed, everything=everything)
        if looked.subscription != followed.subscription:
            await self._change(
                lambda held: _each_once(
                    looked.subscription if each.url == followed.subscription.url else each
                    for each in held
                )
            )
        return looked

    async def _change(self, change: _Change) -> list[Subscription]:
        after: list[Subscription] = []

        def rewrite(content: bytes | None) -> bytes | None:
            nonlocal after
            before = self._parse(content)
            after = change(before)
            if len(after) > MOST_FEEDS:
                raise InputError("{most} feeds are the most.", most=MOST_FEEDS)
            if after == before:
                return None
            return _written(after, is_more=len(after) > len(before))

        await self._file.change(rewrite)
        return after

    async def _held(self) -> list[Subscription]:
        return await asyncio.to_thread(self._parse, await self._file.read())

    def _parse(self, content: bytes | None) -> list[Subscription]:
        try:
            return read_subscriptions(content, FEEDS) if content is not None else []
        except UnreadableFile as error:
            raise ConfigurationError(
                f"{self._file.place} can't be read ({error}) Put back what was there, or delete "
                "it: then no feed is followed."
            ) from error


def _written(subscriptions: Sequence[Subscription], *, is_more: bool) -> bytes:
    """The file, which must be one that is read again."""
    written = write_subscriptions(subscriptions)
    if is_more and len(written) > MOST_BYTES:
        raise InputError("The list of feeds would be larger than {most} bytes.", most=MOST_BYTES)
    return written


def _is_due(followed: Followed, now: datetime) -> bool:
    state = followed.state
    return state is None or (state.due_at <= now and not state.is_gone)


def _each_once(subscriptions: Iterable[Subscription]) -> list[Subscription]:
    found: dict[str, Subscription] = {}
    for each in subscriptions:
        found.setdefault(each.url, each)
    return [*found.values()]
