"""The first look at a page: what it needs, why it is none if so, and its article with that."""

from dataclasses import dataclass

from archiver.crawl.context import CrawlContext
from archiver.crawl.obtained import Obtained
from archiver.crawl.retry_policy import parked, status_failure, walled
from archiver.model.failure import Failure
from archiver.model.page import Article, Discovery
from archiver.urls.parse import host

GUARDED = frozenset({401, 403, 405, 406, 429, 503})
"""Statuses that walls are sent with, and much else."""


@dataclass(frozen=True, slots=True)
class FirstLook:
    """What a first look told.

    Attributes:
        found: what the page needs; None where it was not looked at.
        failure: why it is none; a wall has a name.
        article: None where it was not read at once.
    """

    found: Discovery | None
    failure: Failure | None
    article: Article | None = None


async def examine(context: CrawlContext, page: Obtained, *, reads: bool = False) -> FirstLook:
    """Look at a page; ``reads`` says whether its article is wanted if it is one."""
    at = host(page.ref.url)
    if page.wall:
        return FirstLook(None, walled(at, page.wall))
    failure = status_failure(page.ref.status, page.retry_after)
    if failure and not (page.ref.status in GUARDED and page.content):
        return FirstLook(None, failure)
    if reads and not failure:
        found, article = await context.derive.look_and_read(page.document)
    else:
        found, article = await context.derive.discover(page.document), None
    if found.wall:
        return FirstLook(found, walled(at, found.wall))
    return FirstLook(found, parked(at, found.parked) if found.parked else failure, article)
