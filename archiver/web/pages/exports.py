"""Export page."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

from aiohttp import hdrs, web
from multidict import MultiMapping

from archiver.errors import InputError, InvalidQuery
from archiver.http.headers import attachment
from archiver.model.capture import HashUrl
from archiver.model.export_kinds import BY_KEY, BY_SUFFIX, EXPORTS
from archiver.model.listing import ListingQuery, Summary
from archiver.model.message import Message
from archiver.services.export_selection import Report, Selected
from archiver.services.exports import schema as export_schema
from archiver.web.app_keys import RUNTIME
from archiver.web.pages.editing import LISTED, back, query_of
from archiver.web.pages.listing import SearchError
from archiver.web.rendering import render_with_sidebar
from archiver.web.responses import send_pieces

LARGE_LIST, LARGE_EXPORT = 50_000, 1_000
"""Numbers of entries from which an export is large, so that it is prepared in the background.

``LARGE_LIST`` is for list exports, ``LARGE_EXPORT`` for all other exports.
"""

MAX_SELECTED = 200
"""Maximum number of selected entries, because the address of the page lists them."""


async def page(request: web.Request) -> web.StreamResponse:
    """Show all export formats, for everything, the results of a search, or selected entries."""
    app, query, selected = request.app[RUNTIME], query_of(request.query), _selected(request.query)
    summary, refusal = Summary(len(selected), has_more=False), None
    try:
        if not selected:
            summary = await app.search.summary(query)
    except InvalidQuery as error:
        refusal = SearchError.of(query.q, error)
    jobs = await app.export_jobs.all()
    return await render_with_sidebar(
        request,
        "pages/export.html",
        title=Message("Export"),
        status=400 if refusal else 200,
        query=query,
        export_query="" if refusal else _query_string(query, selected),
        count=None if refusal else summary.count,
        has_more=summary.has_more,
        jobs=jobs,
        is_busy=any(each.is_open for each in jobs),
        refusal=refusal,
        selected=selected,
        kinds=EXPORTS,
        is_large=lambda kind: summary.count >= (LARGE_LIST if kind.is_list else LARGE_EXPORT),
    )


async def export_selected(request: web.Request) -> web.StreamResponse:
    """Show the export formats for the selected entries, or for all of a list."""
    form = await request.post()
    if form.get("scope") == "all":
        raise web.HTTPSeeOther(f"/export{_query_string(query_of(form))}")
    selected = _selected(form)
    if not selected:
        return back(form, "/snapshots", nothing=1)
    raise web.HTTPSeeOther(f"/export{_query_string(ListingQuery(), selected)}")


async def download(request: web.Request) -> web.StreamResponse:
    """Stream one entry, the results of a search (`q`, `tag`, `host`, `status`), or everything.

    `entry`, given once for each hash_url, selects entries instead of a search. `title` is the title
    of a book or page.

    An export of one entry's article is of its newest snapshot, or of the one nearest to `at`.
    """
    kind, key = BY_SUFFIX[request.match_info["form"]], request.match_info.get("hash_url")
    selected = Selected(
        query_of(request.query),
        HashUrl(key) if key else None,
        request.query.get("title", ""),
        _selected(request.query),
        at=request.query.get("at") or None,
    )
    app, report = request.app[RUNTIME], Report()
    name = await app.exporting.name_of(kind, selected)
    pieces = await app.exporting.begin(kind, selected, name=name, report=report)
    try:
        response = web.StreamResponse(headers=_headers(name, kind.media_type))
        return await send_pieces(request, response, pieces)
    finally:
        if report.damaged:
            query = replace(selected.query, q=name) if key else selected.query
            await app.export_jobs.note_damaged_download(kind, replace(selected, query=query))


async def schema(_: web.Request) -> web.StreamResponse:
    """Send the JSON Schema of JSON exports."""
    return web.Response(text=export_schema(), content_type="application/schema+json")


async def prepare(request: web.Request) -> web.StreamResponse:
    """Create a background export."""
    form = await request.post()
    kind = BY_KEY.get(str(form.get("form", "")))
    if kind is None:
        raise InputError("The format of an export must be one of {known}.", known=", ".join(BY_KEY))
    query, selected = query_of(form), _selected(form)
    app = request.app[RUNTIME]
    await app.search.summary(query)  # refuse an invalid search now, not in the background
    title = str(form.get("title", ""))
    await app.export_jobs.create(kind, Selected(query, title=title, entries=selected))
    raise web.HTTPSeeOther(f"/export{_query_string(query, selected)}#prepared")


async def prepared(request: web.Request) -> web.StreamResponse:
    """Send a background export, or a range of it."""
    name = request.match_info["name"]
    path, kind = await request.app[RUNTIME].export_jobs.file(name)
    headers = _headers(name, kind.media_type) | {hdrs.CACHE_CONTROL: "private, no-cache"}
    return web.FileResponse(path, headers=headers)


async def delete(request: web.Request) -> web.StreamResponse:
    """Delete a background export."""
    await request.app[RUNTIME].export_jobs.delete(request.match_info["name"])
    raise web.HTTPSeeOther("/export#prepared")


def _headers(name: str, media_type: str) -> dict[str, str]:
    return {
        hdrs.CONTENT_TYPE: media_type,
        hdrs.CONTENT_DISPOSITION: attachment(name),
        hdrs.CACHE_CONTROL: "private, no-store",
    }


def _selected(fields: MultiMapping[Any]) -> tuple[HashUrl, ...]:
    """Return the hash_urls of the entries that a form or a query string selects.

    Raises:
        InputError: there are too many of them.
    """
    selected = tuple(HashUrl(str(each)) for each in fields.getall("entry", []))
    if len(selected) > MAX_SELECTED:
        raise InputError(
            "You can export at most {most} selected entries at a time. Export the results of "
            "a search instead.",
            most=MAX_SELECTED,
        )
    return selected


def _query_string(query: ListingQuery, selected: Sequence[HashUrl] = ()) -> str:
    chosen = [(name, value) for name in LISTED if (value := getattr(query, name))]
    chosen += [("entry", each) for each in selected]
    return f"?{urlencode(chosen)}" if chosen else ""
