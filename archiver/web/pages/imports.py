"""``/import``: a file of bookmarks, and how far each import has come."""

from aiohttp import hdrs, web

from archiver.errors import NotFound
from archiver.model.importing import ImportStatus
from archiver.services.import_kinds import KNOWN_FORMATS, suffixes
from archiver.web.import_views import ImportStatusView, ImportView
from archiver.web.keys import RUNTIME
from archiver.web.looked_at import LookedAt
from archiver.web.render import render
from archiver.web.streaming import send
from archiver.web.uploads import import_from_form

_RECEIPTS = {"csv": "text/csv; charset=utf-8", "json": "application/json"}


async def form(request: web.Request) -> web.StreamResponse:
    """Show the form."""
    runtime = request.app[RUNTIME]
    recent = tuple(await runtime.imports.recent())
    accept = ",".join(suffixes())
    view = ImportView(recent, runtime.settings.max_upload_bytes, KNOWN_FORMATS, accept)
    return render(request, "pages/import.html", view)


async def upload(request: web.Request) -> web.StreamResponse:
    """Take the file, and lead to its progress."""
    taken = await import_from_form(request)
    if isinstance(taken, LookedAt):
        raise web.HTTPSeeOther(f"/import/look/{taken.token}")
    raise web.HTTPSeeOther(f"/import/{taken.id}")


async def status(request: web.Request) -> web.StreamResponse:
    """Show how far an import has come."""
    found = await _found(request)
    reasons = await request.app[RUNTIME].receipts.reasons(found.id)
    view = ImportStatusView(found, tuple(reasons), title=f"Import of {found.name}")
    return render(request, "pages/import_status.html", view)


async def receipt(request: web.Request) -> web.StreamResponse:
    """Send what became of every row of a file, as CSV or JSON."""
    found, form = await _found(request), request.match_info["form"]
    receipts = request.app[RUNTIME].receipts
    pieces = receipts.csv(found.id) if form == "csv" else receipts.json(found.id)
    response = web.StreamResponse(
        headers={
            hdrs.CONTENT_TYPE: _RECEIPTS[form],
            hdrs.CONTENT_DISPOSITION: f'attachment; filename="receipt-{found.id}.{form}"',
            hdrs.CACHE_CONTROL: "private, no-store",
        }
    )
    return await send(request, response, pieces)


async def _found(request: web.Request) -> ImportStatus:
    number = int(request.match_info["id"])
    if number >= 1 << 62:
        raise NotFound("There is no such import.")
    return await request.app[RUNTIME].imports.status(number)
