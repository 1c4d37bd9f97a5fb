"""Per-host rate limits."""

import asyncio
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from types import TracebackType
from typing import Protocol, Self

from archiver.config import Settings
from archiver.http.network_errors import pause_too_long

IDLE_HOSTS = 4096
"""Number of hosts in memory above which idle hosts without a pause are dropped."""


@dataclass(slots=True)
class _Host:
    free: asyncio.Semaphore
    pace: asyncio.Lock = field(default_factory=asyncio.Lock)
    sending: asyncio.Lock = field(default_factory=asyncio.Lock)
    next_at: float = 0.0
    next_sent_at: float = 0.0
    paused_until: float = 0.0
    users: int = 0
    active: int = 0
    left: asyncio.Event = field(default_factory=asyncio.Event)


class Sharing(Protocol):
    """Assignment of hosts to several workers (``db.worker_locks``)."""

    @property
    def workers(self) -> int:
        """Return the number of workers."""

    @property
    def hosts(self) -> frozenset[str]:
        """Return the hosts whose pages only this worker fetches."""

    async def permit(self) -> None:
        """Wait until this worker may fetch."""


class Throttle:
    """Rate limiter of one process.

    ``clock`` and ``sleep`` are for tests; ``shared`` is set if there may be other workers.
    """

    def __init__(
        self,
        settings: Settings,
        clock: Callable[[], float] | None = None,
        sleep: Callable[[float], "asyncio.Future[None]"] | None = None,
        shared: Sharing | None = None,
    ) -> None:
        self._concurrency = settings.host_concurrency
        self._delay = settings.host_delay
        self._clock = clock or time.monotonic
        self._sleep = sleep or asyncio.sleep
        self._shared = shared
        self._hosts: dict[str, _Host] = {}

    def slot(self, host: str, *, spaced: bool = True, max_pause: float = math.inf) -> "Slot":
        """Return a slot at a host, to be acquired by ``async with`` in first-come order.

        Args:
            host: the host, with its port unless it is the scheme's default.
            spaced: whether the delay between requests applies. It applies to pages; the requisites
                of a page are fetched together, as in a browser, limited by their number only.
            max_pause: the longest pause to wait for in seconds. If the host requests a longer
                one before or during the wait, ``FetchError`` is raised.
        """
        is_spaced = spaced and self._delay > 0
        return Slot(self, host, self._known(host), spaced=is_spaced, max_pause=max_pause)

    def pause(self, host: str, seconds: float) -> None:
        """Pause requests to a host that answered 429 or 503."""
        known = self._known(host)
        known.paused_until = max(known.paused_until, self._clock() + seconds)

    def pause_left(self, host: str) -> float:
        """Return the remaining seconds of a host's pause; 0 if it is not paused."""
        known = self._hosts.get(host)
        return max(known.paused_until - self._clock(), 0.0) if known else 0.0

    def paused_hosts(self) -> list[str]:
        """Return the hosts that are paused."""
        now = self._clock()
        return [host for host, known in self._hosts.items() if known.paused_until > now]

    async def wait(self, slot: "Slot") -> None:
        """Wait until a request to a host may start, and delay the next one."""
        known = slot.known
        if self._shared:
            await self._shared.permit()
            while known.active >= max(self._concurrency // self._shared.workers, 1):
                known.left.clear()
                await known.left.wait()
        await self._until_due(slot, spaced=slot.spaced)
        if slot.spaced:
            known.next_at = self._clock() + self._delay_of(slot.host)
        known.active += 1

    def _delay_of(self, host: str) -> float:
        """Return the seconds between two requests; longer if other workers share the host."""
        if self._shared is None or host in self._shared.hosts:
            return self._delay
        return self._delay * self._shared.workers

    async def _until_due(self, slot: "Slot", *, spaced: bool) -> None:
        """Wait until a host is due, also after pauses that begin while waiting.

        The host may request a pause, or an earlier request may be delayed.
        """
        known = slot.known
        while (
            wait := max(known.paused_until, known.next_at if spaced else 0.0) - self._clock()
        ) > 0:
            self._check_pause(slot)
            await self._sleep(wait)

    def _check_pause(self, slot: "Slot") -> None:
        pause = slot.known.paused_until - self._clock()
        if pause > slot.max_pause:
            raise pause_too_long(slot.host, pause)

    async def until_sent(self, slot: "Slot") -> bool:
        """Wait until a request may be sent, with the required delay after the previous one.

        Slots are spaced, but opening a connection takes a varying time. In that time the host may
        request a pause, or this process may lose its lease. Nothing else runs between
        the last check of the clock and the sending.

        Returns whether it had to wait.
        """
        known, has_waited = slot.known, False
        while True:
            if self._shared:
                await self._shared.permit()
            due = max(known.paused_until, known.next_sent_at) if slot.spaced else known.paused_until
            if (wait := due - self._clock()) <= 0:
                return has_waited
            self._check_pause(slot)
            has_waited = True
            await self._sleep(wait)

    def was_sent(self, host: str, known: _Host, *, has_waited: bool) -> None:
        """Start the delay for the next request now that this one has been sent.

        If this request had to wait, its slot was granted too early. Without postponing the next
        slot, one slow connection would make all later requests wait with open connections.
        """
        known.next_sent_at = self._clock() + self._delay_of(host)
        if has_waited:
            known.next_at = max(known.next_at, known.next_sent_at)

    def leave(self, slot: "Slot") -> None:
        """Release the slot at a host."""
        slot.known.active -= 1
        slot.known.left.set()

    def _known(self, host: str) -> _Host:
        known = self._hosts.get(host)
        if known is None:
            if len(self._hosts) >= IDLE_HOSTS:
                self._forget_idle()
            known = self._hosts[host] = _Host(asyncio.Semaphore(self._concurrency))
        return known

    def _forget_idle(self) -> None:
        now = self._clock()
        for host, known in [*self._hosts.items()]:
            owed = max(known.paused_until, known.next_at, known.next_sent_at)
            if not known.users and owed <= now:
                del self._hosts[host]


class Slot:
    """Slot of one request at a host; a class for speed, because every request creates one.

    Attributes:
        host: the host.
        known: the state of the host.
        spaced: whether the delay between requests applies.
        max_pause: the longest pause to wait for in seconds.
    """

    __slots__ = ("_throttle", "host", "known", "max_pause", "spaced")

    def __init__(
        self, throttle: Throttle, host: str, known: _Host, *, spaced: bool, max_pause: float
    ) -> None:
        self._throttle = throttle
        self.host = host
        self.known = known
        self.spaced = spaced
        self.max_pause = max_pause

    async def __aenter__(self) -> Self:
        known = self.known
        known.users += 1
        try:
            await known.free.acquire()
        except BaseException:
            known.users -= 1
            raise
        try:
            async with known.pace:
                await self._throttle.wait(self)
        except BaseException:
            self._leave()
            raise
        return self

    async def due(self) -> None:
        """Wait until the request is due; ``sending`` checks again before it is sent."""
        await self._throttle.until_sent(self)

    def sending(self) -> "Sending":
        """Wait until the request may be sent over an open connection, within the block.

        The delay of the host's next request starts at the end of the block, so the block ends once
        the request is sent. An error that leaves the block means that nothing was sent.
        """
        return Sending(self._throttle, self)

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._throttle.leave(self)
        self._leave()

    def _leave(self) -> None:
        self.known.free.release()
        self.known.users -= 1


class Sending:
    """Context manager around sending a request: no other spaced request goes to the host."""

    __slots__ = ("_has_waited", "_slot", "_throttle")

    def __init__(self, throttle: Throttle, slot: Slot) -> None:
        self._throttle = throttle
        self._slot = slot
        self._has_waited = False

    async def __aenter__(self) -> None:
        slot = self._slot
        if not slot.spaced:
            await self._throttle.until_sent(slot)
            return
        await slot.known.sending.acquire()
        try:
            self._has_waited = await self._throttle.until_sent(slot)
        except BaseException:
            slot.known.sending.release()
            raise

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        slot = self._slot
        if slot.spaced:
            if not isinstance(error, Exception):
                self._throttle.was_sent(slot.host, slot.known, has_waited=self._has_waited)
            slot.known.sending.release()
