"""Reads articles whole: of a page that has several parts, from all of them that are kept.

Where a style sheet may say in which direction the lines go, it is read with that.
"""

from collections.abc import Iterable
from dataclasses import replace

from archiver.crawl.context import CrawlContext
from archiver.crawl.sheets import read_nearest, turning_sheets
from archiver.derive.messages import Document
from archiver.html.parts import join_parts
from archiver.html.writing_modes import is_set_vertically
from archiver.model.capture import Timestamp
from archiver.model.page import Article
from archiver.model.requisite import RequisiteKind, RequisiteOutcome


async def read_whole(
    context: CrawlContext,
    document: Document,
    outcomes: tuple[RequisiteOutcome, ...],
    timestamp: Timestamp,
    article: Article | None = None,
) -> Article:
    """The article of a page and of its parts, which are read back as they were about then.

    ``article`` is that of the page alone, without its sheets, if it was read before.

    Raises:
        StoreError: the index could not be asked.
    """
    article = article or await context.derive.extract(document)
    if is_set_vertically(article.text):
        sheets = await turning_sheets(context, outcomes, timestamp)
        if sheets:
            document = replace(document, sheets=sheets)
            article = await context.derive.extract(document)
    following = []
    for number, url in enumerate(_parts(outcomes), 2):
        part = await read_nearest(context, url, timestamp)
        if part:
            read = replace(part.document, part=number, sheets=document.sheets)
            following.append(await context.derive.extract(read))
    return join_parts(article, following)


def _parts(outcomes: Iterable[RequisiteOutcome]) -> list[str]:
    kept = (each for each in outcomes if each.kind is RequisiteKind.PART and not each.is_missing)
    return [each.url for each in kept]
