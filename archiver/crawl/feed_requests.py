"""Requests for feeds."""

import re
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, replace

from archiver.config import MAX_REDIRECTS
from archiver.crawl.context import CrawlContext
from archiver.crawl.fetch import read, send_politely
from archiver.crawl.retry_policy import status_failure
from archiver.crawl.visit_result import FetchedResponse
from archiver.errors import FetchError
from archiver.http.cookies import VisitCookies
from archiver.http.media_types import is_html
from archiver.http.requests import OutgoingRequest
from archiver.http.urls import host
from archiver.model.failure import Failure, FailureKind

NOT_MODIFIED = 304
GONE = 410
_PERMANENT = frozenset({301, 308})
_VALIDATOR = re.compile(r"[\t\x20-\x7e\x80-\xff]{1,1000}")
"""``ETag`` and ``Last-Modified`` values that can be sent back unchanged."""
MAX_ADDRESS = 2048
"""Maximum length of a feed's new URL after a permanent redirect."""
_MAX_AGE = re.compile(r"(?:\A|[\s,])max-age\s*=\s*\"?(\d{1,9})")


@dataclass(frozen=True, slots=True)
class FeedResponse:
    """Response to a feed request.

    Attributes:
        url: the final URL.
        moved_to: the new URL of the feed, if all redirects were permanent.
        is_modified: whether the response has new content.
        is_gone: whether the server says that the feed no longer exists.
        content: the new content, decoded; empty if there is none.
        is_page: whether the content is an HTML page.
        etag: ``ETag`` as received; empty if absent or unusable.
        modified: ``Last-Modified`` as received; empty if absent or unusable.
        fresh_seconds: ``max-age`` of the response in seconds; 0 if absent.
    """

    url: str
    moved_to: str = ""
    is_modified: bool = False
    is_gone: bool = False
    content: bytes = b""
    is_page: bool = False
    etag: str = ""
    modified: str = ""
    fresh_seconds: int = 0


async def request_feed(
    context: CrawlContext, url: str, *, etag: str = "", modified: str = ""
) -> FeedResponse:
    """Request a feed once, following redirects.

    Args:
        context: the crawl whose guard, rate limits and size limits apply.
        url: serialised URL.
        etag: ``ETag`` of the known content, for a conditional request.
        modified: ``Last-Modified`` of the known content.

    Raises:
        FetchError: the feed can't be fetched now; the failure has the reason, and the pause that
            the server asks for.
    """
    validators = {"If-None-Match": etag, "If-Modified-Since": modified}
    headers = tuple((name, value) for name, value in validators.items() if value)
    current, is_permanent, initiators, jar = url, True, frozenset[str](), VisitCookies()
    for _ in range(MAX_REDIRECTS + 1):
        initiators |= {host(current)}
        request = OutgoingRequest(current, headers=headers, initiators=initiators, jar=jar)
        exchange = await send_politely(context, request, is_delayed=True, max_pause=0)
        with closing(exchange.body):
            response = await read(context, exchange)
        if response.redirect_to is None:
            is_moved = is_permanent and current != url and len(current) <= MAX_ADDRESS
            moved = current if is_moved else ""
            return replace(_feed_response(current, response), moved_to=moved)
        is_permanent = is_permanent and response.ref.status in _PERMANENT
        current = response.redirect_to
    raise FetchError(
        Failure(FailureKind.TOO_MANY_REDIRECTS, f"{host(url)} redirects too many times.")
    )


def _feed_response(url: str, response: FetchedResponse) -> FeedResponse:
    fields, status = dict(response.headers), response.ref.status
    fresh = _fresh_seconds(fields)
    if status == NOT_MODIFIED:
        return FeedResponse(url, fresh_seconds=fresh)
    if status == GONE:
        return FeedResponse(url, is_gone=True)
    if failure := status_failure(status, response.retry_after):
        raise FetchError(failure)
    return FeedResponse(
        url,
        is_modified=True,
        content=response.content,
        is_page=is_html(response.media_type),
        etag=_validator(fields, "etag"),
        modified=_validator(fields, "last-modified"),
        fresh_seconds=fresh,
    )


def _validator(fields: Mapping[str, str], name: str) -> str:
    validator = fields.get(name, "")
    return validator if _VALIDATOR.fullmatch(validator) else ""


def _fresh_seconds(fields: Mapping[str, str]) -> int:
    """Return ``max-age`` in seconds (RFC 9111 §5.2.2.1); 0 without one."""
    match = _MAX_AGE.search(fields.get("cache-control", "").lower())
    return int(match[1]) if match else 0
