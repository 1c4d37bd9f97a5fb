"""Home page and the save form."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

from aiohttp import web

from archiver.app import App
from archiver.errors import InputError, InvalidUrl, NotFound
from archiver.http.urls import (
    hash_url,
    is_hash_url,
    parse_entry_url,
    search_words,
    with_scheme,
    without_trackers,
)
from archiver.http.urls_in_text import first_url_in
from archiver.model.annotation import AnnotationChange
from archiver.model.entry import Entry
from archiver.model.imports import Rejected
from archiver.model.listing import ListingQuery
from archiver.model.message import Message
from archiver.services.entries import SavedAddress
from archiver.services.reader_view import ReadingPlace
from archiver.web import auth
from archiver.web.api.json_http import numbers
from archiver.web.app_keys import RUNTIME
from archiver.web.origin import public_origin
from archiver.web.pages.editing import names_in, notice_of, return_path
from archiver.web.rendering import render, render_with_sidebar, tag_list
from archiver.web.signing import same

LATEST = 12
MAX_PARTLY_READ = 4
MAX_FOLLOWED = 200
MAX_CLEANED = 5
MAX_CLEANED_LENGTH = 1_000
"""Number and length limits of the URLs listed after their tracking parameters were removed."""


async def home(request: web.Request) -> web.StreamResponse:
    """Show the home page."""
    return await _show(request, numbers(request, "jobs"))


async def add(request: web.Request) -> web.StreamResponse:
    """Save the URLs in the form and show their progress, or search for its words."""
    form = await request.post()
    text, tags = str(form.get("url", "")), str(form.get("tags", ""))
    if words := search_words(text):
        raise web.HTTPSeeOther(f"/snapshots?{urlencode({'q': words})}")
    lines = text.split("\n")
    urls, cleaned = (lines, []) if form.get("trackers") == "keep" else _cleaned(request, lines)
    try:
        saved = await _save(request.app[RUNTIME], urls, form)
    except InputError as error:
        return await _show(request, [], problem=error.sentence, tags=tags, status=400)
    if form.get("window") and (saved.keys or saved.known):
        key = saved.keys[0] if saved.keys else f"{saved.known[0].entry.hash_url}&known=1"
        raise web.HTTPSeeOther(f"/save?saved={key}")
    if saved.known:
        return await _ask_again(request, saved, form)
    if saved.rejected:
        status = 200 if saved.jobs else 400
        return await _show(request, saved.jobs, rejected=saved.rejected, tags=tags, status=status)
    if form.get("back"):
        raise web.HTTPSeeOther(return_path(form, "/"))
    parameters = [("jobs", ",".join(map(str, saved.jobs[:MAX_FOLLOWED])))]
    parameters += [("cleaned", each) for each in cleaned]
    parameters += [("deleted", str(each)) for each in saved.deletions]
    raise web.HTTPSeeOther(f"/?{urlencode(parameters)}")


@dataclass(slots=True)
class _Saved:
    """Result of the save form.

    Attributes:
        known: URLs that were saved before; the user decides whether to capture them again.
        keys: ``hash_url`` of each entry that will be captured.
        jobs: ids of their jobs.
        rejected: lines that are no URLs.
        deletions: the deletion of the entry that was replaced, if any.
    """

    known: Sequence[SavedAddress] = ()
    keys: list[str] = field(default_factory=list)
    jobs: list[int] = field(default_factory=list)
    rejected: Sequence[Rejected] = ()
    deletions: list[int] = field(default_factory=list)


async def _save(app: App, urls: list[str], form: Mapping[str, Any]) -> _Saved:
    """Save new URLs, add them to the lists in the form, and delete the entry that they replace.

    Raises:
        InputError: there is no URL, there are too many, or a tag is too long.
    """
    saved = _Saved()
    if not form.get("again") and len(urls) <= MAX_FOLLOWED:
        pasted = await app.entries.saved_addresses(urls)
        saved.known, urls = pasted.known, [*pasted.fresh]
        if saved.known and not urls:
            return saved
    result = await app.entries.save(
        urls,
        tags=names_in(str(form.get("tags", ""))),
        source="web",
        title=str(form.get("title", "")),
        note=str(form.get("note", "")).replace("\r\n", "\n"),
        render=bool(form.get("render")),
    )
    saved.rejected = result.rejected
    saved.keys = [each.hash_url for each in result.accepted]
    saved.jobs = [*dict.fromkeys(each.job_id for each in result.accepted if each.job_id)]
    if saved.keys and (lists := names_in(str(form.get("folders", "")))):
        await app.editing.change(saved.keys, AnnotationChange(with_folders=lists))
    instead = str(form.get("instead", ""))
    if saved.keys and is_hash_url(instead) and instead not in saved.keys:
        saved.deletions.append((await app.deleting.entries([instead])).id)
    return saved


def _cleaned(request: web.Request, lines: list[str]) -> tuple[list[str], list[str]]:
    """Remove tracking parameters from URLs.

    Returns:
        The URLs to save, and some that were changed, as submitted.
    """
    trackers = request.app[RUNTIME].settings.trackers
    urls = [without_trackers(with_scheme(each), trackers) for each in lines]
    changed = [
        old.strip()
        for old, new in zip(lines, urls, strict=True)
        if new not in (old, with_scheme(old)) and len(old) <= MAX_CLEANED_LENGTH
    ]
    return urls, changed[:MAX_CLEANED]


async def _ask_again(
    request: web.Request, saved: _Saved, form: Mapping[str, Any]
) -> web.StreamResponse:
    """Ask whether to capture known URLs again; list the URLs saved without a question."""
    entries = request.app[RUNTIME].entries
    return await render_with_sidebar(
        request,
        "pages/save_again.html",
        title=Message("Already saved"),
        known=saved.known,
        tags=str(form.get("tags", "")),
        note=str(form.get("note", "")),
        render=bool(form.get("render")),
        given_title=str(form.get("title", "")),
        saved=await entries.jobs(saved.jobs[:MAX_FOLLOWED]) if saved.jobs else (),
        rejected=saved.rejected,
    )


async def _show(
    request: web.Request,
    jobs: list[int],
    *,
    rejected: Sequence[Rejected] = (),
    problem: Message | str = "",
    tags: str = "",
    status: int = 200,
) -> web.StreamResponse:
    runtime = request.app[RUNTIME]
    home_page = await runtime.search.home_page(datetime.now(UTC))
    has_new = any(each.entry.state != "failed" for each in home_page.new)
    newest = None if has_new else await runtime.search.listing(ListingQuery(limit=LATEST))
    return await render_with_sidebar(
        request,
        "pages/home.html",
        title="archiver",
        status=status,
        overview=await runtime.search.overview(),
        home_page=home_page,
        listing=newest,
        running=[each for each in await runtime.import_statuses.recent() if each.is_open],
        jobs=await runtime.entries.jobs(jobs) if jobs else (),
        rejected=rejected,
        tags=tags,
        problem=problem,
        origin=public_origin(request),
        key=auth.bookmarklet_key(request),
        cleaned=[
            each
            for each in request.query.getall("cleaned", [])[:MAX_CLEANED]
            if each.startswith(("http://", "https://"))
        ],
        warnings=await runtime.health.warnings(),
        archives=runtime.recovery.archives,
        notice=await notice_of(request),
        reading=await _partly_read(request),
    )


async def _partly_read(request: web.Request) -> list[tuple[Entry, ReadingPlace]]:
    """Return the unread entries with the latest reading positions, and these positions."""
    partly_read: list[tuple[Entry, ReadingPlace]] = []
    for key, place in (await request.app[RUNTIME].reading_places.all()).items():
        with suppress(NotFound):
            entry = (await request.app[RUNTIME].entries.get(key)).entry
            if not entry.annotation.is_read:
                partly_read.append((entry, place))
        if len(partly_read) == MAX_PARTLY_READ:
            break
    return partly_read


async def save_page(request: web.Request) -> web.StreamResponse:
    """Show the page to save, and existing snapshots; a GET request saves nothing."""
    parameters = request.query
    url, title, tags = (parameters.get(name, "").strip() for name in ("url", "title", "tags"))
    url = url or first_url_in(parameters.get("text", ""))  # many apps put the URL into the text
    entries = request.app[RUNTIME].entries
    if "saved" in parameters:
        entry = (await entries.get(parameters["saved"])).entry
        return _save_window(request, entry.url, entry)
    if url and same(parameters.get("key", ""), auth.bookmarklet_key(request)):
        return _save_window(request, url)
    old, existing, duplicates = None, None, list[Entry]()
    if "instead" in parameters:
        old = (await entries.get(parameters["instead"])).entry
        url, title, tags = old.url, "", tag_list(old.annotation.tags)
    elif url:
        with suppress(InvalidUrl, NotFound):
            existing = (await entries.get(url)).entry
            if existing.hash_url != hash_url(parse_entry_url(url)):
                existing = None  # the page is saved under another URL; `duplicates` has its entry
        saved = () if existing else (await entries.saved_addresses([url])).known
        duplicates = [entry for each in saved[:1] for entry in (each.entry, *each.other_entries)]
    return await render_with_sidebar(
        request,
        "pages/save.html",
        title=Message("Save a page"),
        url=url,
        given_title=title,
        tags=tags,
        known=existing,
        duplicates=duplicates,
        note=old.annotation.note if old else "",
        lists=tag_list(old.annotation.folders) if old else "",
        instead=old,
    )


def _save_window(request: web.Request, url: str, entry: Entry | None = None) -> web.Response:
    """Show the small window of the bookmarklet; ``entry`` is None before the page is saved."""
    return render(
        request,
        "pages/save_window.html",
        title=Message("Save a page"),
        url=url,
        entry=entry,
        is_known="known" in request.query,
    )
