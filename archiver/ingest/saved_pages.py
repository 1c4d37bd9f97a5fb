"""Pages that came with a list of links: what a service had kept of one becomes a dated snapshot.

It is written by the crawl's own recorder as a response whose head was made here, at the day the
link was saved, with where it came from in its record. A later capture stands beside it.
"""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from html import escape
from io import BytesIO

from archiver.crawl.context import CrawlContext
from archiver.errors import InvalidUrl
from archiver.index import entries
from archiver.ingest.exchanges import ForeignCapture, pieces_of
from archiver.ingest.intake import Intake
from archiver.ingest.pages import PageIntake
from archiver.ingest.placing import ForeignPage
from archiver.memento.timestamps import to_timestamp
from archiver.model.capture import PayloadDigest, Timestamp
from archiver.model.exchange import Exchange
from archiver.model.job import State
from archiver.model.saved_page import SavedPage
from archiver.urls.parse import parse_url
from archiver.warc.digest import digest_of
from archiver.warc.extension import HEAD, ORIGIN, SYNTHESISED, handed_in_field, one_line
from archiver.wire.head import parse_head
from archiver.wire.media_type import essence_of, parse_media_type
from archiver.wire.sniff import is_html

AT_ONCE = 64
_WHOLE = b"<html"
_LOOKED_AT = 4096


class SavedPageIntake:
    """Takes such pages in; ``context`` has a recorder that runs and is nobody else's."""

    def __init__(self, context: CrawlContext) -> None:
        self._context = context
        self._intake = Intake(context)
        self._pages = PageIntake(context)

    async def take(
        self,
        found: Sequence[SavedPage],
        origin: str,
        *,
        import_id: int | None = None,
        handed_in: datetime | None = None,
    ) -> int:
        """Make snapshots of pages, each once; returns how many are new, when they are durable.

        Args:
            found: their entries may be there already.
            origin: where they came from, for their records.
            import_id: the import of their links.
            handed_in: when somebody handed them in, if they came that way.
        """
        fields = ((HEAD, SYNTHESISED), (ORIGIN, one_line(origin)), *handed_in_field(handed_in))
        made = 0
        for start in range(0, len(found), AT_ONCE):
            some = await self._wanted(found[start : start + AT_ONCE])
            captures = await asyncio.to_thread(_captures, some, fields)
            await self._intake.captures([each for page in captures for each in page])
            await self._context.recorder.drain()
            ends = [
                await self._pages.take(
                    ForeignPage(_timestamp(each), each.seed, digests[0], import_id=import_id)
                )
                for each, digests in zip(some, _digests(captures), strict=True)
            ]
            for end in filter(None, ends):
                await end
                made += 1
        return made

    async def _wanted(self, found: Sequence[SavedPage]) -> list[SavedPage]:
        """Those with a date; others where nothing is kept yet, else each import would add one."""
        async with self._context.db.read() as conn:
            states = await entries.states_of(conn, [each.seed.hash_url for each in found])
        return [
            each
            for each in found
            if each.is_dated or states.get(each.seed.hash_url) is not State.SAVED
        ]


def _captures(
    pages: Sequence[SavedPage], fields: tuple[tuple[str, str], ...]
) -> list[list[ForeignCapture]]:
    """Of each page its own capture, then those of what it needs."""
    return [[*_of_page(each, fields)] for each in pages]


def _digests(captures: Sequence[Sequence[ForeignCapture]]) -> list[list[PayloadDigest]]:
    return [[each.exchange.payload_digest for each in page] for page in captures]


def _of_page(page: SavedPage, fields: tuple[tuple[str, str], ...]) -> Iterator[ForeignCapture]:
    at, kept = page.seed.annotation.saved_at, page.page
    yield _capture(page.seed.url, kept.media_type, _document(page), at, fields)
    seen = {page.seed.url}
    for part in kept.parts:
        with suppress(InvalidUrl):
            url = parse_url(part.url)
            if url not in seen:
                seen.add(url)
                yield _capture(url, part.media_type, part.content, at, fields)


def _capture(
    url: str,
    media_type: str,
    content: bytes,
    at: datetime,
    fields: tuple[tuple[str, str], ...],
) -> ForeignCapture:
    body = BytesIO(content)
    digest, length = digest_of(pieces_of(body))
    lines = (
        "HTTP/1.1 200 OK",
        f"Content-Type: {one_line(media_type)}",
        f"Content-Length: {length}",
    )
    head = "\r\n".join((*lines, "", "")).encode("latin-1", "replace")
    exchange = Exchange(
        url=url,
        at=at,
        ip="",
        request=b"",
        head=head,
        body=body,
        chunked=False,
        status=200,
        headers=parse_head(head).headers,
        payload_digest=digest,
        payload_length=length,
        fields=fields,
    )
    return ForeignCapture(exchange, "")


def _document(page: SavedPage) -> bytes:
    """The page as it came, or a page around what is the article alone."""
    content = page.page.content
    if not is_html(essence_of(parse_media_type(page.page.media_type))):
        return content
    if _WHOLE in content[:_LOOKED_AT].lower():
        return content
    title = escape(page.seed.annotation.title)
    head = f'<head><meta charset="utf-8"><title>{title}</title></head>'
    heading = f"<h1>{title}</h1>" if title else ""
    before = f"<!DOCTYPE html>\n<html>{head}\n<body><article>{heading}\n"
    return before.encode("utf-8", "replace") + content + b"\n</article></body></html>\n"


def _timestamp(page: SavedPage) -> Timestamp:
    return to_timestamp(page.seed.annotation.saved_at)
