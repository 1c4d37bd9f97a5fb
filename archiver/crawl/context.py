"""Shared state of a crawl.

What else is queued of such a host is told why and put last (``index.queue.put_last``). Once nothing
else is due one of them is tried; if that times out too, it has spoken for all that were queued by
then. Known to one process, and forgotten after a while.
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
from archiver.model.capture import PayloadDigest
from archiver.model.failure import Failure, FailureKind
from archiver.model.job import Lease
from archiver.model.rendering import NewRendition, RenditionKind
from archiver.pages.worker_pool import DerivePool
from archiver.warc.segments import SegmentStore

MOST = 512


class Drawn:
    """Remembers icons and covers by the payloads that they were drawn of."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._known: OrderedDict[tuple[RenditionKind, PayloadDigest], tuple[NewRendition | None]]
        self._known = OrderedDict()

    def get(self, kind: RenditionKind, payload: PayloadDigest) -> tuple[NewRendition | None] | None:
        """What was drawn of a payload, if anything could be; None where nobody has tried."""
        found = self._known.get((kind, payload))
        if found:
            self._known.move_to_end((kind, payload))
        return found

    def keep(
        self, kind: RenditionKind, payload: PayloadDigest, drawn: NewRendition | None
    ) -> tuple[NewRendition | None]:
        """Remember what was drawn, and return it."""
        self._known[kind, payload] = (drawn,)
        if len(self._known) > self._most:
            self._known.popitem(last=False)
        return (drawn,)


FEW = 3
"""Timeouts in a row."""
REMEMBERED_SECONDS = 900.0
REMEMBERED_HOSTS = 4096


@dataclass(slots=True)
class _Silence:
    """Timeouts of one host in a row, when the last was, and when it spoke for all others."""

    timeouts: int = 0
    last: float = 0.0
    given_up_at: datetime | None = None


class DeadHosts:
    """The hosts that do not answer one process. ``clock`` is for tests, in seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._silent: OrderedDict[str, _Silence] = OrderedDict()

    def answered(self, host: str) -> None:
        """A host gave an answer, whatever it says."""
        self._silent.pop(host, None)

    def timed_out(self, host: str) -> bool:
        """A host gave none; whether it counts as dead since just now."""
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
        """The last attempt for all that is queued of a host failed."""
        self._silent.setdefault(host, _Silence()).given_up_at = datetime.now(UTC)

    def is_dead(self, host: str) -> bool:
        """Whether nobody is to wait for a host now."""
        silence = self._silent.get(host)
        return (
            silence is not None
            and silence.timeouts >= FEW
            and self._clock() - silence.last <= REMEMBERED_SECONDS
        )

    def spoken_for(self, lease: Lease) -> Failure | None:
        """Why a lease of those that were put last needs no attempt of its own, if it does not."""
        silence = self._silent.get(lease.entry.host)
        if lease.priority != LAST or silence is None or silence.given_up_at is None:
            return None
        return failure_of(lease.entry.host) if lease.created_at <= silence.given_up_at else None


def failure_of(host: str) -> Failure:
    """What those are told that nobody tries for now."""
    return Failure(
        FailureKind.TIMEOUT,
        f"{host} did not answer {FEW} times in a row, so the others of its pages were put last; "
        "they are tried once more at the end.",
    )


@dataclass(frozen=True, slots=True)
class CrawlContext:
    """The adapters of one crawling process.

    Without a renderer no page is shown by a browser.
    """

    settings: Settings
    db: Database
    store: SegmentStore
    fetcher: Fetcher
    throttle: Throttle
    derive: DerivePool
    recorder: Recorder
    renderer: Renderer | None = None
    dead: DeadHosts = field(default_factory=DeadHosts)
    drawn: Drawn = field(default_factory=Drawn)
