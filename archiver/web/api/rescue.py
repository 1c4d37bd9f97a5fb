"""``/api/v1/rescue``: public archives are asked for pages that are gone."""

from aiohttp import web

from archiver.model.listing import ListingQuery
from archiver.web.api.answers import answer
from archiver.web.api.imports import Queued
from archiver.web.api.questions import RescueRequest, read_json
from archiver.web.keys import RUNTIME


async def ask(request: web.Request) -> web.StreamResponse:
    """Ask for those named, for those found, or for all that are gone."""
    wanted, rescuing = await read_json(request, RescueRequest), request.app[RUNTIME].rescuing
    if wanted.entries and wanted.query:
        raise web.HTTPBadRequest(text="Name entries or give a query, not both.")
    if wanted.entries:
        return answer(Queued(await rescuing.rescue(wanted.entries)), status=202)
    if wanted.query:
        return answer(Queued(await rescuing.rescue_found(ListingQuery(wanted.query))), status=202)
    return answer(Queued(await rescuing.rescue_gone()), status=202)
