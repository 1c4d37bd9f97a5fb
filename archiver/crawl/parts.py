"""Reads articles whole: of a page that has several parts, from all of them that are kept."""

from collections.abc import Iterable
from dataclasses import replace

from archiver.crawl.context import CrawlContext
from archiver.crawl.fetch_or_recall import read_back
from archiver.crawl.obtained import Obtained
from archiver.derive.messages import Document
from archiver.html.parts import join_parts
from archiver.index import captures
from archiver.model.capture import Timestamp
from archiver.model.page import Article
from archiver.model.requisite import RequisiteKind, RequisiteOutcome


async def read_whole(
    context: CrawlContext,
    document: Document,
    outcomes: Iterable[RequisiteOutcome],
    timestamp: Timestamp,
) -> Article:
    """The article of a page and of its parts, which are read back as they were about then.

    Raises:
        StoreError: the index could not be asked.
    """
    article = await context.derive.extract(document)
    following = []
    for number, url in enumerate(_parts(outcomes), 2):
        part = await _read_back(context, url, timestamp)
        if part:
            following.append(await context.derive.extract(replace(part.document, part=number)))
    return join_parts(article, following)


def _parts(outcomes: Iterable[RequisiteOutcome]) -> list[str]:
    kept = (each for each in outcomes if each.kind is RequisiteKind.PART and not each.is_missing)
    return [each.url for each in kept]


async def _read_back(context: CrawlContext, url: str, timestamp: Timestamp) -> Obtained | None:
    for _ in range(context.settings.max_redirects + 1):
        async with context.db.read() as conn:
            held = await captures.nearest(conn, url, timestamp, exact_only=True)
        found = await read_back(context, held) if held else None
        if found is None or found.redirect_to is None:
            return found
        url = found.redirect_to
    return None
