"""``/tags``: every tag, how often it is used, and what can be done with it."""

from aiohttp import web

from archiver.errors import InputError
from archiver.web.keys import RUNTIME
from archiver.web.name_views import Refused, TagsView
from archiver.web.pages.editing import notice_of
from archiver.web.side import render_beside


async def tags(request: web.Request) -> web.StreamResponse:
    """List the tags, those that read the same side by side."""
    return await _page(request)


async def change(request: web.Request) -> web.StreamResponse:
    """Rename a tag, let it become one with another, or take it from all entries."""
    form = await request.post()
    name, new = str(form.get("name", "")), str(form.get("new", ""))
    try:
        return await _obey(request, name, new, str(form.get("do", "")))
    except InputError as error:
        return await _page(request, Refused(error.sentence, name, new), status=400)


async def _page(
    request: web.Request, refused: Refused | None = None, *, status: int = 200
) -> web.StreamResponse:
    found = await request.app[RUNTIME].editing.tags()
    view = TagsView(tuple(found), await notice_of(request), refused)
    return await render_beside(request, "pages/tags.html", view, status=status)


async def _obey(request: web.Request, name: str, new: str, what: str) -> web.StreamResponse:
    editing = request.app[RUNTIME].editing
    if what == "rename":
        edited = await editing.rename_tag(name, new)
    elif what == "delete":
        edited = await editing.delete_tag(name)
    else:
        raise InputError("A tag can be renamed or deleted.")
    raise web.HTTPSeeOther(f"/tags?edit={edited.id}")
