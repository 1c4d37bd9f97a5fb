"""API of entries, captures, highlights, jobs, lists and feeds."""

from dataclasses import asdict, dataclass, field, replace
from typing import Annotated, ClassVar, Literal

from aiohttp import web
from pydantic import ConfigDict, Field

from archiver.config import SiteRule
from archiver.errors import InputError, NotFound
from archiver.http.site_rules import site_name
from archiver.model.annotation import AnnotationChange, Colour
from archiver.model.entry_list import EntryList, ListColour
from archiver.model.feed import FollowedFeed
from archiver.model.job import Job
from archiver.services.editing import TagInUse
from archiver.services.entries import MAX_URLS
from archiver.services.lists import ListPosition
from archiver.web.api.json_http import (
    MAX_JOBS,
    NOTHING_ELSE,
    entry_response,
    integer_parameter,
    json_response,
    numbers,
    read_json,
    requested_query,
)
from archiver.web.app_keys import RUNTIME
from archiver.web.origin import base_path
from archiver.web.static_files import with_paths
from archiver.web.uploads import page_from_api


@dataclass(frozen=True, slots=True)
class SaveRequest:
    """URLs to save, tags for all of them, and whether to render them in a browser."""

    urls: Annotated[list[str], Field(min_length=1, max_length=MAX_URLS)]
    tags: Annotated[list[str], Field(max_length=100)] = field(default_factory=list)
    render: bool = False


@dataclass(frozen=True, slots=True)
class ListRequest:
    """Path of a list to create; with a query, path of a search to save."""

    path: str
    query: str = ""


@dataclass(frozen=True, slots=True)
class TagChange:
    """A tag and its new name; if the new name exists, the two tags are merged."""

    name: str
    new_name: str


@dataclass(frozen=True, slots=True)
class ListChange:
    """A change to a list: a new path, a new position among its siblings, or a colour."""

    path: str
    new_path: str | None = None
    move: Literal["up", "down"] | None = None
    colour: ListColour | None = None


@dataclass(frozen=True, slots=True)
class OrderRequest:
    """Entries of a list, by hash_url or URL, and their new position."""

    path: str
    __pydantic_config__: ClassVar[ConfigDict] = NOTHING_ELSE
    entries: Annotated[list[str], Field(min_length=1, max_length=MAX_JOBS)]
    position: ListPosition


@dataclass(frozen=True, slots=True)
class SiteRequest:
    """Rule of a site; the general settings apply where a value is missing or null.

    A site with ``never_save`` is not requested at all.
    """

    __pydantic_config__: ClassVar[ConfigDict] = NOTHING_ELSE
    render: Literal["auto", "always", "never"] | None = None
    delay: float | None = None
    user_agent: str | None = None
    never_save: bool = False


@dataclass(frozen=True, slots=True)
class FeedRequest:
    """URL of a feed, or of a page with a feed; ``everything`` adds the current items too."""

    url: str
    tags: list[str] = field(default_factory=list)
    everything: bool = False


@dataclass(frozen=True, slots=True)
class HighlightRequest:
    """Words of an article to highlight; ``start`` is their position in its text."""

    quote: str
    start: int | None = None
    colour: Colour = Colour.YELLOW
    note: str = ""
    timestamp: str | None = None


@dataclass(frozen=True, slots=True)
class HighlightChange:
    """A change to a highlight; missing or null fields stay as they are."""

    colour: Colour | None = None
    note: str | None = None


async def save(request: web.Request) -> web.StreamResponse:
    """Save URLs and queue them. Invalid URLs are returned with a reason."""
    seed = await read_json(request, SaveRequest)
    entries = request.app[RUNTIME].entries
    result = await entries.save(seed.urls, tags=seed.tags, source="api", render=seed.render)
    return json_response(result, status=202)


async def list_entries(request: web.Request) -> web.StreamResponse:
    """List or search entries."""
    query = replace(requested_query(request), limit=integer_parameter(request, "limit", 50))
    page = await request.app[RUNTIME].search.listing(query)
    base = base_path(request)
    items = tuple(
        replace(each, preview_images=with_paths(each.preview_images, base)) for each in page.items
    )
    return json_response(replace(page, items=items))


async def saved(request: web.Request) -> web.StreamResponse:
    """Find the entries of a page by any of its URLs.

    These are its own URL, redirects to it, and its canonical URL. `entries` is empty if the page is
    not saved.
    """
    page = await request.app[RUNTIME].entries.saved_at(request.query.get("url", ""))
    return json_response(page)


async def summary(request: web.Request) -> web.StreamResponse:
    """Count the entries of a list, up to 1,000, with facets."""
    return json_response(await request.app[RUNTIME].search.summary(requested_query(request)))


async def show_entry(request: web.Request) -> web.StreamResponse:
    """Show an entry and its snapshots, newest first."""
    return entry_response(
        request, await request.app[RUNTIME].entries.get(request.match_info["hash_url"])
    )


async def edit(request: web.Request) -> web.StreamResponse:
    """Change the metadata of an entry, and return the entry.

    `tags` replaces all tags, and `folders` all lists (by path); `with_tags` and `without_tags` add
    and remove some. Omitted fields are not changed.
    """
    body = await read_json(request, AnnotationChange)
    runtime, key = request.app[RUNTIME], request.match_info["hash_url"]
    await runtime.editing.change([key], body)
    return entry_response(request, await runtime.entries.get(key))


async def snapshot(request: web.Request) -> web.StreamResponse:
    """Show the snapshot nearest to a timestamp, with its article, resources and neighbours."""
    place = request.match_info
    detail = await request.app[RUNTIME].entries.snapshot(place["hash_url"], place["timestamp"])
    return json_response(detail)


async def delete(request: web.Request) -> web.StreamResponse:
    """Delete an entry with all its snapshots."""
    return json_response(
        await request.app[RUNTIME].deleting.entries([request.match_info["hash_url"]])
    )


async def delete_snapshot(request: web.Request) -> web.StreamResponse:
    """Delete the snapshot with exactly this timestamp.

    The entry must have another snapshot.
    """
    place = request.match_info
    deleting = request.app[RUNTIME].deleting
    return json_response(await deleting.snapshot(place["hash_url"], place["timestamp"]))


async def undo_deletion(request: web.Request) -> web.StreamResponse:
    """Restore what a deletion removed.

    Entries that have been saved or deleted again since then are not restored; `not_restored` is
    their number.
    """
    number = int(request.match_info["id"])
    return json_response(await request.app[RUNTIME].deleting.undo(number))


async def compare(request: web.Request) -> web.StreamResponse:
    """Compare two snapshots of an entry: text, headers and resources."""
    query, key = request.query, request.match_info["hash_url"]
    comparing = request.app[RUNTIME].comparing
    return json_response(await comparing.compare(key, query.get("from", ""), query.get("to", "")))


async def upload_page(request: web.Request) -> web.StreamResponse:
    """Upload a page saved by a browser.

    The file is HTML (for example from SingleFile), MHTML, or a WARC or WACZ file of
    ArchiveWeb.page. The snapshot exists when the response is sent; nothing is fetched. A form may
    have the fields `url` and `at`, before or after the file.
    """
    return json_response(await page_from_api(request), status=201)


async def add_highlight(request: web.Request) -> web.StreamResponse:
    """Add a highlight to an article.

    Text that is not found in the article is stored without a position.
    """
    body = await read_json(request, HighlightRequest)
    highlighted = await request.app[RUNTIME].highlights.add(
        request.match_info["hash_url"],
        body.quote,
        start=body.start,
        colour=body.colour,
        note=body.note,
        timestamp=body.timestamp,
    )
    return json_response(highlighted, status=201)


async def change_highlight(request: web.Request) -> web.StreamResponse:
    """Change the colour or the note of a highlight."""
    body, place = await read_json(request, HighlightChange), request.match_info
    changed = await request.app[RUNTIME].highlights.change(
        place["hash_url"], place["id"], colour=body.colour, note=body.note
    )
    return json_response(changed)


async def remove_highlight(request: web.Request) -> web.StreamResponse:
    """Remove a highlight and return the entry."""
    runtime, place = request.app[RUNTIME], request.match_info
    await runtime.highlights.remove(place["hash_url"], place["id"])
    return entry_response(request, await runtime.entries.get(place["hash_url"]))


async def list_highlights(request: web.Request) -> web.StreamResponse:
    """List highlights by entry; `q` searches in highlights and notes."""
    query = request.query
    page = await request.app[RUNTIME].highlights.listing(
        query.get("q", ""), query.get("after", ""), integer_parameter(request, "limit", 50)
    )
    return json_response(page)


async def show_job(request: web.Request) -> web.StreamResponse:
    """Show the jobs in `ids`; unknown jobs are omitted."""
    found_jobs = await request.app[RUNTIME].entries.jobs(numbers(request, "ids"))
    return json_response(found_jobs, shape=list[Job])


async def queue_status(request: web.Request) -> web.StreamResponse:
    """Count the jobs of the archive by state."""
    return json_response(await request.app[RUNTIME].crawling.counts())


async def list_tags(request: web.Request) -> web.StreamResponse:
    """List the tags in use, by name; `similar` names similar tags."""
    return json_response(await request.app[RUNTIME].editing.tags(), shape=list[TagInUse])


async def change_tag(request: web.Request) -> web.StreamResponse:
    """Rename a tag, or merge it into another, and return all tags."""
    body = await read_json(request, TagChange)
    await request.app[RUNTIME].editing.rename_tag(body.name, body.new_name)
    return await list_tags(request)


async def delete_tag(request: web.Request) -> web.StreamResponse:
    """Remove a tag from all entries, and return the others."""
    await request.app[RUNTIME].editing.delete_tag(request.query.get("name", ""))
    return await list_tags(request)


async def list_lists(request: web.Request) -> web.StreamResponse:
    """List all lists in tree order.

    A list with `query` is a saved search; its `count` is null until it has been counted.
    """
    return json_response(await request.app[RUNTIME].lists.all(), shape=tuple[EntryList, ...])


async def make_list(request: web.Request) -> web.StreamResponse:
    """Create a list with its parents, or a saved search."""
    body = await read_json(request, ListRequest)
    return json_response(await request.app[RUNTIME].lists.make(body.path, body.query), status=201)


async def change_list(request: web.Request) -> web.StreamResponse:
    """Rename, move or colour a list, and return all lists."""
    body, lists = await read_json(request, ListChange), request.app[RUNTIME].lists
    if (body.new_path, body.move, body.colour) == (None, None, None):
        raise InputError("Set new_path, move or colour.")
    if body.colour is not None:
        await lists.set_colour(body.path, body.colour)
    if body.move:
        await lists.move(body.path, down=body.move == "down")
    if body.new_path is not None:
        await lists.rename(body.path, body.new_path)
    return await list_lists(request)


async def delete_list(request: web.Request) -> web.StreamResponse:
    """Delete a list with its nested lists, and return the others; the entries are kept."""
    await request.app[RUNTIME].lists.delete(request.query.get("path", ""))
    return await list_lists(request)


async def order_lists(request: web.Request) -> web.StreamResponse:
    """Change the order of entries in a list."""
    body = await read_json(request, OrderRequest)
    lists = request.app[RUNTIME].lists
    return json_response(await lists.order(body.path, body.entries, body.position))


async def list_feeds(request: web.Request) -> web.StreamResponse:
    """List the followed feeds; `state` is null before the first check."""
    return json_response(await request.app[RUNTIME].subscriptions.all(), shape=list[FollowedFeed])


async def follow(request: web.Request) -> web.StreamResponse:
    """Follow a feed, or the first feed that a page declares, and capture its new items."""
    body = await read_json(request, FeedRequest)
    followed = await request.app[RUNTIME].subscriptions.follow(
        body.url, body.tags, everything=body.everything
    )
    return json_response(followed, status=201)


async def unfollow(request: web.Request) -> web.StreamResponse:
    """Unfollow a feed, and list the others; its entries are kept."""
    await request.app[RUNTIME].subscriptions.unfollow(request.query.get("url", ""))
    return await list_feeds(request)


@dataclass(frozen=True, slots=True)
class SiteOut:
    """A host and the rule for it and its subdomains."""

    host: str
    rule: SiteRule


async def list_sites(request: web.Request) -> web.StreamResponse:
    """List the rules of sites."""
    rules = await request.app[RUNTIME].preferences.site_rules()
    return json_response([SiteOut(*each) for each in rules.items()], shape=list[SiteOut])


async def set_site(request: web.Request) -> web.StreamResponse:
    """Replace the rule of a site, and return all rules; it applies within a second.

    The rule also applies to subdomains without a rule.
    """
    fields = asdict(await read_json(request, SiteRequest))
    values = {name: "" if value is None else value for name, value in fields.items()}
    host = site_name(request.match_info["host"])
    await request.app[RUNTIME].preferences.set_site_rule(host, values)
    return await list_sites(request)


async def remove_site(request: web.Request) -> web.StreamResponse:
    """Remove the rule of a site, and return the others; its cookies are kept."""
    host = site_name(request.match_info["host"])
    if not await request.app[RUNTIME].preferences.remove_site_rule(host):
        raise NotFound("There is no rule for {host}.", host=host)
    return await list_sites(request)
