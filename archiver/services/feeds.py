"""Lists that others follow: what is newest in one, as a feed."""

from dataclasses import replace
from enum import StrEnum

from archiver.formats.feeds import Feed, FeedItem, write_atom, write_json_feed
from archiver.model.listing import ListingQuery, Sort
from archiver.services.search import Search

ITEMS = 50


class FeedForm(StrEnum):
    """The forms of a feed."""

    ATOM = "atom"
    JSON = "json"


class Feeds:
    """Feeds of lists."""

    def __init__(self, search: Search) -> None:
        self._search = search

    async def write(
        self, query: ListingQuery, form: FeedForm, *, origin: str, path: str, home: str
    ) -> bytes:
        """The newest entries of a list as a feed.

        Args:
            query: which list; its order and page do not matter.
            form: of the feed.
            origin: ``http(s)://host[:port]`` of the service.
            path: of the feed.
            home: the path of the list as a page.

        Raises:
            InvalidQuery: the query can't be read.
        """
        newest = replace(query, sort=Sort.NEWEST, after="", limit=ITEMS)
        listing = await self._search.listing(newest)
        items = [FeedItem(each.entry, each.entry.changed_at) for each in listing.items]
        feed = Feed(_title(query), origin, path, home, items)
        return write_atom(feed) if form is FeedForm.ATOM else write_json_feed(feed)


def _title(query: ListingQuery) -> str:
    parts = (query.q, query.tag, query.host, query.status)
    asked = " ".join(each for each in parts if each)
    return f"archiver: {asked}" if asked else "archiver"
