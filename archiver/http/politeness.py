"""Per-host rate limits."""

import asyncio
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from types import TracebackType
from typing import Protocol, Self

from archiver.config import Settings
from archiver.http.network_errors import wants_rest

IDLE_HOSTS = 4096
"""Past so many hosts, those that are idle and owe no rest are forgotten."""


@dataclass(slots=True)
class _Host:
    free: asyncio.Semaphore
    pace: asyncio.Lock = field(default_factory=asyncio.Lock)
    sending: asyncio.Lock = field(default_factory=asyncio.Lock)
    next_at: float = 0.0
    next_sent_at: float = 0.0
    rest_until: float = 0.0
    users: int = 0
    active: int = 0
    left: asyncio.Event = field(default_factory=asyncio.Event)


class Sharing(Protocol):
    """The locks of several workers (``index.worker_locks``)."""

    @property
    def workers(self) -> int:
        """How many workers there are."""

    @property
    def hosts(self) -> frozenset[str]:
        """The hosts whose pages only this worker fetches."""

    async def permit(self) -> None:
        """Wait until this worker may fetch."""


class Throttle:
    """The politeness of one process.

    ``clock`` and ``sleep`` are for tests; ``shared`` is there if there may be other workers.
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

    def slot(self, host: str, *, spaced: bool = True, longest_rest: float = math.inf) -> "Slot":
        """A turn at a host, to be waited for and held by ``async with``, first come first served.

        Args:
            host: with its port where that is not the scheme's own.
            spaced: whether the delay between requests applies. It is for pages; the requisites of
                a page come together, as they do for a browser, held back by the number only.
            longest_rest: seconds; a host that wants more, also as it is said meanwhile, is not
                waited for: whoever waits is told by a ``FetchError``.
        """
        is_spaced = spaced and self._delay > 0
        return Slot(self, host, self._known(host), spaced=is_spaced, longest_rest=longest_rest)

    def pause(self, host: str, seconds: float) -> None:
        """Leave a host alone for a while: it answered 429 or 503."""
        known = self._known(host)
        known.rest_until = max(known.rest_until, self._clock() + seconds)

    def resting(self, host: str) -> float:
        """Seconds until a host that was paused may be asked again."""
        known = self._hosts.get(host)
        return max(known.rest_until - self._clock(), 0.0) if known else 0.0

    def resting_hosts(self) -> list[str]:
        """The hosts that were paused and may not be asked yet."""
        now = self._clock()
        return [host for host, known in self._hosts.items() if known.rest_until > now]

    async def wait(self, slot: "Slot") -> None:
        """Wait until a request to a host may begin; the next one then keeps its distance."""
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
        """Return the seconds between two requests: more if other workers may send some, too."""
        if self._shared is None or host in self._shared.hosts:
            return self._delay
        return self._delay * self._shared.workers

    async def _until_due(self, slot: "Slot", *, spaced: bool) -> None:
        """Wait until a host may be asked, also for what is heard of meanwhile.

        It may ask for rest, or one who was let in before had to wait.
        """
        known = slot.known
        while (wait := max(known.rest_until, known.next_at if spaced else 0.0) - self._clock()) > 0:
            self._refuse_to_wait(slot)
            await self._sleep(wait)

    def _refuse_to_wait(self, slot: "Slot") -> None:
        rest = slot.known.rest_until - self._clock()
        if rest > slot.longest_rest:
            raise wants_rest(slot.host, rest)

    async def until_sent(self, slot: "Slot") -> bool:
        """Wait until a request may go out, as far behind the last as the host is to have them.

        Turns are at that distance, and their connections are made in different times. Meanwhile
        the host may have asked for rest, or others taken this process for dead. Between the last
        look at the clock and whoever sends then nothing else runs.

        Returns whether it had to wait.
        """
        known, has_waited = slot.known, False
        while True:
            if self._shared:
                await self._shared.permit()
            due = max(known.rest_until, known.next_sent_at) if slot.spaced else known.rest_until
            if (wait := due - self._clock()) <= 0:
                return has_waited
            self._refuse_to_wait(slot)
            has_waited = True
            await self._sleep(wait)

    def was_sent(self, host: str, known: _Host, *, has_waited: bool) -> None:
        """Let the next request keep its distance from now: the system has this one.

        Who had to wait was let in too early: were the next not let in later, one slow connection
        would have all that come after it wait, connected.
        """
        known.next_sent_at = self._clock() + self._delay_of(host)
        if has_waited:
            known.next_at = max(known.next_at, known.next_sent_at)

    def leave(self, slot: "Slot") -> None:
        """Let another ask a host."""
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
            owed = max(known.rest_until, known.next_at, known.next_sent_at)
            if not known.users and owed <= now:
                del self._hosts[host]


class Slot:
    """One turn at one host; a class, for there is one for each request.

    Attributes:
        host: whose turn it is.
        known: what is known of that.
        spaced: whether the delay between requests applies.
        longest_rest: seconds for which it is waited for.
    """

    __slots__ = ("_throttle", "host", "known", "longest_rest", "spaced")

    def __init__(
        self, throttle: Throttle, host: str, known: _Host, *, spaced: bool, longest_rest: float
    ) -> None:
        self._throttle = throttle
        self.host = host
        self.known = known
        self.spaced = spaced
        self.longest_rest = longest_rest

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
        """Wait until the request may go out; whoever sends it then looks again (``sending``)."""
        await self._throttle.until_sent(self)

    def sending(self) -> "Sending":
        """Wait until the request may go out: over a connection that is there, within the block.

        Other requests of the host keep their distance from the end of that block, so it ends once
        the request is on its way. An error that leaves it means that nothing went out.
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
    """What a request goes out in: no other that keeps a distance goes to its host meanwhile."""

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
