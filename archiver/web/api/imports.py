"""API of imports and recovery from public archives."""

from dataclasses import dataclass

from aiohttp import web

from archiver.model.failure import Reason
from archiver.model.imports import ImportStatus, Outcome
from archiver.model.listing import ListingQuery
from archiver.web.api.requests import AgainRequest, RescueRequest, chosen, path_number, read_json
from archiver.web.api.responses import answer
from archiver.web.app_keys import RUNTIME
from archiver.web.pages.imports import UNDO_PATIENCE_SECONDS, send_receipt
from archiver.web.uploads import import_from_api, survey_from_api


@dataclass(frozen=True, slots=True)
class Queued:
    """How many pages were queued."""

    queued: int


@dataclass(frozen=True, slots=True)
class ReceiptLine:
    """What became of one row of a file, as its receipt says it; ``reason``: why it is unusable."""

    row: int
    outcome: Outcome
    url: str
    hash_url: str | None
    reason: str


async def start(request: web.Request) -> web.StreamResponse:
    """Take a file, as is chosen; reading it goes on after the answer."""
    status = await import_from_api(request, chosen(request))
    response = answer(status, status=202)
    response.headers["Location"] = f"/api/v1/imports/{status.id}"
    return response


async def look(request: web.Request) -> web.StreamResponse:
    """Say what an import of a file would do, as is chosen."""
    return answer(await survey_from_api(request, chosen(request)))


async def recent(request: web.Request) -> web.StreamResponse:
    """List the latest imports, newest first."""
    found = await request.app[RUNTIME].imports.recent()
    return answer(found, shape=list[ImportStatus])


async def show(request: web.Request) -> web.StreamResponse:
    """Show one import."""
    return answer(await _found(request))


async def receipt(request: web.Request) -> web.StreamResponse:
    """Send what became of every row."""
    return await send_receipt(request, await _found(request), "json")


async def failures(request: web.Request) -> web.StreamResponse:
    """Count what failed, by reason."""
    found = await _found(request)
    failed = await request.app[RUNTIME].crawl_status.failures_of(found.id)
    return answer(failed, shape=tuple[Reason, ...])


async def again(request: web.Request) -> web.StreamResponse:
    """Queue pages again that failed, for one reason or any."""
    found, wanted = await _found(request), await read_json(request, AgainRequest)
    oversight = request.app[RUNTIME].crawl_status
    if wanted.reason is not None:
        return answer(Queued(await oversight.try_again(wanted.reason, found.id)))
    reasons = [each.reason for each in await oversight.failures_of(found.id)]
    return answer(Queued(sum([await oversight.try_again(each, found.id) for each in reasons])))


async def capture(request: web.Request) -> web.StreamResponse:
    """Queue what was kept as links."""
    found = await _found(request)
    return answer(Queued(await request.app[RUNTIME].crawl_status.capture_links(found.id)))


async def undo_plan(request: web.Request) -> web.StreamResponse:
    """Say what undoing would do."""
    found = await _found(request)
    return answer(await request.app[RUNTIME].import_undo.plan(found.id))


async def undo(request: web.Request) -> web.StreamResponse:
    """Undo an import; a large one goes on after the answer, which says how far it is."""
    found = await _found(request)
    await request.app[RUNTIME].import_undo.begin(found.id, patience=UNDO_PATIENCE_SECONDS)
    return answer(await _found(request), status=202)


async def _found(request: web.Request) -> ImportStatus:
    return await request.app[RUNTIME].imports.status(path_number(request, "id"))


async def ask_public_archives(request: web.Request) -> web.StreamResponse:
    """Ask for those named, for those found, or for all that are gone."""
    wanted, rescuing = await read_json(request, RescueRequest), request.app[RUNTIME].recovery
    if wanted.entries and wanted.query:
        raise web.HTTPBadRequest(text="Name entries or give a query, not both.")
    if wanted.entries:
        return answer(Queued(await rescuing.rescue(wanted.entries)), status=202)
    if wanted.query:
        return answer(Queued(await rescuing.rescue_found(ListingQuery(wanted.query))), status=202)
    return answer(Queued(await rescuing.rescue_gone()), status=202)
