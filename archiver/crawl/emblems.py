"""Gives snapshots what lists show them by: an icon and a picture, drawn small of what is kept."""

import asyncio
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import Final

from archiver.books.pictures import candidates
from archiver.crawl.context import CrawlContext
from archiver.derive.messages import MOST_PICTURE_BYTES
from archiver.ledger.shown_payload import holder_at, read_payload
from archiver.model.capture import CaptureRef, Timestamp
from archiver.model.likeness import LikenessKind, NewLikeness
from archiver.model.page import UNREAD, Article, Discovery
from archiver.model.requisite import Requisite, RequisiteKind

MOST_TRIED: Final = 4
"""Pictures that are looked at for one that is worth showing."""
MOST_ARTICLE: Final = 200_000
"""Characters of an article in which its pictures are looked for."""


def wanted_emblems(found: Discovery) -> tuple[Requisite, ...]:
    """What is to be fetched for lists, beside what a page needs to look as it looked."""
    named = {each.url for each in found.requisites}
    icons = ((url, RequisiteKind.ICON) for url in found.icons)
    covers = ((url, RequisiteKind.IMAGE) for url in found.covers)
    return tuple(
        Requisite(url, kind, is_emblem=True)
        for url, kind in chain(icons, covers)
        if url not in named
    )


async def draw_fetched(
    context: CrawlContext, page: CaptureRef, found: Discovery, article: Article
) -> tuple[NewLikeness, ...]:
    """As ``draw_emblems``, of what was fetched just now.

    Where the article is left for later, so are they: they are drawn when it is read.
    """
    if article.extractor == UNREAD:
        return ()
    await context.recorder.settled()
    return await draw_emblems(context, page, found, article)


async def draw_emblems(
    context: CrawlContext, page: CaptureRef, found: Discovery, article: Article
) -> tuple[NewLikeness, ...]:
    """The icon and the picture of a page, of what the archive has of them.

    Args:
        context: of the crawl.
        page: its capture.
        found: what it names.
        article: whose pictures are looked at where it names none.
    """
    icon = await _first(context, LikenessKind.ICON, found.icons, page.timestamp)
    covers = chain(found.covers, _pictures(page, article))
    cover = await _first(context, LikenessKind.COVER, covers, page.timestamp)
    return tuple(each for each in (icon, cover) if each)


def _pictures(page: CaptureRef, article: Article) -> Iterator[str]:
    if page.media_type.startswith("image/"):
        yield page.url
    for urls in candidates(article.html[:MOST_ARTICLE]):
        yield from urls[:1]


async def _first(
    context: CrawlContext, kind: LikenessKind, urls: Iterable[str], moment: Timestamp
) -> NewLikeness | None:
    """The first of these that is worth showing."""
    for url in islice(dict.fromkeys(islice(urls, 2 * MOST_TRIED)), MOST_TRIED):
        async with context.db.read() as conn:
            holder = await holder_at(conn, url, moment)
        if holder is None:
            continue
        known = context.drawn.get(kind, holder.payload_digest)
        if known is None:
            payload = await asyncio.to_thread(
                read_payload, context.store, holder, MOST_PICTURE_BYTES
            )
            drawn = await context.derive.draw(kind, payload.content, url) if payload else None
            known = context.drawn.keep(kind, holder.payload_digest, drawn)
        if known[0]:
            return known[0]
    return None
