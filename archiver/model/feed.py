"""Followed feeds."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

NO_FEED: Final = "no-feed"
"""Failure reason for a URL that does not return a feed."""
_SOURCE: Final = "feed:"


def source_of(feed: str) -> str:
    """Return the source that is stored with the entries from a feed.

    >>> source_of("http://a.example/feed")
    'feed:http://a.example/feed'
    """
    return _SOURCE + feed


def feed_of(source: str) -> str:
    """Return the feed URL of a source; empty if a user saved the entry."""
    return source.removeprefix(_SOURCE) if source.startswith(_SOURCE) else ""


@dataclass(frozen=True, slots=True)
class Subscription:
    """A followed feed.

    Attributes:
        url: serialised URL of the feed.
        title: title of the feed; empty until it is known.
        home: URL of the page that the feed belongs to; empty if unknown.
        tags: tags that entries from this feed get.
        since: items before this time are ignored (aware, UTC); None to save all.
    """

    url: str
    title: str = ""
    home: str = ""
    tags: tuple[str, ...] = ()
    since: datetime | None = None


@dataclass(frozen=True, slots=True)
class FeedState:
    """Result of the last check of a feed.

    Attributes:
        checked_at: time of the last check (aware, UTC).
        due_at: time of the next check.
        failures: consecutive failures.
        problem: error message; empty if the check succeeded.
        reason: failure reason for grouping (kind and HTTP status), or ``no-feed``.
        is_gone: the server answered that the feed is permanently gone; it is not checked again.
        etag: ``ETag`` as received.
        modified: ``Last-Modified`` as received.
        saved_count: number of links saved from the feed so far.
    """

    checked_at: datetime
    due_at: datetime
    failures: int = 0
    problem: str = ""
    reason: str = ""
    is_gone: bool = False
    etag: str = ""
    modified: str = ""
    saved_count: int = 0


@dataclass(frozen=True, slots=True)
class FollowedFeed:
    """A subscription and the state of its feed, which is None before the first check."""

    subscription: Subscription
    state: FeedState | None
