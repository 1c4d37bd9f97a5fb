"""The pictures that an article shows, as far as the archive has them."""

import asyncio
from collections.abc import Sequence

from archiver.books.epub import PICTURES
from archiver.books.pictures import candidates
from archiver.index.database import Database
from archiver.ledger.shown_payload import holder_at, read_payload
from archiver.model.capture import Capture, Timestamp
from archiver.model.chapter import Picture
from archiver.store.segments import SegmentStore

MOST_PICTURES = 300
MOST_PICTURE_BYTES = 10 << 20
MOST_ARTICLE_BYTES = 40 << 20
"""Of the pictures of one article; what comes after is left out."""
_SHOWN = frozenset(PICTURES) | {"image/avif", "image/bmp", "image/x-icon"}


class ArticlePictures:
    """Finds pictures of articles."""

    def __init__(self, db: Database, store: SegmentStore) -> None:
        self._db = db
        self._store = store

    async def of(
        self, html: str, moment: Timestamp, *, most: int = MOST_ARTICLE_BYTES
    ) -> dict[str, Picture]:
        """By address, as they were at a moment.

        Args:
            html: of the article, sanitised.
            moment: of its snapshot.
            most: bytes of all together; what comes after is left out.
        """
        left = min(most, MOST_ARTICLE_BYTES)
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
            async with self._db.read() as conn:
                holder = await holder_at(conn, url, moment)
            if holder and (picture := await asyncio.to_thread(self._picture, holder)):
                return url, picture
        return None

    def _picture(self, holder: Capture) -> Picture | None:
        found = read_payload(self._store, holder, MOST_PICTURE_BYTES)
        is_shown = found is not None and found.media_type in _SHOWN
        return Picture(found.media_type, found.content) if found and is_shown else None
