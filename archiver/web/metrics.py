"""Health check and Prometheus metrics."""

import asyncio

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
from archiver.services.crawling import CrawlStatus
from archiver.services.fixity import Health
from archiver.services.machines import Backlog, recovery_seconds
from archiver.web.app_keys import LISTENERS, METRICS, RUNTIME

_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)


class Metrics:
    """Metrics registry of one application. Labels come from bounded sets, never from a client."""

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
        self.listeners = self._gauge("archiver_event_listeners", "Open event streams.")
        self._add_archive()
        self._add_store()
        self._add_crawl()

    def _add_archive(self) -> None:
        self.entries = self._gauge("archiver_entries", "Entries in the archive.")
        self.snapshots = self._gauge("archiver_snapshots", "Snapshots in the archive.")
        self.warc_bytes = self._gauge("archiver_warc_bytes", "Bytes of all WARC segments.")
        self.unusable_files = self._gauge(
            "archiver_segments_passed_by", "Ignored files among the segments."
        )
        self.missing_segments = self._gauge(
            "archiver_segments_missing", "Segments that the index uses and that are missing."
        )
        self.damaged = self._gauge(
            "archiver_verify_problems", "Problems that the last `archiver verify` found."
        )
        self.free_bytes = self._gauge(
            "archiver_free_bytes", "Free bytes on the disk of the data directory."
        )

    def _add_store(self) -> None:
        self.unstored_bytes = self._gauge(
            "archiver_unstored_bytes",
            ("Bytes of segments that are not uploaded to the object store yet."),
        )
        self.recovery_seconds = self._gauge(
            "archiver_recovery_seconds", "Age of the oldest segment that is not uploaded yet."
        )
        self.uploads_failing = self._gauge(
            "archiver_uploads_failing", "1 if the last upload to the object store failed."
        )
        self.held_up = self._gauge(
            "archiver_held_up", "1 while the crawl waits for the object store."
        )

    def _add_crawl(self) -> None:
        self.jobs = Gauge("archiver_jobs", "Jobs by state.", ("state",), registry=self._registry)
        self.queue_hosts = self._gauge("archiver_queue_hosts", "Hosts with queued jobs.")
        self.queue_longest_wait = self._gauge(
            "archiver_queue_longest_wait_seconds", "Longest wait of a host for its next request."
        )
        self.queue_waits = Gauge(
            "archiver_queue_wait_seconds",
            "Waits of the hosts that wait longest.",
            ("host",),
            registry=self._registry,
        )
        self.oldest_lease = self._gauge(
            "archiver_oldest_lease_seconds", "Age of the oldest running job."
        )
        self.paused = self._gauge("archiver_paused", "1 while the crawl is paused by the user.")

    def _gauge(self, name: str, says: str) -> Gauge:
        return Gauge(name, says, registry=self._registry)

    def answered(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count one request."""
        known = method if method in _METHODS else "other"
        self._requests.labels(known, route, str(status)).inc()
        self._seconds.labels(route).observe(seconds)

    def page(self) -> bytes:
        """Return all metrics in the text format, version 0.0.4."""
        return generate_latest(self._registry)


_HEALTH_TIMEOUT = 5
_TEXT_FORMAT = "text/plain; version=0.0.4; charset=utf-8"

_log = get_log(__name__)


async def healthz(request: web.Request) -> web.StreamResponse:
    """Return ``ok`` if the index answers in time, else 503; also list problems of the object store.

    The endpoint needs no login, so it shows nothing else.
    """
    try:
        async with asyncio.timeout(_HEALTH_TIMEOUT):
            await request.app[RUNTIME].crawling.counts()
            health = await request.app[RUNTIME].health.current()
    except (ArchiverError, TimeoutError, OSError):
        _log.exception("unhealthy")
        return web.Response(status=503, text="The index is unavailable; the log has the reason.\n")
    note = _of_files(health)
    if request.app[RUNTIME].crawling.browser_problem:
        note += "no browser: pages that need one are saved without it and marked\n"
    if uploading := request.app[RUNTIME].uploading:
        note += _stored(uploading.backlog)
    return web.Response(text=f"ok\n{note}")


def _of_files(health: Health) -> str:
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


def _stored(backlog: Backlog) -> str:
    """Return a line or two about data that is not yet in the object store."""
    seconds = recovery_seconds(backlog)
    if not seconds:
        return "object store: everything is uploaded\n"
    note = (
        f"object store: {backlog.bytes:,} bytes of the last {seconds:,.0f} s are not uploaded yet\n"
    )
    if backlog.problem:
        note += "object store: the last upload failed; the log has the reason\n"
    if backlog.is_full:
        note += "object store: fetching is paused until waiting segments are uploaded\n"
    return note


async def metrics(request: web.Request) -> web.StreamResponse:
    """Return the metrics in the Prometheus text format."""
    runtime, gauges = request.app[RUNTIME], request.app[METRICS]
    kept = await runtime.search.overview()
    gauges.entries.set(kept.entries)
    gauges.snapshots.set(kept.snapshots)
    gauges.warc_bytes.set(kept.warc_bytes)
    gauges.listeners.set(request.app[LISTENERS].count)
    health = await runtime.health.current()
    gauges.unusable_files.set(health.unusable_files)
    gauges.missing_segments.set(health.missing)
    gauges.damaged.set(health.damaged)
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
    lag = await oversight.queue_lag()
    gauges.queue_hosts.set(lag.hosts)
    gauges.queue_longest_wait.set(lag.waits[0][1] if lag.waits else 0)
    gauges.queue_waits.clear()
    for host, seconds in lag.waits:
        gauges.queue_waits.labels(host).set(seconds)
    gauges.oldest_lease.set(lag.oldest_lease)
    gauges.paused.set(await oversight.is_paused())
    gauges.free_bytes.set(await oversight.free_bytes())
