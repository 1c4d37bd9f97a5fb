"""``/tags``: every tag, how often it is used, and what can be done with it."""

from aiohttp import web

from archiver.errors import InputError
from archiver.web.keys import RUNTIME
from archiver.web.pages.editing import notice_of
from archiver.web.side import render_beside
from archiver.web.views import TagsView


async def tags(request: web.Request) -> web.StreamResponse:
    """List the tags, those that read the same side by side."""
    found = await request.app[RUNTIME].editing.tags()
    view = TagsView(tuple(found), await notice_of(request))
    return await render_beside(request, "pages/tags.html", view)


async def change(request: web.Request) -> web.StreamResponse:
    """Rename a tag, let it become one with another, or take it from all entries."""
    form, editing = await request.post(), request.app[RUNTIME].editing
    name, what = str(form.get("name", "")), form.get("do")
    if what == "rename":
        edited = await editing.rename_tag(name, str(form.get("new", "")))
    elif what == "delete":
        edited = await editing.delete_tag(name)
    else:
        raise InputError("A tag can be renamed or deleted.")
    raise web.HTTPSeeOther(f"/tags?edit={edited.id}")
