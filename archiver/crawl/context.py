"""Shared state of a crawl.

A host that times out several times in a row counts as dead. Its other queued jobs are moved to the
end of the queue (``db.queue.set_last_priority``) and tried one by one when nothing else is due. If
these jobs time out too, the remaining jobs of the host wait for 15 minutes, then one is tried. Each
further wait is twice as long, up to a day. When the host responds, all its jobs are released. Each
process keeps this state in memory.
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
"""Maximum number of cached icons and preview images."""
DEAD_AFTER = 3
"""Timeouts in a row after which a host counts as dead."""
WAITS_AFTER = 10
"""Timeouts in a row after which the remaining jobs of a host wait."""
RETRY_SECONDS = 10.0
"""Seconds before a job of a dead host is tried again, so that untried pages come first."""
WAIT_SECONDS = 900.0
"""First wait of a dead host's jobs; each further wait doubles, up to ``MAX_WAIT_SECONDS``."""
MAX_WAIT_SECONDS = 86_400.0
REMEMBERED_SECONDS = 900.0
REMEMBERED_HOSTS = 4096


@dataclass(slots=True)
class _Timeouts:
    """Consecutive timeouts of a host. Times are seconds of the clock of ``DeadHosts``.

    Attributes:
        count: number of timeouts.
        last: time of the last timeout.
        waits_until: time until which the host's jobs wait.
        waits: number of waits so far; each wait is twice as long as the previous one.
    """

    count: int = 0
    last: float = 0.0
    waits_until: float = 0.0
    waits: int = 0


class DeadHosts:
    """Hosts that do not respond to this process. ``clock`` returns seconds; tests replace it."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._timeouts = RecentItems[str, _Timeouts](REMEMBERED_HOSTS)
        self._revived = set[str]()

    def responded(self, host: str) -> None:
        """Record that a host responded, with any status."""
        timeouts = self._timeouts.pop(host, None)
        if timeouts and timeouts.waits:
            self._revived.add(host)

    def pop_revived_hosts(self) -> set[str]:
        """Return the hosts that responded since the last call, and whose jobs were waiting."""
        revived, self._revived = self._revived, set()
        return revived

    def timed_out(self, host: str) -> None:
        """Record a timeout."""
        timeouts = self._timeouts.get(host) or _Timeouts()
        if self._clock() - timeouts.last > REMEMBERED_SECONDS and not timeouts.waits:
            timeouts.count = 0
        timeouts.count += 1
        timeouts.last = self._clock()
        self._timeouts[host] = timeouts

    def postponed_job_failed(self, host: str) -> None:
        """Make the other jobs of a host wait if it has timed out ``WAITS_AFTER`` times in a row."""
        timeouts = self._timeouts.get(host)
        if timeouts and timeouts.count >= WAITS_AFTER:
            wait = min(WAIT_SECONDS * 2**timeouts.waits, MAX_WAIT_SECONDS)
            timeouts.waits_until = self._clock() + wait
            timeouts.waits += 1

    def is_dead(self, host: str) -> bool:
        """Return whether requests to a host should be avoided."""
        timeouts = self._timeouts.get(host)
        if timeouts is None or timeouts.count < DEAD_AFTER:
            return False
        return self._clock() - timeouts.last <= REMEMBERED_SECONDS

    def waiting(self, host: str) -> float:
        """Return the seconds for which the postponed jobs of a host wait; 0 if they may run."""
        timeouts = self._timeouts.get(host)
        return max(timeouts.waits_until - self._clock(), 0.0) if timeouts else 0.0


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
        derive: pool of worker processes that parse pages and extract articles.
        renderer: the browser.
        image_cache: icons and preview images, by kind and payload digest of the original image. The
            value is None if the original image is not usable.
        routes: timestamp of the last visit of a single-page application, by URL without the route.
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
