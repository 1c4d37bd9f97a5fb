"""Tag and list pages."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from aiohttp import web
from multidict import MultiMapping

from archiver.errors import InputError, NotFound
from archiver.model.entry_list import ListColour, is_within
from archiver.model.message import Message
from archiver.services.editing import Edited
from archiver.services.lists import EntryLists, ListPosition
from archiver.web.app_keys import RUNTIME
from archiver.web.pages.editing import back, notice_of, selection
from archiver.web.rendering import render_with_sidebar


@dataclass(frozen=True, slots=True)
class RejectedForm:
    """A rejected form, shown again with its values.

    Attributes:
        why: the error.
        of: name of the list or tag to change; empty for a new one.
        given: the new name as submitted.
        query: the search to save under the new name.
    """

    why: Message
    of: str
    given: str
    query: str = ""


async def change_tag(request: web.Request) -> web.StreamResponse:
    """Rename, merge or delete a tag."""
    form = await request.post()
    names, new = [str(each) for each in form.getall("name", [])], str(form.get("new", ""))
    name = names[0] if names else ""
    try:
        return await _apply_to_tags(request, names, new, str(form.get("do", "")))
    except InputError as error:
        return await tags(request, RejectedForm(error.sentence, name, new), status=400)


async def tags(
    request: web.Request, refused: RejectedForm | None = None, *, status: int = 200
) -> web.StreamResponse:
    """Show the tags, with similar spellings next to each other."""
    return await render_with_sidebar(
        request,
        "pages/tags.html",
        title=Message("Tags"),
        status=status,
        tags=await request.app[RUNTIME].editing.tags(),
        notice=await notice_of(request),
        refused=refused,
    )


async def _apply_to_tags(
    request: web.Request, names: list[str], new: str, what: str
) -> web.StreamResponse:
    editing = request.app[RUNTIME].editing
    if not names:
        raise InputError("Select a tag first.")
    if what in ("rename", "merge"):
        edited = [await editing.rename_tag(each, new) for each in names if each != new][-1:]
    elif what == "delete":
        edited = [await editing.delete_tag(each) for each in names][-1:]
    else:
        raise InputError("This form is outdated. Reload the page and try again.")
    raise web.HTTPSeeOther(f"/tags?edit={edited[0].id}" if edited else "/tags")


async def change_list(request: web.Request) -> web.StreamResponse:
    """Create, rename, move or delete a list; errors are shown above the form."""
    form = await request.post()
    try:
        return await _apply_to_lists(request, form)
    except (InputError, NotFound) as error:
        path, new = str(form.get("path", "")), str(form.get("new", ""))
        is_new = form.get("do") == "make"
        query = str(form.get("query", ""))
        refused = RejectedForm(
            error.sentence, "" if is_new else path, path if is_new else new, query
        )
        return await lists(request, refused, status=400)


async def lists(
    request: web.Request, refused: RejectedForm | None = None, *, status: int = 200
) -> web.StreamResponse:
    """Show all lists."""
    return await render_with_sidebar(
        request,
        "pages/lists.html",
        title=Message("Lists"),
        status=status,
        lists=await request.app[RUNTIME].lists.all(),
        notice=await notice_of(request),
        refused=refused,
    )


async def _apply_to_lists(request: web.Request, form: MultiMapping[Any]) -> web.StreamResponse:
    lists_service = request.app[RUNTIME].lists
    if form.get("do") == "make":
        new_list = await lists_service.make(str(form.get("path", "")), str(form.get("query", "")))
        raise web.HTTPSeeOther(f"/snapshots?{urlencode({'q': new_list.search_query})}")
    paths = [str(each) for each in form.getall("path", [])]
    if not paths:
        raise InputError("Select a list first.")
    # Nested lists of a selected list are moved or deleted with it.
    outer = [one for one in paths if not any(one != o and is_within(one, o) for o in paths)]
    edited = [await _changed(lists_service, path, form) for path in outer]
    last = next((each for each in reversed(edited) if each), None)
    raise web.HTTPSeeOther(f"/lists?edit={last.id}" if last else "/lists")


async def order_lists(request: web.Request) -> web.StreamResponse:
    """Move the selected entries within a list."""
    form = await request.post()
    position = str(form.get("position", ""))
    if position not in set(ListPosition):
        raise InputError("This form is outdated. Reload the page and try again.")
    refs, _ = selection(form)
    edited = await request.app[RUNTIME].lists.order(
        str(form.get("list", "")), refs, ListPosition(position)
    )
    return back(form, "/snapshots", edit=edited.id)


async def _changed(lists_service: EntryLists, path: str, form: Mapping[str, Any]) -> Edited | None:
    action, new = form.get("do"), str(form.get("new", ""))
    if action == "merge" and path == new:
        return None
    if action in ("rename", "merge"):
        return await lists_service.rename(path, new)
    if action == "delete":
        return await lists_service.delete(path)
    if action == "place":
        return await lists_service.place(
            path, str(form.get("parent", "")), str(form.get("before", ""))
        )
    if action == "colour":
        await lists_service.set_colour(path, ListColour.of(form.get("colour")))
        return None
    if action not in ("up", "down"):
        raise InputError("This form is outdated. Reload the page and try again.")
    await lists_service.move(path, down=action == "down")
    return None
