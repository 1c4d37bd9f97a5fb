"""Articles to take away, of an entry or of a list, as one page or as a book, pictures included."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import UTC, datetime
from typing import IO

from archiver.books import page
from archiver.books.epub import Epub
from archiver.errors import InputError, NotFound
from archiver.html.colours import plain
from archiver.index import entries
from archiver.index.database import Database
from archiver.model.chapter import Chapter
from archiver.model.entry import Entry, Snapshot
from archiver.scratch import scratch_file
from archiver.services.article_pictures import ArticlePictures
from archiver.services.entries_shown import EntriesShown
from archiver.services.manifest import Manifest, Selected, draw_up
from archiver.store.segments import SegmentStore

MOST_ARTICLES = 2_000
"""Of one book or page."""
MOST_BYTES = 1 << 30
"""Of all pictures."""
PIECE = 256 << 10


class Books:
    """Writes articles as one page, or as a book."""

    def __init__(self, db: Database, store: SegmentStore) -> None:
        self._db = db
        self._store = store
        self._shown = EntriesShown(db, store)
        self._pictures = ArticlePictures(db, store)

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
                "These are {count} articles; {most} is the most that one file takes. Narrow "
                "the list with a search, such as tag:… or added:2024.",
                count=len(manifest.entries),
                most=MOST_ARTICLES,
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
        async for entry, shown in self._shown.each(manifest.entries, at):
            if shown is None:
                yield chapter_of(entry, None, "")
                continue
            html = await asyncio.to_thread(plain, shown.article)
            pictures = await self._pictures.of(html, shown.snapshot.timestamp, most=left)
            left -= sum(len(each.data) for each in pictures.values())
            yield replace(chapter_of(entry, shown.snapshot, html), pictures=pictures)


def chapter_of(entry: Entry, snapshot: Snapshot | None, html: str) -> Chapter:
    """An entry as a chapter, without pictures; of one that has no snapshot what a person said."""
    title, note = entry.title or entry.url, entry.annotation.note
    if snapshot is None:
        return Chapter(title, entry.url, None, "", note=note)
    return Chapter(
        title,
        entry.url,
        snapshot.timestamp,
        html,
        byline=snapshot.byline,
        site=snapshot.site,
        published=snapshot.published,
        language=snapshot.language,
        note=note,
    )


def _temporary() -> IO[bytes]:
    return scratch_file()
