"""Shared state of a crawl.

A host that times out several times in a row counts as dead. Its other queued jobs are moved to the
end of the queue (``db.queue.set_last_priority``) and tried one by one when nothing else is due. If
these time out too, the rest of the host's jobs wait, from 15 minutes up to a day. Then one is tried
again, and all of them are released once the host responds. Each process keeps this state in memory.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from archiver.config import Settings
from archiver.crawl.recorder import Recorder
from archiver.crawl.rendering_policy import Renderer
from archiver.db.engine import Database
from archiver.helpers import RecentItems
from archiver.http.fetcher import Fetcher
from archiver.http.politeness import Throttle
from archiver.model.capture import PayloadDigest, Timestamp
from archiver.model.failure import Failure, FailureKind
from archiver.model.rendering import NewRendition, RenditionKind
from archiver.pages.worker_pool import WorkerPool
from archiver.warc.segments import SegmentStore

MAX_ROUTES = 4096
MAX_IMAGES = 512
"""Icons and preview images that are remembered by the payloads they were made from."""
DEAD_AFTER = 3
"""Timeouts in a row after which a host counts as dead."""
WAITS_AFTER = 10
"""Timeouts in a row after which the other jobs of a host wait."""
RETRY_SECONDS = 10.0
"""Wait of a job that timed out at a dead host, so that pages not tried yet come first."""
WAIT_SECONDS = 900.0
"""Wait of the jobs of a dead host, which doubles each time up to ``MAX_WAIT_SECONDS``."""
MAX_WAIT_SECONDS = 86_400.0
REMEMBERED_SECONDS = 900.0
REMEMBERED_HOSTS = 4096


@dataclass(slots=True)
class _Timeouts:
    """Timeouts of a host in a row.

    Attributes:
        count: number of timeouts.
        last: time of the last one, by the clock.
        waits_until: end of the wait of the host's jobs, by the clock.
        waits: number of waits so far; each is twice as long as the one before.
    """

    count: int = 0
    last: float = 0.0
    waits_until: float = 0.0
    waits: int = 0


class DeadHosts:
    """Hosts that do not respond to this process. ``clock`` returns seconds, for tests."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._timeouts = RecentItems[str, _Timeouts](REMEMBERED_HOSTS)
        self._revived = set[str]()

    def answered(self, host: str) -> None:
        """Record that a host responded, with any status."""
        known = self._timeouts.pop(host, None)
        if known and known.waits:
            self._revived.add(host)

    def take_revived(self) -> set[str]:
        """Return the hosts that responded since the last call while their jobs wait."""
        revived, self._revived = self._revived, set()
        return revived

    def timed_out(self, host: str) -> bool:
        """Record a timeout; return whether the host counts as dead from now on."""
        known = self._timeouts.get(host) or _Timeouts()
        if self._clock() - known.last > REMEMBERED_SECONDS and not known.waits:
            known.count = 0
        known.count += 1
        known.last = self._clock()
        self._timeouts[host] = known
        return known.count == DEAD_AFTER

    def postponed_job_failed(self, host: str) -> None:
        """Let the other jobs of a host wait if several of its postponed jobs have timed out."""
        known = self._timeouts.get(host)
        if known and known.count >= WAITS_AFTER:
            wait = min(WAIT_SECONDS * 2**known.waits, MAX_WAIT_SECONDS)
            known.waits_until = self._clock() + wait
            known.waits += 1

    def is_dead(self, host: str) -> bool:
        """Return whether requests to a host should be avoided."""
        known = self._timeouts.get(host)
        if known is None or known.count < DEAD_AFTER:
            return False
        return self._clock() - known.last <= REMEMBERED_SECONDS

    def waiting(self, host: str) -> float:
        """Return the seconds for which the postponed jobs of a host wait; 0 if they may run."""
        known = self._timeouts.get(host)
        return max(known.waits_until - self._clock(), 0.0) if known else 0.0


def dead_host_failure(host: str) -> Failure:
    """Return the failure of jobs whose host counts as dead."""
    return Failure(
        FailureKind.TIMEOUT,
        f"{host} did not respond {DEAD_AFTER} times in a row. Its other pages are tried last, and "
        "wait until it responds again.",
    )


@dataclass(frozen=True, slots=True)
class CrawlContext:
    """Services and caches of one crawling process.

    Attributes:
        derive: processes that parse pages and extract articles.
        renderer: the browser.
        image_cache: icons and preview images by kind and payload; None for unusable payloads.
        routes: timestamp of the last visit of an application route, by URL without the route.
    """

    settings: Settings
    db: Database
    store: SegmentStore
    fetcher: Fetcher
    throttle: Throttle
    derive: WorkerPool
    recorder: Recorder
    renderer: Renderer
    dead: DeadHosts = field(default_factory=DeadHosts)
    image_cache: RecentItems[tuple[RenditionKind, PayloadDigest], NewRendition | None] = field(
        default_factory=lambda: RecentItems(MAX_IMAGES)
    )
    routes: RecentItems[str, Timestamp] = field(default_factory=lambda: RecentItems(MAX_ROUTES))
