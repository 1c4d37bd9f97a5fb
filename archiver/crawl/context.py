"""Shared state of a crawl.

Hosts that time out several times in a row count as dead: their other queued jobs are postponed and
put last (``db.queue.put_last``). When nothing else is due, one of them is tried. If that times out
too, all jobs queued by then fail. Each process keeps this state in memory for a while.
"""

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime

from archiver.config import Settings
from archiver.crawl.recorder import Recorder
from archiver.crawl.rendering_policy import Renderer
from archiver.db.engine import Database
from archiver.db.queue import LAST
from archiver.http.fetcher import Fetcher
from archiver.http.politeness import Throttle
from archiver.model.capture import PayloadDigest, Timestamp
from archiver.model.failure import Failure, FailureKind
from archiver.model.job import Lease
from archiver.model.rendering import NewRendition, RenditionKind
from archiver.pages.worker_pool import WorkerPool
from archiver.warc.segments import SegmentStore

MAX_HOSTS = 512


class ImageCache:
    """LRU cache of icons and preview images, by the payloads that they were made from."""

    def __init__(self, most: int = MAX_HOSTS) -> None:
        self._most = most
        self._known: OrderedDict[tuple[RenditionKind, PayloadDigest], tuple[NewRendition | None]]
        self._known = OrderedDict()

    def get(self, kind: RenditionKind, payload: PayloadDigest) -> tuple[NewRendition | None] | None:
        """Return the cached image of a payload as a 1-tuple; None if it was never made."""
        found = self._known.get((kind, payload))
        if found:
            self._known.move_to_end((kind, payload))
        return found

    def keep(
        self, kind: RenditionKind, payload: PayloadDigest, image: NewRendition | None
    ) -> tuple[NewRendition | None]:
        """Cache an image, or None if it can't be made; return it as a 1-tuple."""
        self._known[kind, payload] = (image,)
        if len(self._known) > self._most:
            self._known.popitem(last=False)
        return (image,)


FEW = 3
"""Timeouts in a row after which a host counts as dead."""
REMEMBERED_SECONDS = 900.0
REMEMBERED_HOSTS = 4096


@dataclass(slots=True)
class _Silence:
    """Timeouts of a host in a row, the time of the last one, and when its jobs were failed."""

    timeouts: int = 0
    last: float = 0.0
    given_up_at: datetime | None = None


class DeadHosts:
    """Hosts that do not respond to this process. ``clock`` returns seconds, for tests."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._silent: OrderedDict[str, _Silence] = OrderedDict()

    def answered(self, host: str) -> None:
        """Record that a host responded, with any status."""
        self._silent.pop(host, None)

    def timed_out(self, host: str) -> bool:
        """Record a timeout; return whether the host counts as dead since this timeout."""
        silence = self._silent.setdefault(host, _Silence())
        if self._clock() - silence.last > REMEMBERED_SECONDS:
            silence.timeouts = 0
        silence.timeouts += 1
        silence.last = self._clock()
        self._silent.move_to_end(host)
        while len(self._silent) > REMEMBERED_HOSTS:
            self._silent.popitem(last=False)
        return silence.timeouts == FEW

    def give_up(self, host: str) -> None:
        """Record that the last attempt for the postponed jobs of a host failed."""
        self._silent.setdefault(host, _Silence()).given_up_at = datetime.now(UTC)

    def is_dead(self, host: str) -> bool:
        """Return whether requests to a host should be avoided."""
        silence = self._silent.get(host)
        return (
            silence is not None
            and silence.timeouts >= FEW
            and self._clock() - silence.last <= REMEMBERED_SECONDS
        )

    def inherited_failure(self, lease: Lease) -> Failure | None:
        """Return the failure of a postponed job that needs no further attempt, or None."""
        silence = self._silent.get(lease.entry.host)
        if lease.priority != LAST or silence is None or silence.given_up_at is None:
            return None
        return failure_of(lease.entry.host) if lease.created_at <= silence.given_up_at else None


def failure_of(host: str) -> Failure:
    """Return the failure of jobs whose host counts as dead."""
    return Failure(
        FailureKind.TIMEOUT,
        f"{host} did not respond {FEW} times in a row. Its other pages are tried once more at "
        "the end of the crawl.",
    )


@dataclass(frozen=True, slots=True)
class CrawlContext:
    """Services of one crawling process. Without a renderer no page is rendered in a browser.

    ``routes``: when a route of each address was visited last.
    """

    settings: Settings
    db: Database
    store: SegmentStore
    fetcher: Fetcher
    throttle: Throttle
    derive: WorkerPool
    recorder: Recorder
    renderer: Renderer | None = None
    dead: DeadHosts = field(default_factory=DeadHosts)
    image_cache: ImageCache = field(default_factory=ImageCache)
    routes: dict[str, Timestamp] = field(default_factory=dict)
