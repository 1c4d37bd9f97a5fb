"""Prometheus metrics."""

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

_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)


class Metrics:
    """Metrics registry of one application. Labels come from bounded sets, never from a client."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        Info("archiver", "The running program.", registry=self._registry).info(
            {"version": __version__}
        )
        self._requests = Counter(
            "archiver_http_requests",
            "Requests answered.",
            ("method", "route", "status"),
            registry=self._registry,
        )
        self._seconds = Histogram(
            "archiver_http_request_seconds",
            "Seconds from the request's head to the end of its handler.",
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
            "archiver_segments_passed_by", "Files among the segments that can't be read as such."
        )
        self.free_bytes = self._gauge(
            "archiver_free_bytes", "Bytes that the disk of the data directory has left."
        )

    def _add_store(self) -> None:
        self.unstored_bytes = self._gauge(
            "archiver_unstored_bytes", "Bytes of segments that are not in the object store yet."
        )
        self.recovery_seconds = self._gauge(
            "archiver_recovery_seconds", "Age of the oldest segment that is not in the store yet."
        )
        self.uploads_failing = self._gauge(
            "archiver_uploads_failing", "1 if the object store refused what it was last given."
        )
        self.held_up = self._gauge(
            "archiver_held_up", "1 while the crawl waits for the object store."
        )

    def _add_crawl(self) -> None:
        self.jobs = Gauge("archiver_jobs", "Jobs by state.", ("state",), registry=self._registry)
        self.queue_hosts = self._gauge("archiver_queue_hosts", "Hosts with queued jobs.")
        self.queue_longest_wait = self._gauge(
            "archiver_queue_longest_wait_seconds", "For so long a host waits for its turn, at most."
        )
        self.queue_waits = Gauge(
            "archiver_queue_wait_seconds",
            "For so long hosts wait for their turn that wait longest.",
            ("host",),
            registry=self._registry,
        )
        self.oldest_lease = self._gauge(
            "archiver_oldest_lease_seconds", "For so long a job has been under way, at most."
        )
        self.paused = self._gauge("archiver_paused", "1 while somebody has paused the crawl.")

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
