"""API of imports and recovery from public archives."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

from aiohttp import web
from pydantic import ConfigDict, Field

from archiver.model.failure import FailureGroup
from archiver.model.imports import ImportStatus, Outcome
from archiver.web.api.json_http import (
    MAX_JOBS,
    NOTHING_ELSE,
    chosen,
    json_response,
    read_json,
)
from archiver.web.app_keys import RUNTIME
from archiver.web.pages.imports import UNDO_TIMEOUT_SECONDS, requested_import, send_report
from archiver.web.uploads import import_from_api, preview_from_api


@dataclass(frozen=True, slots=True)
class Queued:
    """Number of queued pages."""

    queued: int


@dataclass(frozen=True, slots=True)
class ReportLine:
    """Result of one row of a file; ``reason``: why the row is unusable."""

    row: int
    outcome: Outcome
    url: str
    hash_url: str | None
    reason: str


@dataclass(frozen=True, slots=True)
class RetryRequest:
    """The reason of the failures to retry; without a reason, all failures are retried."""

    __pydantic_config__: ClassVar[ConfigDict] = NOTHING_ELSE
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class RescueRequest:
    """Pages to request from public archives: by hash_url or URL, by search, or all missing ones.

    ``entries`` and ``query`` exclude each other. An empty list or query is rejected, so that a
    selection without results does not mean all entries.
    """

    __pydantic_config__: ClassVar[ConfigDict] = NOTHING_ELSE
    entries: Annotated[list[str], Field(min_length=1, max_length=MAX_JOBS)] | None = None
    query: Annotated[str, Field(pattern=r"\S")] | None = None


async def start(request: web.Request) -> web.StreamResponse:
    """Import a file of bookmarks or links; reading continues after the response."""
    status = await import_from_api(request, chosen(request.query))
    response = json_response(status, status=202)
    response.headers["Location"] = f"/api/v1/imports/{status.id}"
    return response


async def preview(request: web.Request) -> web.StreamResponse:
    """Preview the import of a file without saving anything."""
    return json_response(await preview_from_api(request, chosen(request.query)))


async def recent(request: web.Request) -> web.StreamResponse:
    """List the latest imports, newest first."""
    newest = await request.app[RUNTIME].import_statuses.recent()
    return json_response(newest, shape=list[ImportStatus])


async def show(request: web.Request) -> web.StreamResponse:
    """Show the progress of an import."""
    return json_response(await requested_import(request))


async def report(request: web.Request) -> web.StreamResponse:
    """List the result of every row of the file, in order."""
    return await send_report(request, await requested_import(request), "json")


async def failures(request: web.Request) -> web.StreamResponse:
    """Count the pages that could not be saved, by reason."""
    status = await requested_import(request)
    failed = await request.app[RUNTIME].crawl_status.failures_of(status.id)
    return json_response(failed, shape=tuple[FailureGroup, ...])


async def retry(request: web.Request) -> web.StreamResponse:
    """Retry the failed pages of an import: those with the given reason, or all."""
    status, body = await requested_import(request), await read_json(request, RetryRequest)
    oversight = request.app[RUNTIME].crawl_status
    if body.reason is not None:
        return json_response(Queued(await oversight.try_again(body.reason, status.id)))
    return json_response(Queued(await oversight.try_all_again(status.id)))


async def capture(request: web.Request) -> web.StreamResponse:
    """Capture the entries that were saved as links."""
    status = await requested_import(request)
    return json_response(Queued(await request.app[RUNTIME].crawl_status.capture_links(status.id)))


async def pause(request: web.Request) -> web.StreamResponse:
    """Pause or resume the captures of an import; other jobs continue."""
    status, is_paused = await requested_import(request), request.match_info["action"] == "pause"
    await request.app[RUNTIME].crawl_status.pause_import(status.id, paused=is_paused)
    return json_response(await requested_import(request))


async def undo_plan(request: web.Request) -> web.StreamResponse:
    """Preview the undo of an import."""
    status = await requested_import(request)
    return json_response(await request.app[RUNTIME].import_undo.plan(status.id))


async def undo(request: web.Request) -> web.StreamResponse:
    """Delete the entries that only this import created.

    A large undo continues after the response; `undone` has its progress.
    """
    status = await requested_import(request)
    await request.app[RUNTIME].import_undo.begin(status.id, patience=UNDO_TIMEOUT_SECONDS)
    return json_response(await requested_import(request), status=202)


async def ask_public_archives(request: web.Request) -> web.StreamResponse:
    """Recover pages from public archives.

    Select entries or a query. Without both, all failed entries are selected that have no snapshot
    and whose page no longer exists.
    """
    body, rescuing = await read_json(request, RescueRequest), request.app[RUNTIME].recovery
    if body.entries and body.query:
        raise web.HTTPBadRequest(text="Use either entries or a query, not both.")
    queued = await rescuing.rescue_any(body.entries, body.query)
    return json_response(Queued(queued), status=202)
