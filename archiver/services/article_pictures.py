"""The pictures that an article shows, as far as the archive has them."""

import asyncio
from collections.abc import Sequence

from archiver.books.epub import PICTURES
from archiver.books.pictures import candidates
from archiver.errors import ArchiverError
from archiver.index import captures
from archiver.index.database import Database
from archiver.model.capture import Capture, Timestamp
from archiver.model.chapter import Picture
from archiver.store.segments import SegmentStore
from archiver.warc.http_block import open_payload
from archiver.wire.coding import decode
from archiver.wire.media_type import declared_media_type
from archiver.wire.sniff import sniff

MOST_PICTURES = 300
MOST_PICTURE_BYTES = 10 << 20
MOST_ARTICLE_BYTES = 40 << 20
"""Of the pictures of one article; what comes after is left out."""
_MOST_HOPS = 5
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
