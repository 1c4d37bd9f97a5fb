"""Reader view of an entry."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from archiver.db import entries
from archiver.db.engine import Database
from archiver.errors import InputError, InvalidQuery, NotFound
from archiver.model.annotation import Highlight
from archiver.model.capture import HashUrl
from archiver.model.listing import ListingQuery
from archiver.model.page import Heading
from archiver.pages.article_text import to_text
from archiver.pages.highlight_anchors import anchor
from archiver.pages.shown_article import ArticleTree, Span
from archiver.search.query_parser import parse_query
from archiver.search.snippets import match_positions
from archiver.search.words import words_of
from archiver.services.entries import Entries, EntryDetail, SnapshotDetail, hash_urls_of
from archiver.services.search import Neighbours, Search
from archiver.services.user_files import READING, user_file

MAX_LINKS = 2_000
"""Maximum number of links of an article that are looked up in the archive."""

LEAST_HEADINGS = 3
"""Minimum number of headings for which a table of contents is shown."""


@dataclass(frozen=True, slots=True)
class PlacedHighlight:
    """A highlight, and whether it was found in the shown article."""

    highlight: Highlight
    is_placed: bool


@dataclass(frozen=True, slots=True)
class Reading:
    """Data of the reader view.

    Attributes:
        detail: the entry and its snapshots.
        shown: the shown snapshot; None if the entry has no snapshot.
        article: article of the snapshot, ready to be shown; None if there is none.
        word_count: number of words of the article, the same as in lists of entries.
        outline: headings of the article, if there are enough for a table of contents.
        hits: number of matches of a query in the article. The query is that of the list from which
            the entry was opened; 0 without such a list.
        neighbours: previous and next entry in that list; None without a list.
        highlights: highlights in the order of the text; those not found in the article come last.
    """

    detail: EntryDetail
    shown: SnapshotDetail | None
    article: ArticleTree | None = None
    word_count: int = 0
    outline: tuple[Heading, ...] = ()
    hits: int = 0
    neighbours: Neighbours | None = None
    highlights: tuple[PlacedHighlight, ...] = ()


MAX_PLACES = 300
"""Maximum number of stored positions; the least recently read articles are dropped."""


@dataclass(frozen=True, slots=True)
class ReadingPlace:
    """Position up to which an article was read.

    Attributes:
        block: number of the paragraph at the top of the window.
        percent: position in the article in percent.
    """

    block: int
    percent: int


class ReadingPlaces:
    """Positions in partly read articles, for all devices of the user."""

    def __init__(self, data: Path, db: Database) -> None:
        self._file = user_file(data, READING, db)

    async def all(self) -> dict[str, ReadingPlace]:
        """Return the positions by hash_url, the last read first."""
        return _places_in(await self._file.read())

    async def put(self, key: HashUrl, place: ReadingPlace) -> None:
        """Store a position.

        If it is at the start or near the end of the article, remove the stored position instead.
        """

        def rewrite(before: bytes | None) -> bytes:
            remaining = {name: each for name, each in _places_in(before).items() if name != key}
            is_partly_read = place.block > 0 and place.percent < READ_PERCENT
            places = {key: place, **remaining} if is_partly_read else remaining
            newest_places = [*places.items()][:MAX_PLACES]
            return json.dumps(
                [[name, each.block, each.percent] for name, each in newest_places]
            ).encode()

        await self._file.change(rewrite)


READ_PERCENT = 97
"""Position in percent from which on an article counts as completely read."""


def _places_in(content: bytes | None) -> dict[str, ReadingPlace]:
    """Parse the stored positions, by hash_url; return an empty dict if the content is damaged."""
    try:
        return {
            str(key): ReadingPlace(int(block), int(percent))
            for key, block, percent in json.loads(content or b"[]")
        }
    except (ValueError, TypeError):
        return {}


class Reader:
    """Reader view of entries."""

    def __init__(self, db: Database, entries_: Entries, search: Search) -> None:
        self._db = db
        self._entries = entries_
        self._search = search

    async def open(
        self,
        ref: str,
        timestamp: str | None = None,
        *,
        listed: ListingQuery | None = None,
        past: Sequence[str] = (),
    ) -> Reading:
        """Return an entry at its newest snapshot, or the one closest to a timestamp.

        Args:
            ref: hash_url or URL.
            timestamp: 4 to 14 digits, or None.
            listed: the list from which the entry was opened.
            past: hash_urls of the neighbours when the entry was opened. They are used if the entry
                has left the list since.

        Raises:
            NotFound: there is no such entry.
            InputError: the timestamp is invalid.
        """
        detail = await self._entries.get(ref)
        neighbours = await self._neighbours(detail.entry.hash_url, listed, past) if listed else None
        try:
            snapshot = await self._entries.snapshot(ref, timestamp)
        except NotFound:
            return Reading(detail, None, neighbours=neighbours)
        reading = Reading(detail, snapshot, neighbours=neighbours)
        if not snapshot.article:
            return reading
        article = await asyncio.to_thread(shown_article, snapshot)
        archived_links = await self._archived_links(snapshot.entry.hash_url, article)
        q = listed.q if listed and neighbours else ""
        return await asyncio.to_thread(_prepared, reading, article, archived_links, q)

    async def _neighbours(
        self, key: HashUrl, listed: ListingQuery, past: Sequence[str]
    ) -> Neighbours | None:
        try:
            return await self._search.neighbours(listed, key, past)
        except (InvalidQuery, InputError):
            return None

    async def _archived_links(
        self, article_hash: HashUrl, article: ArticleTree
    ) -> dict[str, HashUrl]:
        """Return the hash_urls of other archived entries that an article links to, by link URL."""
        named = hash_urls_of(article.links(MAX_LINKS))
        async with self._db.read() as conn:
            archived = await entries.latest_of(conn, [*{*named.values()}])
        return {url: key for url, key in named.items() if key in archived and key != article_hash}


def _prepared(
    reading: Reading, article: ArticleTree, archived_links: Mapping[str, HashUrl], q: str
) -> Reading:
    snapshot = reading.shown
    if snapshot is None:
        return reading
    headings = article.add_heading_ids()
    article.link_to_entries(archived_links)
    text = article.text
    hits = article.places(match_positions(article.text_by_block(), parse_query(q))) if q else []
    marked = snapshot.entry.annotation.highlights
    anchored = anchor(text, marked) if marked else []
    spans = [_highlighted(each, at) for each, at in zip(marked, anchored, strict=True) if at]
    spans += [
        Span(start, end, first={} if n else {"id": "found"}) for n, (start, end) in enumerate(hits)
    ]
    article.mark(spans)
    placed = sorted(zip(marked, anchored, strict=True), key=lambda pair: pair[1] or (len(text), 0))
    return replace(
        reading,
        article=article,
        word_count=len(words_of(to_text(snapshot.article))),
        outline=headings if len(headings) >= LEAST_HEADINGS else (),
        hits=len(hits),
        highlights=tuple(PlacedHighlight(each, at is not None) for each, at in placed),
    )


def shown_article(snapshot: SnapshotDetail) -> ArticleTree:
    """Parse the article of a snapshot as it is shown; positions of highlights refer to its text."""
    article = ArticleTree(snapshot.article)
    article.drop_title(snapshot.entry.title or snapshot.entry.url)
    return article


def _highlighted(each: Highlight, place: tuple[int, int]) -> Span:
    attributes = {"class": f"hl-{each.colour}", "data-highlight": each.id}
    if each.note:
        attributes["title"] = each.note
    return Span(*place, attributes, {"id": f"hl-{each.id}"})
