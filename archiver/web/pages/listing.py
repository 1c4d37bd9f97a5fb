"""List and search pages.

The parameter ``trail`` contains the positions of the last forty pages before this one. Without it,
the only link back leads to the first page.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from urllib.parse import urlencode

from aiohttp import web

from archiver.errors import InvalidQuery
from archiver.http.urls import address_in
from archiver.model.job import State
from archiver.model.listing import Kind, ListingQuery, Sort, Summary
from archiver.model.message import Message, marked
from archiver.search.query_fields import DATES, FIELDS, OPERATORS
from archiver.search.query_tree import (
    Condition,
    FieldCondition,
    IsValue,
    Node,
    conjuncts,
    query_text,
    write_value,
)
from archiver.services.exports import FeedForm, write_feed
from archiver.services.search import Listing, tree_of
from archiver.web.api.json_http import LISTING_PARAMETERS, list_query, requested_query
from archiver.web.app_keys import RUNTIME
from archiver.web.origin import base_path, public_origin
from archiver.web.pages.editing import notice_of
from archiver.web.rendering import SideBar, render_with_sidebar, side_bar, wording_of

MAX_BEFORE = 40
_TRAIL = re.compile(r"[0-9]{1,9}(?:~[0-9]{1,9}\.[A-Za-z0-9_.-]{0,200}){0,40}")


@dataclass(frozen=True, slots=True)
class Trail:
    """Position of a page in its list.

    Attributes:
        start: number of entries before it.
        before: earlier pages, the nearest last. Each is (number of entries before it, its cursor).
    """

    start: int = 0
    before: tuple[tuple[int, str], ...] = ()

    def __str__(self) -> str:
        return "~".join([str(self.start), *(f"{start}.{after}" for start, after in self.before)])

    def onward(self, after: str, count: int) -> "Trail":
        """Return the trail of the next page.

        Args:
            after: the cursor of this page; empty for the first page.
            count: number of entries on this page.
        """
        return Trail(self.start + count, (*self.before, (self.start, after))[-MAX_BEFORE:])

    def back(self) -> tuple[str, "Trail"] | None:
        """Return the cursor and the trail of the previous page; None if unknown."""
        if not self.before:
            return None
        start, after = self.before[-1]
        return after, Trail(start, self.before[:-1])


def read_trail(text: str) -> Trail | None:
    """Parse the ``trail`` of an address; return None if it is invalid.

    >>> str(read_trail("100~0.~50.MTc5NTQw"))
    '100~0.~50.MTc5NTQw'
    >>> read_trail("elsewhere")
    """
    if not _TRAIL.fullmatch(text):
        return None
    start, *before = text.split("~")
    pairs = (each.partition(".") for each in before)
    return Trail(int(start), tuple((int(number), after) for number, _, after in pairs))


MAX_SHOWN_OF_ERROR = 200
"""Maximum number of characters shown of each part of an invalid search."""


@dataclass(frozen=True, slots=True)
class SearchError:
    """An invalid search, split at the position of the error.

    Attributes:
        message: the error.
        before, at, after: the search before, at and after the error.
        suggestion: a corrected search; empty for none.
    """

    message: Message
    before: str
    at: str
    after: str
    suggestion: str

    @classmethod
    def of(cls, q: str, error: InvalidQuery) -> "SearchError":
        """Return the view of an invalid search."""
        end = error.at + error.length
        before, at, after = q[: error.at], q[error.at : end], q[end:]
        return cls(
            error.sentence,
            before[-MAX_SHOWN_OF_ERROR:],
            at[:MAX_SHOWN_OF_ERROR],
            after[:MAX_SHOWN_OF_ERROR],
            error.suggestion,
        )


_FILTER_PARAMETERS = tuple(name for name in LISTING_PARAMETERS if name != "after")


async def listing(request: web.Request) -> web.StreamResponse:
    """Show a page of entries, or why the search is invalid."""
    query, app, refusal = requested_query(request), request.app[RUNTIME], None
    page, summary = Listing((), None), Summary(0, has_more=False)
    try:
        page = await app.search.listing(query)
        summary = await app.search.summary(query, page.used_query)
    except InvalidQuery as error:
        refusal = SearchError.of(query.q, error)
    valid = ListingQuery() if refusal else query
    side = await side_bar(request, valid.q)
    filters = {name: value for name in _FILTER_PARAMETERS if (value := getattr(valid, name))}
    # If the query found nothing and another one was run instead, exports and feeds use that one.
    parameters = filters | ({"q": page.used_query} if page.used_query else {})
    shown_page = filters | ({"after": valid.after} if valid.after else {})
    trail = read_trail(request.query.get("trail", "")) if valid.after else Trail()
    if valid.after and trail:
        shown_page["trail"] = str(trail)
    return await render_with_sidebar(
        request,
        "pages/snapshots.html",
        side=side,
        status=400 if refusal else 200,
        title=side.current.path if side.current else await _heading(request, valid),
        query=query,
        listing=page,
        refusal=refusal,
        next_url=_next_url(filters, valid, page, trail),
        back_url=_back_url(filters, valid, trail),
        start=trail.start if trail else None,
        export_query=f"?{urlencode(parameters)}" if parameters else "",
        list_query=list_query(valid),
        summary=_counted(summary, valid, side),
        is_narrowed=replace(query, sort="", after="") != ListingQuery(),
        current_url=f"/snapshots?{urlencode(shown_page)}" if shown_page else "/snapshots",
        sorts=[each for each in Sort if each is not Sort.LIST or page.sort is Sort.LIST],
        notice=None if refusal else await notice_of(request),
        archives=app.recovery.archives,
        address=address_in(query.q),
    )


async def explain(request: web.Request) -> web.StreamResponse:
    """Show the help on search."""
    return await render_with_sidebar(
        request,
        "pages/search_help.html",
        title=Message("Search syntax"),
        operators=OPERATORS,
        fields=FIELDS,
        dates=DATES,
    )


_NAMES: Mapping[str, Message] = {
    IsValue.UNREAD: Message("Unread"),
    IsValue.READ: Message("Read"),
    IsValue.STARRED: Message("Starred"),
    IsValue.FAILED: Message("Failed"),
    IsValue.WAITING: Message("Waiting"),
    IsValue.GAP: Message("With gaps"),
    IsValue.GONE: Message("Gone from the web"),
    IsValue.UNTAGGED: Message("Without tags"),
    IsValue.HIGHLIGHTED: Message("Highlighted"),
    IsValue.CHANGED: Message("Changed"),
    IsValue.UNRENDERED: Message("Needs a browser"),
    IsValue.LINK: Message("Links only"),
    State.QUEUED: Message("Waiting"),
    State.SAVED: Message("Saved"),
    Kind.ARTICLE: Message("Articles"),
    Kind.PAGE: Message("Pages"),
    Kind.PDF: Message("PDF files"),
    Kind.IMAGE: Message("Images"),
    Kind.VIDEO: Message("Videos"),
    Kind.FILE: Message("Files"),
    Kind.NOTE: Message("Notes"),
}
_NAMED = (Condition.IS, Condition.TYPE, Condition.STATUS)
_PHRASES: Mapping[Condition, str] = {
    Condition.LIST: marked("in list {value}"),
    Condition.TAG: marked("tagged “{value}”"),
    Condition.SITE: marked("from {value}"),
    Condition.FEED: marked("from {value}"),
    Condition.IMPORT: marked("from import {value}"),
    Condition.ADDED: marked("added {value}"),
    Condition.CAPTURED: marked("captured {value}"),
    Condition.PUBLISHED: marked("published {value}"),
}


async def _heading(request: web.Request, query: ListingQuery) -> str:
    """Describe a search in words, such as "Starred in list Kitchen"."""
    typed: list[Node] = [*conjuncts(tree_of(query))]
    chosen = {Condition.TAG: query.tag, Condition.SITE: query.host, Condition.STATUS: query.status}
    typed += [FieldCondition(name, value) for name, value in chosen.items() if value]
    names, phrases, words = [], [], []
    for node in typed:
        value = write_value(node.value) if isinstance(node, FieldCondition) else ""
        if not isinstance(node, FieldCondition):
            words.append(query_text(node))
        elif node.condition in _NAMED and value in _NAMES:
            names.append(_NAMES[value])
        elif node.condition in _PHRASES:
            value = await _feed_title(request, value) if node.condition is Condition.FEED else value
            phrases.append(Message(_PHRASES[node.condition], value=value.removesuffix("/")))
        else:
            words.append(query_text(node))
    search = " ".join(words)[:80]
    if search and (names or phrases):
        phrases.append(Message("matching “{search}”", search=search))
    elif search:
        phrases.append(Message("Results for “{search}”", search=search))
    text_of = wording_of(request).text_of
    heading = " ".join([", ".join(map(text_of, names)), *map(text_of, phrases)]).strip()
    return heading[:1].upper() + heading[1:] or text_of(Message("All"))


async def _feed_title(request: web.Request, url: str) -> str:
    feeds = [each.subscription for each in await request.app[RUNTIME].subscriptions.all()]
    return next((each.title for each in feeds if each.url == url and each.title), url)


def _counted(summary: Summary, query: ListingQuery, side: SideBar) -> Summary:
    """Return the summary with the exact number of entries, if the side bar has it.

    The facets are dropped if there are no entries.
    """
    current = side.current
    is_it = current and replace(query, q="", sort="", after="") == ListingQuery()
    if not (summary.has_more and current and is_it):
        return summary if summary.count else Summary(0, has_more=False)
    count = current.nested_count if side.is_whole else current.count
    if count is None or current.is_more:
        return summary
    return replace(summary, count=count, has_more=False)


def _next_url(
    parameters: dict[str, str], query: ListingQuery, page: Listing, trail: Trail | None
) -> str:
    if not page.after:
        return ""
    more = {"after": page.after}
    if trail:
        more["trail"] = str(trail.onward(query.after, len(page.items)))
    return f"/snapshots?{urlencode(parameters | more)}"


def _back_url(parameters: dict[str, str], query: ListingQuery, trail: Trail | None) -> str:
    """Return the URL of the previous page, or of the first page if the previous one is unknown.

    The URL is empty on the first page.
    """
    if not query.after:
        return ""
    after, before = (trail and trail.back()) or ("", Trail())
    more = {"after": after, "trail": str(before)} if after else {}
    return f"/snapshots?{urlencode(parameters | more)}".rstrip("?")


_TYPES = {FeedForm.ATOM: "application/atom+xml", FeedForm.JSON: "application/feed+json"}


async def feed(request: web.Request) -> web.StreamResponse:
    """Send a feed of the newest entries of a list."""
    form = FeedForm(request.match_info["form"])
    parameters = request.rel_url.raw_query_string
    body = await write_feed(
        request.app[RUNTIME].search,
        requested_query(request),
        form,
        origin=public_origin(request) + base_path(request),
        path=f"{request.path}?{parameters}" if parameters else request.path,
        home=f"/snapshots?{parameters}" if parameters else "/snapshots",
    )
    return web.Response(body=body, content_type=_TYPES[form], charset="utf-8")
