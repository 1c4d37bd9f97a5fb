"""``/import``: a file of bookmarks, and how far each import has come."""

from aiohttp import hdrs, web

from archiver.errors import InputError, NotFound, TooLarge, UnreadableFile
from archiver.model.importing import ImportStatus
from archiver.model.message import Message
from archiver.services.import_kinds import KNOWN_FORMATS, suffixes
from archiver.services.looked_at import LookedAt
from archiver.web.import_views import ImportStatusView, ImportUndoView, ImportView
from archiver.web.keys import BEFORE_FILE, RUNTIME
from archiver.web.pages.editing import number
from archiver.web.side import render_beside
from archiver.web.streaming import send
from archiver.web.uploads import handed_in_from_form, import_from_form

UNDO_PATIENCE_SECONDS = 5.0
"""So long somebody waits for an undoing to be done before a page says that it goes on."""
_STATUS = ((UnreadableFile, 422), (TooLarge, 413))
_RECEIPTS = {"csv": "text/csv; charset=utf-8", "json": "application/json"}


async def form(request: web.Request) -> web.StreamResponse:
    """Show the form."""
    return await form_for_file(request)


async def form_for_file(
    request: web.Request,
    status: int = 200,
    *,
    problem: str | Message = "",
    problem_of_page: str | Message = "",
) -> web.StreamResponse:
    """The form for a file; a problem is said above what it is of."""
    runtime, typed = request.app[RUNTIME], request.get(BEFORE_FILE, {})
    view = ImportView(
        tuple(await runtime.imports.recent()),
        runtime.settings.max_upload_bytes,
        KNOWN_FORMATS,
        ",".join(suffixes()),
        url=request.query.get("url", "") or typed.get("url", ""),
        problem=problem,
        problem_of_page=problem_of_page,
    )
    return await render_beside(request, "pages/import.html", view, status=status)


async def upload(request: web.Request) -> web.StreamResponse:
    """Take the file, and lead to its progress; what can't be taken is said above the form."""
    try:
        taken = await import_from_form(request)
    except InputError as error:
        return await form_for_file(request, _status_of(error), problem=error.sentence)
    if isinstance(taken, LookedAt):
        raise web.HTTPSeeOther(f"/import/look/{taken.token}")
    raise web.HTTPSeeOther(f"/import/{taken.id}")


async def hand_in(request: web.Request) -> web.StreamResponse:
    """Take a page that a browser saved, and lead to it; captures lead to what is newest."""
    try:
        taken = await handed_in_from_form(request)
    except InputError as error:
        return await form_for_file(request, _status_of(error), problem_of_page=error.sentence)
    raise web.HTTPSeeOther(
        f"/{taken.hash_url}/?at={taken.timestamp}" if taken.hash_url else "/import"
    )


async def status(request: web.Request) -> web.StreamResponse:
    """Show how far an import has come."""
    found, runtime = await _found(request), request.app[RUNTIME]
    asked, deletion = request.query.get("queued"), found.undone.deletion if found.undone else 0
    view = ImportStatusView(
        found,
        tuple(await runtime.receipts.reasons(found.id)),
        failed=await runtime.oversight.failures_of(found.id) if found.counts.failed else (),
        queued=number(asked) if asked else None,
        has_brought=await runtime.import_undo.has_created(found),
        is_undoing=runtime.import_undo.is_running(found.id),
        has_links=bool(found.without_capture) and await runtime.oversight.has_links(found.id),
        has_deletion=bool(deletion and await runtime.deleting.find(deletion)),
        title=Message("Import of {name}", name=found.name),
    )
    return await render_beside(request, "pages/import_status.html", view)


async def again(request: web.Request) -> web.StreamResponse:
    """Queue pages of an import again that failed for a reason."""
    found, form = await _found(request), await request.post()
    reason = str(form.get("reason", ""))
    count = await request.app[RUNTIME].oversight.try_again(reason, found.id)
    raise web.HTTPSeeOther(f"/import/{found.id}?queued={count}")


async def capture(request: web.Request) -> web.StreamResponse:
    """Queue what an import has kept as links."""
    found = await _found(request)
    count = await request.app[RUNTIME].oversight.capture_links(found.id)
    raise web.HTTPSeeOther(f"/import/{found.id}?queued={count}")


async def ask_undo(request: web.Request) -> web.StreamResponse:
    """Say what undoing an import would do."""
    found = await _found(request)
    plan = await request.app[RUNTIME].import_undo.plan(found.id)
    view = ImportUndoView(found, plan, title=Message("Undo the import of {name}", name=found.name))
    return await render_beside(request, "pages/import_undo.html", view)


async def undo(request: web.Request) -> web.StreamResponse:
    """Undo an import; a large one goes on after the answer."""
    found = await _found(request)
    await request.app[RUNTIME].import_undo.begin(found.id, patience=UNDO_PATIENCE_SECONDS)
    raise web.HTTPSeeOther(f"/import/{found.id}")


async def receipt(request: web.Request) -> web.StreamResponse:
    """Send what became of every row of a file, as CSV or JSON."""
    return await send_receipt(request, await _found(request), request.match_info["form"])


async def send_receipt(request: web.Request, found: ImportStatus, form: str) -> web.StreamResponse:
    """Send the receipt of an import, row by row, as ``csv`` or ``json``."""
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


def _status_of(error: InputError) -> int:
    return next((status for kind, status in _STATUS if isinstance(error, kind)), 400)


async def _found(request: web.Request) -> ImportStatus:
    wanted = int(request.match_info["id"])
    if wanted >= 1 << 62:
        raise NotFound("There is no such import.")
    return await request.app[RUNTIME].imports.status(wanted)
