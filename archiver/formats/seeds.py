"""From what a person gave to a seed: a URL that can be used, and texts of bounded length."""

from datetime import datetime

from archiver.model.bookmark import Bookmark
from archiver.model.seed import Seed
from archiver.urls.parse import hash_url, host, parse_url
from archiver.wire.text import well_formed

MOST_TAGS = 100
MOST_TAG_CHARACTERS = 100
MOST_TITLE = 2000
MOST_NOTE = 100_000


def make_wish(
    given: str,
    *,
    added_at: datetime,
    title: str = "",
    tags: tuple[str, ...] = (),
    note: str = "",
    source: str,
) -> Seed:
    """A seed for a URL as it was given.

    Raises:
        InvalidUrl: it can't be kept.
    """
    url = parse_url(given)
    return Seed(
        hash_url=hash_url(url),
        url=url,
        url_given=given,
        host=host(url),
        added_at=added_at,
        title=title,
        tags=tags,
        note=note,
        source=source,
    )


def wish_of(bookmark: Bookmark, *, source: str, now: datetime) -> Seed:
    """A seed for a bookmark, its texts cut where they are too long.

    Raises:
        InvalidUrl: its URL can't be kept.
    """
    tags = (
        " ".join(well_formed(tag).split())[:MOST_TAG_CHARACTERS]
        for tag in bookmark.tags[:MOST_TAGS]
    )
    return make_wish(
        bookmark.url,
        added_at=bookmark.added_at or now,
        title=well_formed(bookmark.title.strip()[:MOST_TITLE]),
        tags=tuple(dict.fromkeys(filter(None, tags))),
        note=well_formed(bookmark.note.strip()[:MOST_NOTE]),
        source=source,
    )
