"""Pages that came with a list of links: what a service had kept of one becomes a dated snapshot.

It is written by the crawl's own recorder as a response whose head was made here, at the day the
link was saved, with where it came from in its record. A later capture stands beside it.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from io import BytesIO

from archiver.crawl.context import CrawlContext
from archiver.index import entries
from archiver.ingest.exchanges import ForeignCapture, pieces_of
from archiver.ingest.intake import Intake
from archiver.ingest.pages import ForeignPage, PageIntake
from archiver.memento.timestamps import to_timestamp
from archiver.model.capture import Timestamp
from archiver.model.exchange import Exchange
from archiver.model.job import State
from archiver.model.seed import Seed
from archiver.warc.digest import digest_of
from archiver.warc.extension import HEAD, ORIGIN, SYNTHESISED, one_line
from archiver.wire.head import parse_head

AT_ONCE = 64
_WHOLE = "<html"
_LOOKED_AT = 4096


@dataclass(frozen=True, slots=True)
class SavedPage:
    """What a file held of one link.

    Attributes:
        seed: the link.
        html: of the page, or of its article alone.
        is_dated: whether the file tells when the link was saved.
    """

    seed: Seed
    html: str
    is_dated: bool


class SavedPageIntake:
    """Takes such pages in; ``context`` has a recorder that runs and is nobody else's."""

    def __init__(self, context: CrawlContext) -> None:
        self._context = context
        self._intake = Intake(context)
        self._pages = PageIntake(context)

    async def take(self, found: Sequence[SavedPage], origin: str, *, import_id: int) -> int:
        """Make snapshots of pages, each once; returns how many are new, when they are durable.

        Args:
            found: their entries may be there already.
            origin: where they came from, for their records.
            import_id: the import of their links.
        """
        made = 0
        for start in range(0, len(found), AT_ONCE):
            some = await self._wanted(found[start : start + AT_ONCE])
            captures = await asyncio.to_thread(_captures, some, origin)
            digests = [each.exchange.payload_digest for each in captures]
            await self._intake.captures(captures)
            await self._context.recorder.drain()
            ends = [
                await self._pages.take(
                    ForeignPage(_timestamp(each), each.seed, digest, import_id=import_id)
                )
                for each, digest in zip(some, digests, strict=True)
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


def _captures(pages: Sequence[SavedPage], origin: str) -> list[ForeignCapture]:
    return [_capture(each, origin) for each in pages]


def _capture(page: SavedPage, origin: str) -> ForeignCapture:
    body = BytesIO(_document(page).encode("utf-8", "replace"))
    digest, length = digest_of(pieces_of(body))
    lines = (
        "HTTP/1.1 200 OK",
        "Content-Type: text/html; charset=utf-8",
        f"Content-Length: {length}",
    )
    head = "\r\n".join((*lines, "", "")).encode()
    exchange = Exchange(
        url=page.seed.url,
        at=page.seed.annotation.saved_at,
        ip="",
        request=b"",
        head=head,
        body=body,
        chunked=False,
        status=200,
        headers=parse_head(head).headers,
        payload_digest=digest,
        payload_length=length,
        fields=((HEAD, SYNTHESISED), (ORIGIN, one_line(origin))),
    )
    return ForeignCapture(exchange, "")


def _document(page: SavedPage) -> str:
    """The page as it came, or a page around what is the article alone."""
    if _WHOLE in page.html[:_LOOKED_AT].lower():
        return page.html
    title = escape(page.seed.annotation.title)
    head = f'<head><meta charset="utf-8"><title>{title}</title></head>'
    heading = f"<h1>{title}</h1>" if title else ""
    return (
        f"<!DOCTYPE html>\n<html>{head}\n<body><article>{heading}\n{page.html}\n"
        "</article></body></html>\n"
    )


def _timestamp(page: SavedPage) -> Timestamp:
    return to_timestamp(page.seed.annotation.saved_at)
