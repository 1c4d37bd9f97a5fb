"""``/import/look/{token}``: what an import would do, the choices there are, and doing it."""

import asyncio
from pathlib import Path
from typing import Any

from aiohttp import web
from multidict import MultiMapping

from archiver.model.choices import Choices, ColumnRole
from archiver.model.message import Message
from archiver.services.import_choices import typed_choices
from archiver.web.import_views import ImportLookView
from archiver.web.keys import RUNTIME
from archiver.web.looked_at import LookedAt, find
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
    with await asyncio.to_thread(kept.path.open, "rb") as source:
        survey = await request.app[RUNTIME].surveys.look(
            source,
            kept.name,
            choices=choices,
            most=MOST_COUNTED if "whole" in request.query else MOST_LOOKED_AT,
        )
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
    """Import the file as it was chosen, or throw it away."""
    kept, form = await _kept(request), await request.post()
    if "discard" in form:
        await asyncio.to_thread(kept.remove)
        raise web.HTTPSeeOther("/import")
    choices = _choices(form)
    whole = await asyncio.to_thread(_taken, kept)
    started = await request.app[RUNTIME].imports.start(whole, name=kept.name, choices=choices)
    raise web.HTTPSeeOther(f"/import/{started.id}")


async def _kept(request: web.Request) -> LookedAt:
    directory = request.app[RUNTIME].settings.data / "tmp"
    return await asyncio.to_thread(find, directory, request.match_info["token"])


def _taken(kept: LookedAt) -> Path:
    """Give the file the name that an import goes on with."""
    whole = kept.path.with_suffix(".upload")
    kept.path.rename(whole)
    kept.remove()
    return whole


def _choices(form: MultiMapping[Any]) -> Choices:
    words = {name: str(form.get(name, "")) for name in ("folders_as", "to_read", "capture", "into")}
    return typed_choices(
        tags=str(form.get("tags", "")).split(","),
        words=words,
        only_folders=[str(each) for each in form.getall("only", ())],
        columns=[str(each) for each in form.getall("column", ())],
    )
