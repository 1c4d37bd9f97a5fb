"""An entry as it is read: its article with a way through it, and the list it was opened from."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape

from archiver.errors import InputError, InvalidQuery, InvalidUrl, NotFound
from archiver.html.anchoring import anchor
from archiver.html.flow import Flow, Span
from archiver.html.outline import LEAST, outline
from archiver.html.text import to_text
from archiver.index import entries
from archiver.index.database import Database
from archiver.model.capture import HashUrl
from archiver.model.highlight import Highlight
from archiver.model.listing import ListingQuery
from archiver.model.outline import Heading
from archiver.query.parse import parse_query
from archiver.query.snippet import places
from archiver.query.words import words_of
from archiver.rewrite.article import lead_to_entries, links_of, without_title
from archiver.services.entries import Entries, EntryDetail, SnapshotDetail
from archiver.services.search import Beside, Search
from archiver.urls.parse import hash_url, parse_url

MOST_LINKS = 2_000
"""Of an article, that are looked up in the archive."""


@dataclass(frozen=True, slots=True)
class PlacedHighlight:
    """A highlight, and whether its words stand in the article that is shown."""

    highlight: Highlight
    is_placed: bool


@dataclass(frozen=True, slots=True)
class Reading:
    """An entry to be read.

    Attributes:
        detail: the entry and its snapshots.
        shown: the snapshot that is read, its article made ready; None if there is none.
        word_count: of its article, as lists count them.
        outline: its headings, where there are enough for a table of contents.
        hits: how often words of the search that led here stand in it.
        beside: the list it was opened from, if it is in one.
        highlights: what was marked in it, in the order of its text; what has no place comes last.
    """

    detail: EntryDetail
    shown: SnapshotDetail | None
    word_count: int = 0
    outline: tuple[Heading, ...] = ()
    hits: int = 0
    beside: Beside | None = None
    highlights: tuple[PlacedHighlight, ...] = ()


class Reader:
    """Entries to be read."""

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
        """An entry at its newest snapshot, or at the one nearest to a moment.

        Args:
            ref: hash_url or URL.
            timestamp: 4 to 14 digits, or None.
            listed: the list it was opened from.
            past: hash_urls of what stood before and behind it there.

        Raises:
            NotFound: there is no such entry.
            InputError: that is not a timestamp.
        """
        detail = await self._entries.get(ref)
        beside = await self._beside(detail.entry.hash_url, listed, past) if listed else None
        try:
            shown = await self._entries.snapshot(ref, timestamp)
        except NotFound:
            return Reading(detail, None, beside=beside)
        held = await self._held(shown)
        q = listed.q if listed and beside else ""
        return await asyncio.to_thread(_made_ready, Reading(detail, shown, beside=beside), held, q)

    async def _beside(
        self, key: HashUrl, listed: ListingQuery, past: Sequence[str]
    ) -> Beside | None:
        try:
            return await self._search.beside(listed, key, past)
        except (InvalidQuery, InputError):
            return None

    async def _held(self, shown: SnapshotDetail) -> dict[str, HashUrl]:
        """The entries that an article links to and that there is a snapshot of, by address."""
        named = {}
        for url in await asyncio.to_thread(links_of, shown.article, MOST_LINKS):
            try:
                named[url] = hash_url(parse_url(url))
            except InvalidUrl:
                continue
        async with self._db.read() as conn:
            known = await entries.latest_of(conn, [*{*named.values()}])
        own = shown.entry.hash_url
        return {url: key for url, key in named.items() if key in known and key != own}


def _made_ready(reading: Reading, held: Mapping[str, HashUrl], q: str) -> Reading:
    shown = reading.shown
    if shown is None or not shown.article:
        return reading
    article, headings = outline(article_of(shown))
    article = lead_to_entries(article, held)
    flow = Flow(article)
    hits = flow.places(places(flow.spaced(), parse_query(q))) if q else []
    marked = shown.entry.annotation.highlights
    anchored = anchor(flow.text, marked)
    spans = [_highlighted(each, at) for each, at in zip(marked, anchored, strict=True) if at]
    spans += [Span(start, end, "<mark>", _first(n)) for n, (start, end) in enumerate(hits)]
    placed = sorted(
        zip(marked, anchored, strict=True), key=lambda pair: pair[1] or (len(flow.text), 0)
    )
    return replace(
        reading,
        shown=replace(
            shown, article=flow.marked(spans) if spans else lead_to_entries(article, held)
        ),
        word_count=len(words_of(to_text(shown.article))),
        outline=headings if len(headings) >= LEAST else (),
        hits=len(hits),
        highlights=tuple(PlacedHighlight(each, at is not None) for each, at in placed),
    )


def article_of(shown: SnapshotDetail) -> str:
    """The article of a snapshot as it is shown: its text is what places in it are counted in."""
    return without_title(shown.article, shown.entry.title or shown.entry.url)


def _highlighted(each: Highlight, place: tuple[int, int]) -> Span:
    tag = f'<mark class="hl-{each.colour}" title="{escape(each.note)}"'
    return Span(*place, f"{tag}>", f'{tag} id="hl-{each.id}">')


def _first(n: int) -> str:
    """The tag by which the first hit is led to."""
    return "" if n else '<mark id="found">'
