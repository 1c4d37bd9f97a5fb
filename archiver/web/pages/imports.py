"""``/import``: a file of bookmarks, and how far each import has come."""

from aiohttp import web

from archiver.errors import NotFound
from archiver.services.import_kinds import KNOWN_FORMATS, suffixes
from archiver.web.keys import RUNTIME
from archiver.web.render import render
from archiver.web.uploads import import_from_form
from archiver.web.views import ImportStatusView, ImportView


async def form(request: web.Request) -> web.StreamResponse:
    """Show the form."""
    runtime = request.app[RUNTIME]
    recent = tuple(await runtime.imports.recent())
    accept = ",".join(suffixes())
    view = ImportView(recent, runtime.settings.max_upload_bytes, KNOWN_FORMATS, accept)
    return render(request, "pages/import.html", view)


async def upload(request: web.Request) -> web.StreamResponse:
    """Take the file, and lead to its progress."""
    started = await import_from_form(request)
    raise web.HTTPSeeOther(f"/import/{started.id}")


async def status(request: web.Request) -> web.StreamResponse:
    """Show how far an import has come."""
    number = int(request.match_info["id"])
    if number >= 1 << 62:
        raise NotFound("There is no such import.")
    found = await request.app[RUNTIME].imports.status(number)
    view = ImportStatusView(found, title=f"Import of {found.name}")
    return render(request, "pages/import_status.html", view)
