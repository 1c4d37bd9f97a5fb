"""Articles to take away, of an entry or of a list, as one page or as a book, pictures included."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import UTC, datetime
from typing import IO

from archiver.books import page
from archiver.books.epub import PICTURES, Epub
from archiver.books.pictures import candidates
from archiver.errors import ArchiverError, InputError, NotFound
from archiver.html.colours import plain
from archiver.index import captures, entries
from archiver.index.database import Database
from archiver.model.capture import Capture, Timestamp
from archiver.model.chapter import Chapter, Picture
from archiver.scratch import scratch_file
from archiver.services.entries import Entries
from archiver.services.manifest import Manifest, Selected, draw_up
from archiver.store.segments import SegmentStore
from archiver.warc.http_block import open_payload
from archiver.wire.coding import decode
from archiver.wire.media_type import declared_media_type
from archiver.wire.sniff import sniff

MOST_ARTICLES = 2_000
"""Of one book or page."""
MOST_PICTURES = 300
MOST_PICTURE_BYTES = 10 << 20
MOST_ARTICLE_BYTES = 40 << 20
"""Of the pictures of one article; what comes after is left out."""
MOST_BYTES = 1 << 30
"""Of all pictures."""
PIECE = 256 << 10
_MOST_HOPS = 5
_SHOWN = frozenset(PICTURES) | {"image/avif", "image/bmp", "image/x-icon"}


class Books:
    """Writes articles as one page, or as a book."""

    def __init__(self, db: Database, store: SegmentStore) -> None:
        self._db = db
        self._store = store
        self._entries = Entries(db, store)

    async def begin(self, selected: Selected) -> Manifest:
        """What is written, whatever happens until it is.

        Raises:
            NotFound: there is nothing of the kind.
            InputError: these are too many articles, or what is selected makes no sense.
        """
        manifest = await draw_up(self._db, selected)
        if not manifest.entries:
            raise NotFound("There is nothing to write: no entry is meant by that.")
        if len(manifest.entries) > MOST_ARTICLES:
            raise InputError(
                f"These are {len(manifest.entries):,} articles; {MOST_ARTICLES:,} is the most that "
                "one file takes. Narrow the list with a search, such as tag:… or added:2024."
            )
        return manifest

    async def html(
        self, manifest: Manifest, *, title: str, at: str | None = None
    ) -> AsyncGenerator[bytes, None]:
        """One page with all in it."""
        async with self._db.read() as conn:
            known = await entries.by_ids(conn, manifest.entries)
        titles = [
            known[each].title or known[each].url for each in manifest.entries if each in known
        ]
        name = titles[0] if len(titles) == 1 else title
        yield page.opening(name, titles).encode("utf-8", "replace")
        number = 0
        async for chapter in self._chapters(manifest, at):
            number += 1
            made = await asyncio.to_thread(page.article, chapter, number)
            yield made.encode("utf-8", "replace")
        yield page.CLOSING.encode()

    async def epub(
        self, manifest: Manifest, *, title: str, at: str | None = None
    ) -> AsyncGenerator[bytes, None]:
        """A book. It is written to a temporary file first."""
        async with AsyncExitStack() as stack:
            file = stack.enter_context(await asyncio.to_thread(_temporary))
            book: Epub | None = None
            async for chapter in self._chapters(manifest, at):
                if book is None:
                    alone = manifest.selected.hash_url is not None
                    book = Epub(
                        file,
                        title=chapter.title if alone else title,
                        identifier=chapter.url if alone else f"urn:archiver:{title}",
                        modified=datetime.now(UTC),
                    )
                await asyncio.to_thread(book.add, chapter)
            if book:
                await asyncio.to_thread(book.close)
            await asyncio.to_thread(file.seek, 0)
            while data := await asyncio.to_thread(file.read, PIECE):
                yield data

    async def _chapters(self, manifest: Manifest, at: str | None) -> AsyncIterator[Chapter]:
        left = MOST_BYTES
        for row in manifest.entries:
            async with self._db.read() as conn:
                entry = (await entries.by_ids(conn, [row])).get(row)
            if entry is None:
                continue
            said = Chapter(
                entry.title or entry.url, entry.url, None, "", note=entry.annotation.note
            )
            try:
                shown = await self._entries.snapshot(entry.hash_url, at)
            except ArchiverError:
                yield said
                continue
            kept = shown.snapshot
            html = await asyncio.to_thread(plain, shown.article)
            pictures = await self._pictures(html, kept.timestamp, min(left, MOST_ARTICLE_BYTES))
            left -= sum(len(each.data) for each in pictures.values())
            yield replace(
                said,
                captured=kept.timestamp,
                html=html,
                byline=kept.byline,
                site=kept.site,
                published=kept.published,
                language=kept.language,
                pictures=pictures,
            )

    async def _pictures(self, html: str, moment: Timestamp, left: int) -> dict[str, Picture]:
        found: dict[str, Picture] = {}
        wanted = [each for each in candidates(html) if each][:MOST_PICTURES]
        for urls in wanted:
            if found.keys().isdisjoint(urls) and (held := await self._first(urls, moment)):
                url, picture = held
                if len(picture.data) <= left:
                    left -= len(picture.data)
                    found[url] = picture
        return found

    async def _first(self, urls: Sequence[str], moment: Timestamp) -> tuple[str, Picture] | None:
        """The first of these that the archive has, as it was then."""
        for url in urls:
            if captured := await self._captured(url, moment):
                picture = await asyncio.to_thread(self._picture, captured)
                if picture:
                    return url, picture
        return None

    async def _captured(self, url: str, moment: Timestamp) -> Capture | None:
        """The capture whose record has the payload, redirects followed."""
        async with self._db.read() as conn:
            found = await captures.nearest(conn, url, moment)
            for _ in range(_MOST_HOPS):
                if found is None or not found.redirect_to:
                    break
                found = await captures.nearest(conn, found.redirect_to, moment)
            if found is None or found.status != 200:
                return None
            if found.is_revisit:
                found = await captures.original_of(conn, found.payload_digest)
        return found

    def _picture(self, capture: Capture) -> Picture | None:
        if capture.payload_length > MOST_PICTURE_BYTES:
            return None
        try:
            head, pieces = open_payload(self._store.read(capture.location))
            coding = head.combined("content-encoding")
            data = b"".join(decode(pieces, coding, limit=MOST_PICTURE_BYTES))
        except ArchiverError:
            return None
        kind = sniff(declared_media_type(head.headers), data[:1024])
        return Picture(kind, data) if kind in _SHOWN else None


def _temporary() -> IO[bytes]:
    return scratch_file()
