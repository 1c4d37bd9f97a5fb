"""Health check and Prometheus metrics."""

import asyncio
from collections.abc import Iterable

from aiohttp import web
from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    Info,
    ProcessCollector,
    generate_latest,
)

from archiver import __version__
from archiver.errors import ArchiverError
from archiver.logs import get_log
from archiver.model.job import QueueCounts
from archiver.services.health import Health
from archiver.services.segment_uploads import Backlog, recovery_seconds
from archiver.web.app_keys import LISTENERS, METRICS, RUNTIME

_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)


_GAUGES = {
    "event_listeners": "Open event streams.",
    "entries": "Entries in the archive.",
    "snapshots": "Snapshots in the archive.",
    "warc_bytes": "Bytes of all WARC segments.",
    "segments_passed_by": "Ignored files among the segments.",
    "segments_missing": "Segments that the index uses and that are missing.",
    "verify_problems": "Problems that the last `archiver verify` found.",
    "free_bytes": "Free bytes on the disk of the data directory.",
    "unstored_bytes": "Bytes of segments that are not uploaded to the object store yet.",
    "recovery_seconds": "Age of the oldest segment that is not uploaded yet.",
    "uploads_failing": "1 if the last upload to the object store failed.",
    "held_up": "1 while the crawl waits for the object store.",
    "queue_hosts": "Hosts with queued jobs.",
    "queue_longest_wait_seconds": "Longest wait of a host for its next request.",
    "oldest_lease_seconds": "Age of the oldest running job.",
    "paused": "1 while the crawl is paused by the user.",
}
"""Gauges without labels: name without the prefix ``archiver_``, and description."""


class Metrics:
    """Metrics registry of one application. No label value comes from a client."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        Info("archiver", "Version of the running program.", registry=self._registry).info(
            {"version": __version__}
        )
        self._requests = Counter(
            "archiver_http_requests",
            "HTTP responses.",
            ("method", "route", "status"),
            registry=self._registry,
        )
        self._seconds = Histogram(
            "archiver_http_request_seconds",
            "Seconds from the request's header to the end of its handler.",
            ("route",),
            buckets=_SECONDS,
            registry=self._registry,
        )
        self._gauges = {
            name: Gauge(f"archiver_{name}", description, registry=self._registry)
            for name, description in _GAUGES.items()
        }
        self._jobs = Gauge("archiver_jobs", "Jobs by state.", ("state",), registry=self._registry)
        self._waits = Gauge(
            "archiver_queue_wait_seconds",
            "Waits of the hosts that wait longest.",
            ("host",),
            registry=self._registry,
        )

    def set(self, **values: float) -> None:
        """Set gauges by name, without the prefix ``archiver_``."""
        for name, value in values.items():
            self._gauges[name].set(value)

    def set_jobs(self, counts: QueueCounts) -> None:
        """Set the number of jobs in each state."""
        for state in ("queued", "fetching", "saved", "failed"):
            self._jobs.labels(state).set(getattr(counts, state))

    def set_waits(self, waits: Iterable[tuple[str, float]]) -> None:
        """Set the hosts that wait longest, given as pairs of host and seconds."""
        self._waits.clear()
        for host, seconds in waits:
            self._waits.labels(host).set(seconds)

    def count_response(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a response and its duration."""
        method_label = method if method in _METHODS else "other"
        self._requests.labels(method_label, route, str(status)).inc()
        self._seconds.labels(route).observe(seconds)

    def page(self) -> bytes:
        """Return all metrics in the Prometheus text format, version 0.0.4."""
        return generate_latest(self._registry)


_HEALTH_TIMEOUT = 5
_TEXT_FORMAT = "text/plain; version=0.0.4; charset=utf-8"

_log = get_log(__name__)


async def healthz(request: web.Request) -> web.StreamResponse:
    """Return ``ok`` and known problems; 503 if the index does not answer in time.

    Problems of files, the disk, the browser and the object store are listed. The endpoint needs no
    login, so it names no entries.
    """
    try:
        async with asyncio.timeout(_HEALTH_TIMEOUT):
            await request.app[RUNTIME].crawling.counts()
            health = await request.app[RUNTIME].health.current()
    except (ArchiverError, TimeoutError, OSError):
        _log.exception("unhealthy")
        return web.Response(status=503, text="The index is unavailable; the log has the reason.\n")
    note = _file_problems(health)
    if request.app[RUNTIME].crawling.browser_problem:
        note += "no browser: pages that need one are saved without it and marked\n"
    if uploading := request.app[RUNTIME].uploading:
        note += _upload_state(uploading.backlog)
    return web.Response(text=f"ok\n{note}")


def _file_problems(health: Health) -> str:
    """Return lines about missing, ignored and damaged files and a full disk."""
    lines = (
        (health.missing, f"missing segments: {health.missing}; `archiver verify` lists them"),
        (
            health.unusable_files,
            f"ignored files: {health.unusable_files}; `archiver verify` lists them",
        ),
        (health.damaged, f"problems at the last `archiver verify`: {health.damaged}"),
        (health.is_read_only, "data directory is read-only: nothing new can be stored"),
        (health.is_full, f"disk full: {health.free_bytes:,} bytes are free"),
    )
    return "".join(f"{line}\n" for counts, line in lines if counts)


def _upload_state(backlog: Backlog) -> str:
    """Return lines about data that is not yet in the object store."""
    seconds = recovery_seconds(backlog)
    waiting = f"{backlog.bytes:,} bytes of the last {seconds:,.0f} s are not uploaded yet"
    lines = (
        (True, waiting if seconds else "everything is uploaded"),
        (backlog.problem, "the last upload failed; the log has the reason"),
        (backlog.is_full, "fetching is paused until waiting segments are uploaded"),
    )
    return "".join(f"object store: {line}\n" for applies, line in lines if applies)


async def metrics(request: web.Request) -> web.StreamResponse:
    """Return the metrics in the Prometheus text format."""
    runtime, values = request.app[RUNTIME], request.app[METRICS]
    overview, health = await runtime.search.overview(), await runtime.health.current()
    crawl = runtime.crawl_status
    lag = await crawl.queue_lag()
    values.set(
        entries=overview.entries,
        snapshots=overview.snapshots,
        warc_bytes=overview.warc_bytes,
        event_listeners=request.app[LISTENERS].count,
        segments_passed_by=health.unusable_files,
        segments_missing=health.missing,
        verify_problems=health.damaged,
        free_bytes=await crawl.free_bytes(),
        queue_hosts=lag.hosts,
        queue_longest_wait_seconds=lag.waits[0][1] if lag.waits else 0,
        oldest_lease_seconds=lag.oldest_lease,
        paused=await crawl.is_paused(),
    )
    values.set_jobs(overview.queue)
    values.set_waits(lag.waits)
    if runtime.uploading:
        backlog = runtime.uploading.backlog
        values.set(
            unstored_bytes=backlog.bytes,
            recovery_seconds=recovery_seconds(backlog),
            uploads_failing=backlog.problem is not None,
            held_up=backlog.is_full,
        )
    return web.Response(body=values.page(), headers={"Content-Type": _TEXT_FORMAT})
