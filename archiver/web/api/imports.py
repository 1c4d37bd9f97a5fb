"""``/api/v1/imports``: bookmark files in, and how far they got."""

from aiohttp import web

from archiver.model.importing import ImportStatus
from archiver.web.api.answers import answer
from archiver.web.api.questions import path_number
from archiver.web.keys import RUNTIME
from archiver.web.uploads import import_from_api


async def start(request: web.Request) -> web.StreamResponse:
    """Take a file; reading it goes on after the answer."""
    status = await import_from_api(request)
    response = answer(status, status=202)
    response.headers["Location"] = f"/api/v1/imports/{status.id}"
    return response


async def recent(request: web.Request) -> web.StreamResponse:
    """List the latest imports, newest first."""
    found = await request.app[RUNTIME].imports.recent()
    return answer(found, shape=list[ImportStatus])


async def show(request: web.Request) -> web.StreamResponse:
    """Show one import."""
    return answer(await request.app[RUNTIME].imports.status(path_number(request, "id")))
