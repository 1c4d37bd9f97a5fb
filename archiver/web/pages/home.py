"""Home page and the save form."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

from aiohttp import web

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
from archiver.model.listing import ListingQuery
from archiver.model.message import Message
from archiver.services.entries import SaveResult
from archiver.services.reader_view import ReadingPlace
from archiver.web import auth
from archiver.web.api.json_http import numbers
from archiver.web.app_keys import RUNTIME
from archiver.web.origin import public_origin
from archiver.web.pages.editing import names_in, notice_of, return_path
from archiver.web.rendering import render, render_with_sidebar, tag_list
from archiver.web.signing import same
from archiver.web.views import HomeView, SaveAgainView, SaveView, SaveWindowView

LATEST = 12
MAX_PARTLY_READ = 4
MAX_FOLLOWED = 200
MAX_CLEANED = 5
MAX_CLEANED_LENGTH = 1_000
"""Number and length limits of the URLs listed after their tracking parameters were removed."""


async def home(request: web.Request) -> web.StreamResponse:
    """Show the home page."""
    view = await _view(request, numbers(request, "jobs"))
    return await render_with_sidebar(request, "pages/home.html", view)


async def add(request: web.Request) -> web.StreamResponse:
    """Save the URLs in the form and show their progress, or search for its words."""
    form = await request.post()
    text, tags = str(form.get("url", "")), str(form.get("tags", ""))
    if words := search_words(text):
        raise web.HTTPSeeOther(f"/snapshots?{urlencode({'q': words})}")
    entries = request.app[RUNTIME].entries
    lines, trackers = text.split("\n"), request.app[RUNTIME].settings.trackers
    if form.get("trackers") != "keep":
        lines = [without_trackers(with_scheme(each), trackers) for each in lines]
    cleaned = [old for old, new in zip(text.split("\n"), lines, strict=True) if _differ(old, new)]
    urls, question = await _questions_about_known(request, lines, form)
    if question and not urls:
        if form.get("window"):
            raise web.HTTPSeeOther(f"/save?saved={question.known[0].entry.hash_url}&known=1")
        return await render_with_sidebar(request, "pages/save_again.html", question)
    try:
        result = await entries.save(
            urls,
            tags=names_in(tags),
            source="web",
            title=str(form.get("title", "")),
            note=str(form.get("note", "")).replace("\r\n", "\n"),
            render=bool(form.get("render")),
        )
    except InputError as error:
        view = await _view(request, [], problem=error.sentence, tags=tags)
        return await render_with_sidebar(request, "pages/home.html", view, status=400)
    jobs = [each.job_id for each in result.accepted if each.job_id is not None]
    keys = [each.hash_url for each in result.accepted]
    deleted = await _after_saving(request, form, keys)
    if question:
        saved = tuple(await entries.jobs(jobs[:MAX_FOLLOWED]))
        question = replace(question, saved=saved, rejected=result.rejected)
        return await render_with_sidebar(request, "pages/save_again.html", question)
    if keys and form.get("window"):
        raise web.HTTPSeeOther(f"/save?saved={keys[0]}")
    if not result.rejected and form.get("back"):
        raise web.HTTPSeeOther(return_path(form, "/"))
    if not result.rejected:
        followed = [*dict.fromkeys(jobs)][:MAX_FOLLOWED]
        parameters = [("jobs", ",".join(map(str, followed)))]
        parameters += [("cleaned", each.strip()) for each in cleaned[:MAX_CLEANED]]
        parameters += [("deleted", str(each)) for each in deleted]
        raise web.HTTPSeeOther(f"/?{urlencode(parameters)}")
    view = await _view(request, jobs, result, tags=tags)
    return await render_with_sidebar(request, "pages/home.html", view, status=200 if jobs else 400)


async def _after_saving(
    request: web.Request, form: Mapping[str, Any], keys: Sequence[str]
) -> list[int]:
    """Add saved entries to the lists in the form, and delete the entry that they replace.

    Return a list with the number of the deletion; empty if no entry was replaced.
    """
    app, instead = request.app[RUNTIME], str(form.get("instead", ""))
    if lists := names_in(str(form.get("folders", ""))):
        await app.editing.change(keys, AnnotationChange(with_folders=lists))
    if keys and is_hash_url(instead) and instead not in keys:
        return [(await app.deleting.entries([instead])).id]
    return []


def _differ(submitted: str, cleaned: str) -> bool:
    """Return whether tracking parameters were removed from a URL that is short enough to list."""
    return (
        cleaned not in (submitted, with_scheme(submitted)) and len(submitted) <= MAX_CLEANED_LENGTH
    )


async def _questions_about_known(
    request: web.Request, urls: list[str], form: Mapping[str, Any]
) -> tuple[list[str], SaveAgainView | None]:
    """Return the URLs to save immediately, and the questions about all other URLs."""
    if form.get("again") or len(urls) > MAX_FOLLOWED:
        return urls, None
    pasted = await request.app[RUNTIME].entries.saved_addresses(urls)
    if not pasted.known:
        return urls, None
    view = SaveAgainView(
        pasted.known,
        tags=str(form.get("tags", "")),
        note=str(form.get("note", "")),
        render=bool(form.get("render")),
        title=str(form.get("title", "")),
    )
    return [*pasted.fresh], view


async def _view(
    request: web.Request,
    jobs: list[int],
    result: SaveResult | None = None,
    *,
    problem: Message | str = "",
    tags: str = "",
) -> HomeView:
    runtime = request.app[RUNTIME]
    home_page = await runtime.home_page.read(datetime.now(UTC))
    has_new = any(each.entry.state != "failed" for each in home_page.new)
    newest = None if has_new else await runtime.search.listing(ListingQuery(limit=LATEST))
    return HomeView(
        overview=await runtime.search.overview(),
        home_page=home_page,
        listing=newest,
        running=tuple(each for each in await runtime.import_statuses.recent() if each.is_open),
        jobs=tuple(await runtime.entries.jobs(jobs)) if jobs else (),
        rejected=result.rejected if result else (),
        tags=tags if problem or result else "",
        problem=problem,
        origin=public_origin(request),
        key=auth.bookmarklet_key(request),
        is_paused=await runtime.crawl_status.is_paused(),
        cleaned=tuple(
            each
            for each in request.query.getall("cleaned", [])[:MAX_CLEANED]
            if each.startswith(("http://", "https://"))
        ),
        warnings=await runtime.health.warnings(),
        archives=runtime.recovery.archives,
        notice=await notice_of(request),
        reading=await _partly_read(request),
    )


async def _partly_read(request: web.Request) -> tuple[tuple[Entry, ReadingPlace], ...]:
    """Return the unread entries with the latest reading positions, and these positions."""
    partly_read = []
    for key, place in (await request.app[RUNTIME].reading_places.all()).items():
        with suppress(NotFound):
            entry = (await request.app[RUNTIME].entries.get(key)).entry
            if not entry.annotation.is_read:
                partly_read.append((entry, place))
        if len(partly_read) == MAX_PARTLY_READ:
            break
    return tuple(partly_read)


async def save_page(request: web.Request) -> web.StreamResponse:
    """Show the page to save, and existing snapshots; a GET request saves nothing."""
    parameters = request.query
    url, title, tags = (parameters.get(name, "").strip() for name in ("url", "title", "tags"))
    url = url or first_url_in(parameters.get("text", ""))  # many apps put the URL into the text
    entries = request.app[RUNTIME].entries
    if "saved" in parameters:
        entry = (await entries.get(parameters["saved"])).entry
        window = SaveWindowView(entry.url, entry, is_known="known" in parameters)
        return render(request, "pages/save_window.html", window)
    if url and same(parameters.get("key", ""), auth.bookmarklet_key(request)):
        return render(request, "pages/save_window.html", SaveWindowView(url))
    if "instead" in parameters:
        old = (await entries.get(parameters["instead"])).entry
        about = old.annotation
        tags, lists = tag_list(about.tags), tag_list(about.folders)
        view = SaveView(old.url, "", tags, note=about.note, lists=lists, instead=old)
        return await render_with_sidebar(request, "pages/save.html", view)
    try:
        existing = (await entries.get(url)).entry if url else None
    except (InvalidUrl, NotFound):
        existing = None
    if existing and existing.hash_url != hash_url(parse_entry_url(url)):
        existing = None  # the page is saved under another URL; `duplicates` shows its entry
    saved = () if existing else (await entries.saved_addresses([url])).known
    duplicates = (saved[0].entry, *saved[0].other_entries) if saved else ()
    view = SaveView(url, title, tags, existing, duplicates)
    return await render_with_sidebar(request, "pages/save.html", view)
