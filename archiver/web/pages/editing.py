"""Editing of entries."""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NoReturn
from urllib.parse import parse_qsl, urlencode, urlsplit

from aiohttp import web
from multidict import MultiMapping

from archiver.errors import InputError, NotFound
from archiver.model.annotation import AnnotationChange
from archiver.model.deletion import Deleted
from archiver.model.entry import Entry
from archiver.model.listing import ListingQuery, Summary
from archiver.model.message import Message
from archiver.services.editing import Edited
from archiver.web import auth
from archiver.web.api.json_http import list_query, parse_list_query, whole_number
from archiver.web.app_keys import RUNTIME
from archiver.web.rendering import render_with_sidebar


@dataclass(frozen=True, slots=True)
class Notice:
    """Notice about the last change, or about its undo.

    Attributes:
        back: the page to return to after the undo.
        counts: what happened, by the parameters of the URL that say so.
        edited, deleted: the change, if it can be undone.
    """

    back: str
    counts: Mapping[str, int]
    edited: Edited | None = None
    deleted: Deleted | None = None


LISTED = ("q", "tag", "host", "status")
_SELECTION = (*LISTED, "entry", "scope", "back")
_NOTICES = (
    *("edit", "undone", "deleted", "restored", "not_restored", "lost", "nothing"),
    *("queued", "rescued"),
)


async def edit_selected(request: web.Request) -> web.StreamResponse:
    """Change the filled-in fields of the selected entries, or of all in a list."""
    form, editing = await request.post(), request.app[RUNTIME].editing
    refs, query = selection(form)
    change = change_of(form)
    change = replace(change, title=change.title or None, note=change.note or None)
    try:
        edited = await (
            editing.change_matching(query, change) if query else editing.change(refs, change)
        )
    except InputError as error:
        fields = [(name, str(value)) for name, value in form.items()]
        return await render_with_sidebar(
            request,
            "pages/edit_again.html",
            title=Message("Nothing was changed"),
            status=400,
            why=error.sentence,
            typed={name: value for name, value in fields if name not in _SELECTION},
            selection=[(name, value) for name, value in fields if name in _SELECTION],
            back=return_path(form, "/snapshots"),
        )
    return back(form, "/snapshots", edit=edited.id)


async def undo(request: web.Request) -> web.StreamResponse:
    """Undo an edit."""
    form = await request.post()
    undone = await request.app[RUNTIME].editing.undo(parse_number(str(form.get("edit", ""))))
    return back(form, "/", undone=undone.changed)


async def notice_of(request: web.Request) -> Notice | None:
    """Return the notice that the parameters of the URL ask for; None if there is none."""
    texts = {name: text for name in _NOTICES if (text := request.query.get(name))}
    counts = {name: parse_number(text) for name, text in texts.items()}
    if not counts:
        return None
    app, edit, deletion = request.app[RUNTIME], counts.get("edit"), counts.get("deleted")
    return Notice(
        _without_notices(request.path_qs),
        counts,
        await app.editing.find(edit) if edit is not None else None,
        await app.deleting.find(deletion) if deletion is not None else None,
    )


def selection(form: MultiMapping[Any]) -> tuple[list[str], ListingQuery | None]:
    """Return the entries that a form selects, or the query of its list if it selects all.

    Raises:
        web.HTTPSeeOther: nothing is selected; the page says so.
    """
    if form.get("scope") == "all":
        return [], query_of(form)
    refs = [str(each) for each in form.getall("entry", [])]
    if not refs:
        back(form, "/snapshots", nothing=1)
    return refs, None


def query_of(form: Mapping[str, Any]) -> ListingQuery:
    """Return the query of the list of entries that a form belongs to."""
    q, tag, host, status = (str(form.get(name, "")) for name in LISTED)
    return ListingQuery(q=q, tag=tag, host=host, status=status)


def change_of(form: MultiMapping[Any]) -> AnnotationChange:
    """Return the change in a form: metadata whose field is missing stays unchanged."""
    tags, folders = form.get("tags"), form.get("folders")
    return AnnotationChange(
        title=form.get("title"),
        note=form.get("note"),
        tags=None if tags is None else names_in(tags),
        with_tags=names_in(form.get("with_tags", "")),
        without_tags=names_in(form.get("without_tags", "")),
        folders=None if folders is None else names_in(folders),
        with_folders=names_in(form.get("with_folders", "")),
        without_folders=names_in(form.get("without_folders", "")),
        is_read=_flag(form, "is_read"),
        is_starred=_flag(form, "is_starred"),
    )


def names_in(text: str) -> tuple[str, ...]:
    """Parse comma-separated tags or lists; a comma in a name is quoted as in CSV (RFC 4180)."""
    line = " ".join(text.split())
    if not line:
        return ()
    try:
        (row,) = csv.reader([line], skipinitialspace=True)
    except csv.Error:  # a name is longer than the module accepts; it is refused later
        row = [line]
    return tuple(each.strip() for each in row if each.strip())


def _flag(form: MultiMapping[Any], name: str) -> bool | None:
    """Return a flag. The last field of this name counts, because buttons override other fields."""
    return {"1": True, "0": False}.get(form.getall(name, [""])[-1])


def parse_number(text: str) -> int:
    """Parse a number in a request, such as the id of a change.

    Raises:
        InputError: the text is not a whole number.
    """
    if (number := whole_number(text)) is None:
        raise InputError("This link to an edit is not valid. Go back and try again.")
    return number


def back(form: Mapping[str, Any], otherwise: str, **notice: int) -> NoReturn:
    """Redirect to the page that contained the form, which then shows a notice."""
    path = return_path(form, otherwise)
    joint = "&" if "?" in path else "?"
    raise web.HTTPSeeOther(f"{path}{joint}{urlencode(notice)}")


def return_path(form: Mapping[str, Any], otherwise: str) -> str:
    """Return the path of the page that contained a form, without earlier notices."""
    return _without_notices(auth.local_path(str(form.get("back", "")) or otherwise))


def _without_notices(path: str) -> str:
    parts = urlsplit(path)
    fields = [each for each in parse_qsl(parts.query) if each[0] not in _NOTICES]
    return f"{parts.path}?{urlencode(fields)}" if fields else parts.path


SHOWN = 10


async def confirm_deletion(request: web.Request) -> web.StreamResponse:
    """Ask for confirmation to delete an entry, or the snapshot in ``at``."""
    key, timestamp = request.match_info["hash_url"], request.query.get("at", "")
    detail = await request.app[RUNTIME].entries.get(key)
    if timestamp and timestamp not in {each.timestamp for each in detail.snapshots}:
        raise NotFound(
            "{url} has no snapshot from {timestamp}.",
            url=detail.entry.url,
            timestamp=timestamp[:20],
        )
    listed = list_query(parse_list_query(request.query["in"])) if "in" in request.query else ""
    path = f"/{key}/?{urlencode({'in': listed})}" if listed else f"/{key}/"
    return await _confirmation(request, path, [detail.entry], keys=[key], timestamp=timestamp)


async def _confirmation(
    request: web.Request,
    path: str,
    entries: Sequence[Entry],
    *,
    keys: Sequence[str] = (),
    timestamp: str = "",
    query: ListingQuery | None = None,
) -> web.StreamResponse:
    """Ask for confirmation of a deletion.

    Args:
        request: the request.
        path: the page to return to.
        entries: the first entries, as examples.
        keys: hash_urls of the entries; empty for all results of ``query``.
        timestamp: the snapshot to delete; empty for all snapshots.
        query: the search whose results are deleted; None if ``keys`` names the entries.
    """
    app, summary = request.app[RUNTIME], Summary(len(keys), has_more=False)
    return await render_with_sidebar(
        request,
        "pages/delete.html",
        title=Message("Delete"),
        back=path,
        entries=entries,
        keys=keys,
        timestamp=timestamp,
        query=query,
        summary=await app.search.summary(query) if query else summary,
        days=app.settings.bin_days,
    )


async def delete(request: web.Request) -> web.StreamResponse:
    """Delete the entries in the form, or ask for confirmation first."""
    form, deleting = await request.post(), request.app[RUNTIME].deleting
    (refs, query), timestamp = selection(form), str(form.get("timestamp", ""))
    if form.get("sure") != "1":
        return await _confirm_selected(request, str(form.get("back", "")), refs, query)
    if query:
        deleted = await deleting.matching(query)
    elif timestamp:
        deleted = await deleting.snapshot(refs[0], timestamp)
    else:
        deleted = await deleting.entries(refs)
    path = (
        _path_after_deletion(str(form.get("back", "")), refs)
        if not timestamp
        else form.get("back", "")
    )
    return back({"back": path}, "/snapshots", deleted=deleted.id)


def _path_after_deletion(path: str, deleted: Sequence[str]) -> str:
    """Return the path to go back to; for the page of a deleted entry, the path of its list."""
    parts = urlsplit(path)
    if parts.path.strip("/") not in deleted:
        return path
    listed = dict(parse_qsl(parts.query)).get("in", "")
    return f"/snapshots?{listed}" if listed else "/snapshots"


async def restore(request: web.Request) -> web.StreamResponse:
    """Restore deleted entries if possible; the page lists those that could not be restored."""
    form = await request.post()
    deletion = parse_number(str(form.get("deletion", "")))
    try:
        restored = await request.app[RUNTIME].deleting.undo(deletion)
    except (InputError, NotFound) as error:
        return back(form, "/snapshots", restored=0, lost=int(isinstance(error, NotFound)))
    count = restored.entries or restored.snapshots
    return back(form, "/snapshots", restored=count, not_restored=restored.not_restored)


async def _confirm_selected(
    request: web.Request, path: str, refs: Sequence[str], query: ListingQuery | None
) -> web.StreamResponse:
    app = request.app[RUNTIME]
    if query:
        listed = (await app.search.listing(query)).items[:SHOWN]
        return await _confirmation(request, path, [each.entry for each in listed], query=query)
    entries = [(await app.entries.get(each)).entry for each in refs[:SHOWN]]
    return await _confirmation(request, path, entries, keys=refs)
