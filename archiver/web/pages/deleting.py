"""``/{hash_url}/delete``, ``/delete``, ``/restore``: throwing away, asked first, and undoing it.

A form that is sent without ``sure`` is answered with a page that asks, and whose form has it.
"""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from aiohttp import web

from archiver.errors import InputError, NotFound
from archiver.web.api.questions import list_query, listed_query
from archiver.web.keys import RUNTIME
from archiver.web.pages.editing import back, number, query_of
from archiver.web.side import render_beside
from archiver.web.work_views import DeleteView

SHOWN = 10


async def ask(request: web.Request) -> web.StreamResponse:
    """Ask whether an entry, or the snapshot named by ``at``, is to go; ``in`` is as on its page."""
    key, timestamp = request.match_info["hash_url"], request.query.get("at", "")
    detail = await request.app[RUNTIME].entries.get(key)
    if timestamp and timestamp not in {each.timestamp for each in detail.snapshots}:
        raise NotFound(
            "{url} has no snapshot of {timestamp}.", url=detail.entry.url, timestamp=timestamp[:20]
        )
    listed = list_query(listed_query(request.query["in"])) if "in" in request.query else ""
    back_to = f"/{key}/?{urlencode({'in': listed})}" if listed else f"/{key}/"
    view = DeleteView(
        (key,),
        entries=(detail.entry,),
        timestamp=timestamp,
        back=back_to,
        listed=f"/snapshots?{listed}" if listed else "/snapshots",
    )
    return await render_beside(request, "pages/delete.html", view)


async def delete(request: web.Request) -> web.StreamResponse:
    """Throw away what the form names, or ask first."""
    form, deleting = await request.post(), request.app[RUNTIME].deleting
    refs = tuple(str(each) for each in form.getall("entry", []))
    is_all, timestamp = form.get("scope") == "all", str(form.get("timestamp", ""))
    if not (refs or is_all):
        return back(form, "/snapshots", nothing=1)
    if form.get("sure") != "1":
        view = await _question(request, form, () if is_all else refs)
        return await render_beside(request, "pages/delete.html", view)
    if is_all:
        deleted = await deleting.found(query_of(form))
    elif timestamp:
        deleted = await deleting.snapshot(refs[0], timestamp)
    else:
        deleted = await deleting.entries(refs)
    return back(form, "/snapshots", deleted=deleted.id)


async def restore(request: web.Request) -> web.StreamResponse:
    """Put back what was thrown away, as far as that can be; the page says what could not."""
    form = await request.post()
    asked = number(str(form.get("deletion", "")))
    try:
        restored = await request.app[RUNTIME].deleting.undo(asked)
    except (InputError, NotFound) as error:
        return back(form, "/snapshots", restored=0, lost=int(isinstance(error, NotFound)))
    count = restored.entries or restored.snapshots
    return back(form, "/snapshots", restored=count, stayed=restored.stayed)


async def _question(
    request: web.Request, form: Mapping[str, Any], refs: tuple[str, ...]
) -> DeleteView:
    runtime = request.app[RUNTIME]
    path = str(form.get("back", ""))
    if refs:
        known = [(await runtime.entries.get(each)).entry for each in refs[:SHOWN]]
        return DeleteView(refs, tuple(known), count=len(refs), back=path)
    query = query_of(form)
    summary = await runtime.search.summary(query)
    listing = await runtime.search.listing(query)
    return DeleteView(
        (),
        tuple(each.entry for each in listing.items[:SHOWN]),
        count=summary.count,
        has_more=summary.has_more,
        query=query,
        back=path,
    )
