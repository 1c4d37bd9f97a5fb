"""Followed feeds."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

NO_FEED: Final = "no-feed"
"""The reason where what is there is none."""
_SOURCE: Final = "feed:"


def source_of(feed: str) -> str:
    """The source of what a feed brought.

    >>> source_of("http://a.example/feed")
    'feed:http://a.example/feed'
    """
    return _SOURCE + feed


def feed_of(source: str) -> str:
    """The feed that brought what has a source; empty where a person saved it."""
    return source.removeprefix(_SOURCE) if source.startswith(_SOURCE) else ""


@dataclass(frozen=True, slots=True)
class Subscription:
    """A feed that somebody follows.

    Attributes:
        url: of the feed, serialised.
        title: of the feed; empty until it is known.
        home: of the page it belongs to; empty if none is known.
        tags: which what comes is given.
        since: items of before are left alone (aware, UTC); None where all are wanted.
    """

    url: str
    title: str = ""
    home: str = ""
    tags: tuple[str, ...] = ()
    since: datetime | None = None


@dataclass(frozen=True, slots=True)
class FeedState:
    """How it went the last time.

    Attributes:
        checked_at: when that was (aware, UTC).
        due_at: when the next time is.
        failures: how often it went wrong in a row.
        problem: what went wrong, in words; empty if nothing did.
        reason: the same as entries are grouped by it: a kind, with the status where there was
            one; or ``no-feed``.
        is_gone: the server says that there is no such feed any more; it is not asked again.
        etag: as the server sent it.
        modified: ``Last-Modified`` as the server sent it.
        brought: how many links it has brought so far.
    """

    checked_at: datetime
    due_at: datetime
    failures: int = 0
    problem: str = ""
    reason: str = ""
    is_gone: bool = False
    etag: str = ""
    modified: str = ""
    brought: int = 0


@dataclass(frozen=True, slots=True)
class FollowedFeed:
    """A subscription, and how it stands; None before the first look."""

    subscription: Subscription
    state: FeedState | None
