"""Shared state of a crawl.

Hosts that time out several times in a row count as dead: their other queued jobs are postponed and
put last (``db.queue.put_last``). When nothing else is due, they are tried one by one. If those time
out too, the others wait: after a while one is tried, and all of them once the host responds. Each
process keeps this state in memory.
"""

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

from archiver.config import Settings
from archiver.crawl.recorder import Recorder
from archiver.crawl.rendering_policy import Renderer
from archiver.db.engine import Database
from archiver.http.fetcher import Fetcher
from archiver.http.politeness import Throttle
from archiver.model.capture import PayloadDigest, Timestamp
from archiver.model.failure import Failure, FailureKind
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
PROBES = 10
"""Timeouts in a row after which the other jobs of a host wait."""
RETRY_SECONDS = 10.0
"""Wait of a job that timed out at a dead host, so that pages not tried yet come first."""
WAIT_SECONDS = 900.0
"""Wait of the jobs of a dead host, which doubles each time up to ``MAX_WAIT_SECONDS``."""
MAX_WAIT_SECONDS = 86_400.0
REMEMBERED_SECONDS = 900.0
REMEMBERED_HOSTS = 4096


@dataclass(slots=True)
class _Silence:
    """Timeouts of a host in a row, the time of the last one, and how long its jobs wait.

    ``waits``: how often they have waited.
    """

    timeouts: int = 0
    last: float = 0.0
    until: float = 0.0
    waits: int = 0


class DeadHosts:
    """Hosts that do not respond to this process. ``clock`` returns seconds, for tests."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._silent: OrderedDict[str, _Silence] = OrderedDict()
        self._revived = set[str]()

    def answered(self, host: str) -> None:
        """Record that a host responded, with any status."""
        silence = self._silent.pop(host, None)
        if silence and silence.waits:
            self._revived.add(host)

    def take_revived(self) -> set[str]:
        """Return the hosts that responded again while their jobs wait; once."""
        revived, self._revived = self._revived, set()
        return revived

    def timed_out(self, host: str) -> bool:
        """Record a timeout; return whether the host counts as dead since this timeout."""
        silence = self._silent.setdefault(host, _Silence())
        if self._clock() - silence.last > REMEMBERED_SECONDS and not silence.waits:
            silence.timeouts = 0
        silence.timeouts += 1
        silence.last = self._clock()
        self._silent.move_to_end(host)
        while len(self._silent) > REMEMBERED_HOSTS:
            self._silent.popitem(last=False)
        return silence.timeouts == FEW

    def probed(self, host: str) -> None:
        """Record that a postponed job of a host timed out; after several, the others wait."""
        silence = self._silent.get(host)
        if silence and silence.timeouts >= PROBES:
            pause = min(WAIT_SECONDS * 2**silence.waits, MAX_WAIT_SECONDS)
            silence.until = self._clock() + pause
            silence.waits += 1

    def is_dead(self, host: str) -> bool:
        """Return whether requests to a host should be avoided."""
        silence = self._silent.get(host)
        return (
            silence is not None
            and silence.timeouts >= FEW
            and self._clock() - silence.last <= REMEMBERED_SECONDS
        )

    def waiting(self, host: str) -> float:
        """Return the seconds for which the postponed jobs of a host wait; 0 if they may run."""
        silence = self._silent.get(host)
        return max(silence.until - self._clock(), 0.0) if silence else 0.0


def failure_of(host: str) -> Failure:
    """Return the failure of jobs whose host counts as dead."""
    return Failure(
        FailureKind.TIMEOUT,
        f"{host} did not respond {FEW} times in a row. Its other pages are tried last, and wait "
        "until it responds again.",
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
