"""Highlights page."""

from collections.abc import AsyncGenerator
from urllib.parse import urlencode

from aiohttp import web

from archiver.errors import InputError, InvalidQuery
from archiver.model.message import Message
from archiver.services.highlights import HighlightList
from archiver.web.api.json_http import whole_number
from archiver.web.app_keys import RUNTIME
from archiver.web.pages.editing import back, notice_of, return_path
from archiver.web.pages.listing import SearchError
from archiver.web.rendering import render_with_sidebar
from archiver.web.responses import stream

_TYPES = {"md": "text/markdown", "json": "application/json"}


async def listing(request: web.Request) -> web.StreamResponse:
    """Show a page of highlights."""
    q, after = request.query.get("q", ""), request.query.get("after", "")
    page, refusal = HighlightList((), None), None
    try:
        page = await request.app[RUNTIME].highlights.listing(q, after)
    except InvalidQuery as error:
        refusal = SearchError.of(q, error)
    return await render_with_sidebar(
        request,
        "pages/highlights.html",
        title=Message("Highlights"),
        status=400 if refusal else 200,
        q=q,
        found=page,
        next_url=f"/highlights?{urlencode({'q': q, 'after': page.after})}" if page.after else "",
        refusal=refusal,
        notice=None if refusal else await notice_of(request),
    )


async def change(request: web.Request) -> web.StreamResponse:
    """Add, change or remove a highlight, and show the article again."""
    form, key = await request.post(), request.match_info["hash_url"]
    fields = {
        name: str(form.get(name, "")) for name in ("do", "id", "quote", "note", "colour", "at")
    }
    highlights, at = request.app[RUNTIME].highlights, fields["at"]
    article_path = f"/{key}/?{urlencode({'at': at})}" if at else f"/{key}/"
    if fields["do"] == "add":
        highlighted = await highlights.add(
            key,
            fields["quote"],
            start=whole_number(str(form.get("start", ""))),
            colour=fields["colour"],
            note=fields["note"],
            timestamp=at or None,
        )
    elif fields["do"] == "change":
        colour, note = fields["colour"], fields["note"]
        highlighted = await highlights.change(key, fields["id"], colour=colour, note=note)
    elif fields["do"] == "remove":
        return back(form, article_path, edit=await highlights.remove(key, fields["id"]))
    else:
        raise InputError("This form is outdated. Reload the page and try again.")
    raise web.HTTPSeeOther(f"{return_path(form, article_path)}#hl-{highlighted.highlight.id}")


async def export(request: web.Request) -> web.StreamResponse:
    """Export highlights as Markdown or W3C Web Annotations."""
    form, q = request.match_info["form"], request.query.get("q", "")
    highlights = request.app[RUNTIME].highlights
    pieces = highlights.markdown(q) if form == "md" else highlights.web_annotations(q)
    return await stream(request, _encoded(pieces), _TYPES[form])


async def _encoded(pieces: AsyncGenerator[str, None]) -> AsyncGenerator[bytes, None]:
    async for piece in pieces:
        yield piece.encode("utf-8", "replace")
