"""``/import/look/{token}``: what an import would do, the choices there are, and doing it."""

import asyncio
from typing import Any
from urllib.parse import urlencode

from aiohttp import web
from multidict import MultiMapping

from archiver.errors import UnreadableFile
from archiver.model.choices import Choices, ColumnRole
from archiver.model.message import Message
from archiver.services.import_choices import typed_choices
from archiver.services.looked_at import LookedAt
from archiver.web.import_views import ImportLookView
from archiver.web.keys import RUNTIME
from archiver.web.pages.imports import form_for_file
from archiver.web.side import render_beside
from archiver.web.uploads import MOST_COUNTED

MOST_LOOKED_AT = 100_000
"""Links; the counts of a longer file are those of its first ones, and it says so."""
MOST_COLUMNS = 60
"""Columns that can be corrected on the page; the command takes all."""


async def look(request: web.Request) -> web.StreamResponse:
    """Show what is in a file, and what becomes of it by the choices in the query."""
    kept = await _kept(request)
    choices = _choices(request.query)
    most = MOST_COUNTED if "whole" in request.query else MOST_LOOKED_AT
    surveys = request.app[RUNTIME].surveys
    try:
        with await asyncio.to_thread(kept.path.open, "rb") as source:
            survey = await surveys.look(source, kept.name, choices=choices, most=most)
    except UnreadableFile as error:
        return await form_for_file(request, 422, problem=error.sentence)
    tags = ", ".join(choices.tags)
    view = ImportLookView(
        kept.token,
        survey,
        choices,
        tags,
        roles=tuple(ColumnRole),
        columns=survey.columns[:MOST_COLUMNS],
        title=Message("Before {name} is imported", name=kept.name),
    )
    return await render_beside(request, "pages/import_look.html", view)


async def confirm(request: web.Request) -> web.StreamResponse:
    """Import the file as it was chosen, show what that would do, or throw it away."""
    imports = request.app[RUNTIME].imports
    kept, form = await _kept(request), await request.post()
    if "discard" in form:
        await imports.looked_at.discard(kept)
        raise web.HTTPSeeOther("/import")
    choices = _choices(form)
    if "check" in form:
        raise web.HTTPSeeOther(f"/import/look/{kept.token}?{_asked(form)}")
    whole = await imports.looked_at.to_be_imported(kept)
    started = await imports.start(whole, name=kept.name, choices=choices)
    raise web.HTTPSeeOther(f"/import/{started.id}")


async def _kept(request: web.Request) -> LookedAt:
    return await request.app[RUNTIME].imports.looked_at.find(request.match_info["token"])


def _asked(form: MultiMapping[Any]) -> str:
    """The choices of a form as a query; ``whole`` where all of the file is to be looked at."""
    chosen = [(name, str(value)) for name, value in form.items() if name != "check"]
    return urlencode([*chosen, *([("whole", "1")] if form.get("check") == "whole" else [])])


def _choices(form: MultiMapping[Any]) -> Choices:
    words = {name: str(form.get(name, "")) for name in ("folders_as", "to_read", "capture", "into")}
    return typed_choices(
        tags=str(form.get("tags", "")).split(","),
        words=words,
        only_folders=[str(each) for each in form.getall("only", ())],
        columns=[str(each) for each in form.getall("column", ())],
    )
