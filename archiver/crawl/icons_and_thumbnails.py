"""Icons and preview images of snapshots."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from itertools import chain, islice
from typing import Final

from archiver.crawl.context import CrawlContext
from archiver.crawl.fetch import recent_captures
from archiver.crawl.requisites import PREVIEW_IMAGE_SECONDS
from archiver.crawl.stored_content import OK, holder_from, read_payload
from archiver.db import captures
from archiver.formats.single_page import image_candidates
from archiver.http.timestamps import to_datetime
from archiver.model.capture import Capture, CaptureRef, Timestamp
from archiver.model.page import UNREAD, Article, Discovery
from archiver.model.rendering import NewRendition, RenditionKind
from archiver.model.requisite import Requisite, RequisiteKind, RequisiteOutcome
from archiver.pages.article_text import whole
from archiver.pages.worker_messages import MAX_PICTURE_BYTES

MAX_TRIED: Final = 4
"""Maximum number of images of each kind that are tried."""
LEAST_COVER_BYTES: Final = 128
"""Minimum size of a preview image; smaller files may be tracking pixels."""
MAX_ARTICLE: Final = 200_000
"""Number of characters at the start of an article that are searched for images."""


def preview_requisites(discovery: Discovery) -> tuple[Requisite, ...]:
    """Return icons and preview images to fetch in addition to the page's other requisites."""
    if not (discovery.icons or discovery.covers):
        return ()
    named = {each.url for each in discovery.requisites}
    icons = ((url, RequisiteKind.ICON) for url in discovery.icons)
    covers = ((url, RequisiteKind.IMAGE) for url in discovery.covers)
    return tuple(
        Requisite(url, kind, is_preview_image=True)
        for url, kind in chain(icons, covers)
        if url not in named
    )


async def make_fetched_previews(
    context: CrawlContext,
    page: CaptureRef,
    discovery: Discovery,
    article: Article,
    outcomes: Iterable[RequisiteOutcome],
) -> tuple[NewRendition, ...]:
    """Make the icon and the preview image from resources that were just fetched.

    Args:
        context: the crawl.
        page: the page's capture.
        discovery: resources that the page names.
        article: article of the page. Its images are tried after those that the page names. If it is
            not extracted yet, nothing is made.
        outcomes: results of fetching the resources; resources that were not fetched are skipped.
    """
    if article.extractor == UNREAD or not _may_show(page, discovery, article):
        return ()
    lacking = {each.url for each in outcomes if each.status != OK}
    urls_by_kind = {
        kind: [url for url in urls if url not in lacking]
        for kind, urls in _candidate_urls(page, discovery, article).items()
    }
    if not any(urls_by_kind.values()):
        return ()  # In this common case, there is no need to wait for the recorder.
    await context.recorder.flush()
    since = to_datetime(page.timestamp) - timedelta(seconds=PREVIEW_IMAGE_SECONDS)
    recent = await recent_captures(context, [*chain(*urls_by_kind.values())], since)
    return await _make_images(context, urls_by_kind, page.timestamp, recent)


async def make_previews(
    context: CrawlContext, page: CaptureRef, discovery: Discovery, article: Article
) -> tuple[NewRendition, ...]:
    """Make the icon and the preview image of a page from the archive.

    Args:
        context: the crawl.
        page: the page's capture.
        discovery: resources that the page names.
        article: article of the page. Its images are tried after those that the page names.
    """
    return await _make_images(
        context, _candidate_urls(page, discovery, article), page.timestamp, {}
    )


def _may_show(page: CaptureRef, discovery: Discovery, article: Article) -> bool:
    """Return whether a page may have an icon or preview image; most pages have neither."""
    named = discovery.icons or discovery.covers
    return bool(named) or page.media_type.startswith("image/") or "<img" in whole(article)


def _candidate_urls(
    page: CaptureRef, discovery: Discovery, article: Article
) -> dict[RenditionKind, list[str]]:
    """Return the URLs to try for the icon and for the preview image, best first."""
    covers = chain(discovery.covers, _pictures(page, article))
    each_kind = ((RenditionKind.ICON, discovery.icons), (RenditionKind.COVER, covers))
    return {
        kind: [*islice(dict.fromkeys(islice(urls, 2 * MAX_TRIED)), MAX_TRIED)]
        for kind, urls in each_kind
    }


async def _make_images(
    context: CrawlContext,
    urls_by_kind: Mapping[RenditionKind, Sequence[str]],
    moment: Timestamp,
    recent: Mapping[str, Capture],
) -> tuple[NewRendition, ...]:
    """Make the first usable image of each kind.

    Args:
        context: the crawl.
        urls_by_kind: URLs to try for each kind of image, best first.
        moment: time of the page's capture. The nearest capture of each URL is used.
        recent: captures by URL that are used instead of the nearest capture.
    """
    holders = {url: each for url, each in recent.items() if _has_payload(each)}
    missing = [url for url in chain(*urls_by_kind.values()) if url not in holders]
    if missing:
        async with context.db.read() as conn:
            holders |= await captures.nearest_of(conn, missing, moment)

    async def holder_of(url: str) -> Capture | None:
        holder = holders.get(url)
        if holder is None or _has_payload(holder):
            return holder
        async with context.db.read() as conn:
            return await holder_from(conn, holder, moment)

    drawn = [await _first(context, kind, urls, holder_of) for kind, urls in urls_by_kind.items()]
    return tuple(each for each in drawn if each)


def _has_payload(capture: Capture) -> bool:
    """Return whether a capture is a successful response whose record contains the payload."""
    return capture.status == OK and not capture.is_revisit


def _pictures(page: CaptureRef, article: Article) -> Iterator[str]:
    if page.media_type.startswith("image/"):
        yield page.url
    for urls in image_candidates(whole(article)[:MAX_ARTICLE]):
        yield from urls[:1]


async def _first(
    context: CrawlContext,
    kind: RenditionKind,
    urls: Sequence[str],
    holder_of: Callable[[str], Awaitable[Capture | None]],
) -> NewRendition | None:
    """Make the first usable image; ``holder_of`` returns the capture that contains a payload."""
    for url in urls:
        holder = await holder_of(url)
        if holder is None:
            continue
        if kind is RenditionKind.COVER and holder.payload_length < LEAST_COVER_BYTES:
            continue
        key = kind, holder.payload_digest
        if key not in context.image_cache:
            payload = await asyncio.to_thread(
                read_payload, context.store, holder, MAX_PICTURE_BYTES
            )
            drawn = await context.derive.draw(kind, payload.content, url) if payload else None
            context.image_cache[key] = drawn
        if image := context.image_cache.get(key):
            return image
    return None
