"""Entry page: reader view, snapshots and details."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any
from urllib.parse import urlencode

from aiohttp import web

from archiver.errors import InputError
from archiver.model.listing import ListingQuery
from archiver.model.message import Message
from archiver.model.page import EXTRACTOR_VERSION, UNREAD, supersedes
from archiver.model.rendering import Rendering
from archiver.pages.shown_article import ArticleTree
from archiver.replay.addresses import Modifier, PathWriter, ReplayAddress
from archiver.services.entries import SnapshotDetail
from archiver.services.reader_view import Reading, ReadingPlace
from archiver.services.search import Neighbour, Neighbours
from archiver.web.api.json_http import list_query, parse_list_query
from archiver.web.app_keys import PERMISSIONS, REFLECTS, RUNTIME
from archiver.web.origin import replay_origin, service_origin
from archiver.web.pages.editing import back, change_of, notice_of, parse_number
from archiver.web.rendering import calendar, minutes_to_read, render_with_sidebar, wording_of


@dataclass(frozen=True, slots=True)
class RejectedEdit:
    """Submitted values of a rejected edit form by field name, and the error."""

    why: Message
    typed: Mapping[str, str]


_READ_KINDS = frozenset({"article", "page", "pdf"})
"""Kinds of snapshots whose text is the result of the extractor."""


async def edit(request: web.Request) -> web.StreamResponse:
    """Edit an entry; invalid values are shown again in the form."""
    form, key = await request.post(), request.match_info["hash_url"]
    try:
        edited = await request.app[RUNTIME].editing.change([key], change_of(form))
    except InputError as error:
        typed = {name: str(value) for name, value in form.items()}
        return await entry(request, RejectedEdit(error.sentence, typed), status=400)
    return back(form, f"/{key}/", edit=edited.id)


async def entry(
    request: web.Request, refused: RejectedEdit | None = None, *, status: int = 200
) -> web.StreamResponse:
    """Show an entry with its newest snapshot, or the one in ``at``.

    ``in`` is the query string of the list from which the entry was opened. ``past`` has the
    hash_urls of its neighbours in that list, because an edit may remove the entry from the list.
    """
    parameters = request.query
    listed = parse_list_query(parameters["in"]) if "in" in parameters else None
    if listed:
        request[REFLECTS] = True
    reading = await request.app[RUNTIME].reader.open(
        request.match_info["hash_url"],
        parameters.get("at") or None,
        listed=listed,
        past=parameters.get("past", "").split(".", 1),
    )
    app, detail, shown = request.app[RUNTIME], reading.detail, reading.shown
    neighbours = reading.neighbours or (Neighbours(listed, None, None) if listed else None)
    needs_browser = shown and shown.snapshot.rendering is Rendering.NEEDED
    return await render_with_sidebar(
        request,
        "pages/entry.html",
        title=detail.entry.title or detail.entry.url,
        status=status,
        detail=detail,
        entry=detail.entry,
        shown=shown,
        years=calendar(each.timestamp for each in detail.snapshots),
        neighbours=neighbours,
        list_url="/snapshots" + (f"?{list_query(neighbours.query)}" if neighbours else ""),
        neighbour_url=partial(_neighbour_url, neighbours.query) if neighbours else None,
        current_url=_own_url(request, neighbours) if neighbours else "",
        notice=await notice_of(request),
        refused=refused,
        place=(await app.reading_places.all()).get(detail.entry.hash_url),
        archives=() if shown else app.recovery.archives,
        browser_problem=app.crawling.browser_problem if needs_browser else None,
        **(_content(request, reading, shown) if shown else _NOTHING),
    )


async def add_slash(request: web.Request) -> web.StreamResponse:
    """Redirect an address without its final slash."""
    target = request.rel_url.raw_path + "/"
    query = request.rel_url.raw_query_string
    raise web.HTTPPermanentRedirect(f"{target}?{query}" if query else target)


async def entry_markdown(request: web.Request) -> web.StreamResponse:
    """Show an entry as ``index.md``."""
    exporting, at = request.app[RUNTIME].exporting, request.query.get("at") or None
    text = await exporting.index_md(request.match_info["hash_url"], at)
    return web.Response(text=text, content_type="text/markdown", charset="utf-8")


async def text(request: web.Request) -> web.StreamResponse:
    """Show the text of an entry's article."""
    key, at = request.match_info["hash_url"], request.query.get("at") or None
    detail = await request.app[RUNTIME].entries.snapshot(key, at)
    title = detail.entry.title or detail.entry.url
    return await render_with_sidebar(request, "pages/text.html", title=title, shown=detail)


async def store_reading_position(request: web.Request) -> web.StreamResponse:
    """Store how far an article is read."""
    form = await request.post()
    block, percent = (parse_number(str(form.get(each, ""))) for each in ("block", "percent"))
    entry = (await request.app[RUNTIME].entries.get(request.match_info["hash_url"])).entry
    place = ReadingPlace(block, min(percent, 100))
    await request.app[RUNTIME].reading_places.put(entry.hash_url, place)
    return web.Response(status=204)


async def extract_again(request: web.Request) -> web.StreamResponse:
    """Extract an article again after an update of the extractor."""
    key = request.match_info["hash_url"]
    await request.app[RUNTIME].reextraction.read_entry(key)
    raise web.HTTPSeeOther(f"/{key}/")


_NOTHING: dict[str, Any] = {
    "kind": "nothing",
    "outline": (),
    "hits": 0,
    "highlights": (),
    "is_outdated": False,
}
"""Content of an entry without snapshots."""


def _content(request: web.Request, reading: Reading, snapshot: SnapshotDetail) -> dict[str, Any]:
    """Return what the template shows of the snapshot."""
    origin, capture = replay_origin(request), snapshot.snapshot.capture
    permissions = request.app[PERMISSIONS]
    permission = permissions.new(service_origin(request))
    payload = ReplayAddress(capture.timestamp, Modifier.IMAGE, capture.url)

    def write(address: ReplayAddress) -> str:
        return origin + permissions.write(permission, address)

    kind = _kind(snapshot)
    return {
        "article": _article(request, reading.article, snapshot, write) if reading.article else "",
        "payload_url": write(payload),
        "payload_link": permissions.plain(payload),
        "kind": kind,
        "minutes": minutes_to_read(reading.word_count),
        "is_outdated": supersedes(EXTRACTOR_VERSION, snapshot.snapshot.extractor)
        and snapshot.snapshot.extractor != UNREAD
        and snapshot.snapshot.rendering is not Rendering.DONE
        and kind in _READ_KINDS,
        "outline": reading.outline,
        "hits": reading.hits,
        "highlights": reading.highlights,
    }


def _article(
    request: web.Request, article: ArticleTree, snapshot: SnapshotDetail, write: PathWriter
) -> str:
    """Return the article as HTML, with archived media and descriptions of links and images."""
    wording = wording_of(request)

    def archived_link(url: str) -> str:
        return wording.text_of(Message("Saved here: {url}", url=url))

    def lost(name: str) -> str:
        if not name:
            return wording.text_of(Message("Image not archived"))
        return wording.text_of(Message("Image not archived: {name}", name=name))

    article.describe_links(archived_link)
    article.name_images()
    article.replace_lost_images(_missing_urls(snapshot), lost)
    timestamp = snapshot.snapshot.timestamp
    article.archive_media(lambda url: write(ReplayAddress(timestamp, Modifier.IMAGE, url)))
    article.make_scrollable()
    return article.html()


def _missing_urls(snapshot: SnapshotDetail) -> frozenset[str]:
    """Return the URLs of the snapshot's requisites that are not archived.

    A requisite without a status counts as missing only if the entry has no other snapshot, because
    another snapshot could contain the requisite.
    """
    is_alone = snapshot.entry.snapshot_count == 1
    return frozenset(
        each.url
        for each in snapshot.requisites
        if (each.is_missing if each.status is not None else is_alone)
    )


def _own_url(request: web.Request, neighbours: Neighbours) -> str:
    """Return the entry's URL, whose parameters name the list and the neighbours in the list."""
    past = [each.entry.hash_url if each else "" for each in (neighbours.previous, neighbours.next)]
    parameters = {"at": request.query.get("at", ""), "in": list_query(neighbours.query)}
    parameters["past"] = ".".join(past) if any(past) else ""
    used_parameters = {name: value for name, value in parameters.items() if value}
    return f"{request.path}?{urlencode(used_parameters)}"


def _neighbour_url(query: ListingQuery, neighbour: Neighbour) -> str:
    inside = list_query(replace(query, after=neighbour.after))
    anchor = "#found" if query.q else ""
    return f"/{neighbour.entry.hash_url}/?{urlencode({'in': inside})}{anchor}"


def _kind(snapshot: SnapshotDetail) -> str:
    kind = snapshot.snapshot.capture.media_type
    if kind.startswith("image/"):
        return "image"
    if kind == "application/pdf":
        return "pdf"
    if snapshot.article:
        return "article"
    if snapshot.snapshot.extractor == UNREAD:
        return "unread"
    return "page" if kind in ("text/html", "application/xhtml+xml", "") else "file"
