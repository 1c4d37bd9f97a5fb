"""Health check and metrics endpoints."""

import asyncio
import time

from aiohttp import web
from aiohttp.typedefs import Handler

from archiver.errors import ArchiverError
from archiver.logs import get_log
from archiver.services.crawling import CrawlStatus
from archiver.services.segment_uploads import Backlog, recovery_seconds
from archiver.web.app_keys import LISTENERS, METRICS, RUNTIME
from archiver.web.metrics import Metrics

_PATIENCE_SECONDS = 5
_TEXT_FORMAT = "text/plain; version=0.0.4; charset=utf-8"

_log = get_log(__name__)


async def healthz(request: web.Request) -> web.StreamResponse:
    """Return ``ok`` if the index answers in time, else 503; also list problems of the object store.

    The endpoint needs no login, so it shows nothing else.
    """
    try:
        async with asyncio.timeout(_PATIENCE_SECONDS):
            await request.app[RUNTIME].crawling.counts()
    except (ArchiverError, TimeoutError, OSError):
        _log.exception("unhealthy")
        return web.Response(status=503, text="The index does not answer; the log says why.\n")
    unusable_files = len(request.app[RUNTIME].fixity.unusable_files)
    note = (
        f"files passed by: {unusable_files}; `archiver verify` names them\n"
        if unusable_files
        else ""
    )
    if request.app[RUNTIME].crawling.browser_problem:
        note += "no browser: pages that need one are kept as they were sent, and marked\n"
    if uploading := request.app[RUNTIME].uploading:
        note += _stored(uploading.backlog)
    return web.Response(text=f"ok\n{note}")


def _stored(backlog: Backlog) -> str:
    """Return a line or two about data that is not yet in the object store."""
    seconds = recovery_seconds(backlog)
    if not seconds:
        return "object store: it has everything\n"
    note = f"object store: {backlog.bytes:,} bytes of the last {seconds:,.0f} s are not in it yet\n"
    if backlog.problem:
        note += "object store: it took nothing the last time; the log says why\n"
    if backlog.is_full:
        note += "object store: fetching pauses until it has taken some of what waits\n"
    return note


async def metrics(request: web.Request) -> web.StreamResponse:
    """Return the metrics in the Prometheus text format."""
    runtime, gauges = request.app[RUNTIME], request.app[METRICS]
    kept = await runtime.search.overview()
    gauges.entries.set(kept.entries)
    gauges.snapshots.set(kept.snapshots)
    gauges.warc_bytes.set(kept.warc_bytes)
    gauges.listeners.set(request.app[LISTENERS].count)
    gauges.unusable_files.set(len(runtime.fixity.unusable_files))
    for state in ("queued", "fetching", "saved", "failed"):
        gauges.jobs.labels(state).set(getattr(kept.queue, state))
    if runtime.uploading:
        _measure_backlog(gauges, runtime.uploading.backlog)
    await _measure_crawl(gauges, runtime.crawl_status)
    return web.Response(body=gauges.page(), headers={"Content-Type": _TEXT_FORMAT})


def _measure_backlog(gauges: Metrics, backlog: Backlog) -> None:
    gauges.unstored_bytes.set(backlog.bytes)
    gauges.recovery_seconds.set(recovery_seconds(backlog))
    gauges.uploads_failing.set(backlog.problem is not None)
    gauges.held_up.set(backlog.is_full)


async def _measure_crawl(gauges: Metrics, oversight: CrawlStatus) -> None:
    lag = await oversight.lag()
    gauges.queue_hosts.set(lag.hosts)
    gauges.queue_longest_wait.set(lag.waits[0][1] if lag.waits else 0)
    gauges.queue_waits.clear()
    for host, seconds in lag.waits:
        gauges.queue_waits.labels(host).set(seconds)
    gauges.oldest_lease.set(lag.oldest_lease)
    gauges.paused.set(await oversight.is_paused())
    gauges.free_bytes.set(await oversight.free_bytes())


@web.middleware
async def measure(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Measure the handler's time and count its response, including raised redirects."""
    began = time.perf_counter()
    status = 500
    try:
        response = await handler(request)
    except web.HTTPException as answer:
        status = answer.status
        raise
    else:
        status = response.status
        return response
    finally:
        route = request.match_info.route.name or "none"
        request.app[METRICS].answered(request.method, route, status, time.perf_counter() - began)
