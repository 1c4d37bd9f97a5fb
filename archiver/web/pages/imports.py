"""Import pages."""

import asyncio
from typing import Any
from urllib.parse import urlencode

from aiohttp import hdrs, web
from multidict import MultiMapping

from archiver.errors import InputError, TooLarge, UnreadableFile
from archiver.model.entry_list import folder_names, folder_path
from archiver.model.imports import Choices, ColumnRole, ImportStatus, ImportSurvey
from archiver.model.message import Message
from archiver.services.import_previews import PreviewedFile
from archiver.services.import_reading import KNOWN_FORMATS, suffixes
from archiver.web.api.json_http import chosen
from archiver.web.app_keys import FORM_FIELDS, RUNTIME
from archiver.web.pages.editing import parse_number, return_path
from archiver.web.rendering import render_with_sidebar
from archiver.web.responses import send_pieces
from archiver.web.uploads import MAX_COUNTED, import_from_form, page_from_form

MAX_PICKABLE = 500


UNDO_TIMEOUT_SECONDS = 5.0
"""Time to wait for an undo to finish before the page says that it continues."""
_STATUS = ((UnreadableFile, 422), (TooLarge, 413))
_REPORT_TYPES = {"csv": "text/csv; charset=utf-8", "json": "application/json"}


async def form(
    request: web.Request,
    status: int = 200,
    *,
    problem: str | Message = "",
    problem_of_page: str | Message = "",
) -> web.StreamResponse:
    """Show the form for imports, with errors above the form they belong to."""
    runtime, typed = request.app[RUNTIME], request.get(FORM_FIELDS, {})
    return await render_with_sidebar(
        request,
        "pages/import.html",
        title=Message("Import"),
        status=status,
        recent=await runtime.import_statuses.recent(),
        max_upload_bytes=runtime.settings.max_upload_bytes,
        formats=KNOWN_FORMATS,
        accept=",".join(suffixes()),
        url=request.query.get("url", "") or typed.get("url", ""),
        problem=problem,
        problem_of_page=problem_of_page,
    )


async def upload(request: web.Request) -> web.StreamResponse:
    """Upload a file and redirect to its progress; errors are shown above the form."""
    try:
        upload_result = await import_from_form(request)
    except InputError as error:
        return await form(request, _status_of(error), problem=error.sentence)
    if isinstance(upload_result, PreviewedFile):
        raise web.HTTPSeeOther(f"/import/look/{upload_result.token}")
    raise web.HTTPSeeOther(f"/import/{upload_result.id}")


async def upload_page(request: web.Request) -> web.StreamResponse:
    """Upload a page saved by a browser and redirect to it, or to the newest page of several."""
    try:
        result = await page_from_form(request)
    except InputError as error:
        return await form(request, _status_of(error), problem_of_page=error.sentence)
    raise web.HTTPSeeOther(
        f"/{result.hash_url}/?at={result.timestamp}" if result.hash_url else "/import"
    )


async def status(request: web.Request) -> web.StreamResponse:
    """Show the progress of an import."""
    job, runtime = await requested_import(request), request.app[RUNTIME]
    queued, deletion = request.query.get("queued"), job.undone.deletion if job.undone else 0
    return await render_with_sidebar(
        request,
        "pages/import_status.html",
        title=Message("Import of {name}", name=job.name),
        job=job,
        reasons=await runtime.import_reports.reasons(job.id),
        failed=await runtime.crawl_status.failures_of(job.id) if job.counts.failed else (),
        queued=parse_number(queued) if queued else None,
        has_saved=await runtime.import_undo.has_created(job),
        is_undoing=runtime.import_undo.is_running(job.id),
        has_links=bool(job.without_capture) and await runtime.crawl_status.has_links(job.id),
        has_deletion=bool(deletion and await runtime.deleting.find(deletion)),
        seconds_left=await runtime.crawl_status.time_left(job.id, count=job.counts.open),
        is_paused=await runtime.crawl_status.is_paused(),
    )


async def retry(request: web.Request) -> web.StreamResponse:
    """Retry pages of an import that failed for a reason."""
    job, form = await requested_import(request), await request.post()
    reason = str(form.get("reason", ""))
    count = await request.app[RUNTIME].crawl_status.try_again(reason, job.id)
    raise web.HTTPSeeOther(f"/import/{job.id}?queued={count}")


async def capture(request: web.Request) -> web.StreamResponse:
    """Capture the links of an import."""
    job = await requested_import(request)
    count = await request.app[RUNTIME].crawl_status.capture_links(job.id)
    raise web.HTTPSeeOther(f"/import/{job.id}?queued={count}")


async def pause(request: web.Request) -> web.StreamResponse:
    """Pause or resume the captures of an import."""
    job, form = await requested_import(request), await request.post()
    await request.app[RUNTIME].crawl_status.pause_import(job.id, paused=form.get("do") == "pause")
    raise web.HTTPSeeOther(return_path(form, f"/import/{job.id}"))


async def cancel(request: web.Request) -> web.StreamResponse:
    """Stop reading an import, and cancel its waiting captures."""
    import_status, runtime = await requested_import(request), request.app[RUNTIME]
    await runtime.imports.cancel(import_status.id)
    await runtime.crawl_status.cancel(import_status.id)
    raise web.HTTPSeeOther(f"/import/{import_status.id}")


async def confirm_undo(request: web.Request) -> web.StreamResponse:
    """Preview the undo of an import."""
    job = await requested_import(request)
    runtime = request.app[RUNTIME]
    return await render_with_sidebar(
        request,
        "pages/import_undo.html",
        title=Message("Undo the import of {name}", name=job.name),
        job=job,
        plan=await runtime.import_undo.plan(job.id),
        days=runtime.settings.bin_days,
    )


async def undo(request: web.Request) -> web.StreamResponse:
    """Undo an import; a large one continues after the response."""
    job = await requested_import(request)
    await request.app[RUNTIME].import_undo.begin(job.id, patience=UNDO_TIMEOUT_SECONDS)
    raise web.HTTPSeeOther(f"/import/{job.id}")


async def report(request: web.Request) -> web.StreamResponse:
    """Download the report of an import as CSV or JSON."""
    return await send_report(request, await requested_import(request), request.match_info["form"])


async def send_report(request: web.Request, job: ImportStatus, form: str) -> web.StreamResponse:
    """Stream the report of an import, row by row, as ``csv`` or ``json``."""
    reports = request.app[RUNTIME].import_reports
    pieces = reports.csv(job.id) if form == "csv" else reports.json(job.id)
    response = web.StreamResponse(
        headers={
            hdrs.CONTENT_TYPE: _REPORT_TYPES[form],
            hdrs.CONTENT_DISPOSITION: f'attachment; filename="receipt-{job.id}.{form}"',
            hdrs.CACHE_CONTROL: "private, no-store",
        }
    )
    return await send_pieces(request, response, pieces)


def _status_of(error: InputError) -> int:
    return next((status for kind, status in _STATUS if isinstance(error, kind)), 400)


async def requested_import(request: web.Request) -> ImportStatus:
    """Return the import in the path, whose number has at most 18 digits (see the routes)."""
    return await request.app[RUNTIME].imports.status(int(request.match_info["id"]))


MAX_PREVIEWED = 100_000
"""Maximum number of links in a preview; the counts of a longer file are marked as partial."""
MAX_COLUMNS = 60
"""Maximum number of columns whose role can be changed on the page."""


async def preview(request: web.Request) -> web.StreamResponse:
    """Show the contents of a file, and the result of an import with the options in the query."""
    previewed = await _previewed_file(request)
    choices = chosen(request.query)
    most = MAX_COUNTED if "whole" in request.query else MAX_PREVIEWED
    surveys = request.app[RUNTIME].surveys
    try:
        with await asyncio.to_thread(previewed.path.open, "rb") as source:
            survey = await surveys.preview(source, previewed.name, choices=choices, most=most)
    except UnreadableFile as error:
        return await form(request, 422, problem=error.sentence)
    return await render_with_sidebar(
        request,
        "pages/import_preview.html",
        title=Message("Preview: {name}", name=previewed.name),
        token=previewed.token,
        survey=survey,
        choices=choices,
        tags=", ".join(choices.tags),
        roles=tuple(ColumnRole),
        columns=survey.columns[:MAX_COLUMNS],
        selectable_folders=_selectable_folders(survey, choices),
    )


def _selectable_folders(survey: ImportSurvey, choices: Choices) -> tuple[str, ...]:
    """Return the folders that can be selected, with their parents; selected ones first."""
    selected = choices.only_folders
    selectable = {each.name for each in survey.folders if not choices.into}
    paths = [folder_names(each) for each in selectable]
    parents = {folder_path(names[:depth]) for names in paths for depth in range(1, len(names))}
    return (*selected, *sorted((selectable | parents) - {*selected})[:MAX_PICKABLE])


async def confirm(request: web.Request) -> web.StreamResponse:
    """Import the file with the chosen options, preview it, or discard it."""
    imports = request.app[RUNTIME].imports
    previewed, form = await _previewed_file(request), await request.post()
    if "discard" in form:
        await imports.previews.discard(previewed)
        raise web.HTTPSeeOther("/import")
    choices = chosen(form)
    if "check" in form:
        raise web.HTTPSeeOther(f"/import/look/{previewed.token}?{_options_query(form)}")
    whole = await imports.previews.claim(previewed)
    started = await imports.start(whole, name=previewed.name, choices=choices)
    raise web.HTTPSeeOther(f"/import/{started.id}")


async def _previewed_file(request: web.Request) -> PreviewedFile:
    return await request.app[RUNTIME].imports.previews.find(request.match_info["token"])


def _options_query(form: MultiMapping[Any]) -> str:
    """Return the options of a form as a query string; ``whole`` previews the entire file."""
    options = [(name, str(value)) for name, value in form.items() if name != "check"]
    return urlencode([*options, *([("whole", "1")] if form.get("check") == "whole" else [])])
