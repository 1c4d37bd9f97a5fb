"""``/export``: every form of taking entries away, and what is kept of them."""

from urllib.parse import urlencode

from aiohttp import hdrs, web

from archiver.errors import InputError, InvalidQuery
from archiver.model.listing import ListingQuery
from archiver.services.export_kinds import BY_KEY
from archiver.web.api.questions import listing_query
from archiver.web.export_views import ExportView
from archiver.web.keys import RUNTIME
from archiver.web.side import render_beside
from archiver.web.views import Refusal

_NARROWING = ("q", "tag", "host", "status")


async def page(request: web.Request) -> web.StreamResponse:
    """Show the forms, of everything or of what is asked for."""
    runtime, asked = request.app[RUNTIME], listing_query(request)
    query = ListingQuery(asked.q, asked.tag, asked.host, asked.status)
    kept = tuple(await runtime.kept_exports.listing())
    try:
        found = await runtime.search.summary(query)
    except InvalidQuery as error:
        refusal = Refusal.of(query.q, error)
        view = ExportView(query, "", None, has_more=False, kept=kept, refusal=refusal)
        return await render_beside(request, "pages/export.html", view, status=400)
    view = ExportView(query, _query(query), found.count, has_more=found.has_more, kept=kept)
    return await render_beside(request, "pages/export.html", view)


async def keep(request: web.Request) -> web.StreamResponse:
    """Have an export written here."""
    form = await request.post()
    kind = BY_KEY.get(str(form.get("form", "")))
    if kind is None:
        raise InputError("An export is one of {known}.", known=", ".join(BY_KEY))
    q, tag, host, status = (str(form.get(name, "")) for name in _NARROWING)
    query = ListingQuery(q, tag, host, status)
    runtime = request.app[RUNTIME]
    await runtime.search.summary(query)  # refused here, where somebody can mend it
    await runtime.kept_exports.begin(kind, query)
    raise web.HTTPSeeOther(f"/export{_query(query)}#kept")


async def kept(request: web.Request) -> web.StreamResponse:
    """Send an export that is kept, or a range of it."""
    name = request.match_info["name"]
    path, kind = await request.app[RUNTIME].kept_exports.file(name)
    return web.FileResponse(
        path,
        headers={
            hdrs.CONTENT_TYPE: kind.media_type,
            hdrs.CONTENT_DISPOSITION: f'attachment; filename="{name}"',
            hdrs.CACHE_CONTROL: "private, no-cache",
        },
    )


async def delete(request: web.Request) -> web.StreamResponse:
    """Delete an export that is kept."""
    await request.app[RUNTIME].kept_exports.delete(request.match_info["name"])
    raise web.HTTPSeeOther("/export#kept")


def _query(query: ListingQuery) -> str:
    chosen = {name: value for name in _NARROWING if (value := getattr(query, name))}
    return f"?{urlencode(chosen)}" if chosen else ""
