"""Limits for requests to each host: number at a time, delay between two, and pauses."""

import asyncio
import math
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Protocol

from archiver.config import Settings
from archiver.http.network_errors import pause_too_long
from archiver.http.site_rules import SiteRules

IDLE_HOSTS = 4096
"""Number of hosts in memory at which those without a request, delay or pause are removed."""


@dataclass(slots=True)
class _Host:
    """State of a host. All times are by the throttle's clock.

    A delayed request or slot is one to which the delay between requests applies.

    Attributes:
        free: semaphore of the free slots.
        pace: lock that is held while the next slot waits for its time.
        sending: lock that is held while a delayed request is sent.
        next_at: earliest time of the next delayed slot.
        next_sent_at: earliest time at which the next delayed request may be sent.
        paused_until: end of the pause that the host requested.
        users: number of requests that wait for a slot or have one.
        active: number of slots in use.
        released: event that is set when a slot is released.
    """

    free: asyncio.Semaphore
    pace: asyncio.Lock = field(default_factory=asyncio.Lock)
    sending: asyncio.Lock = field(default_factory=asyncio.Lock)
    next_at: float = 0.0
    next_sent_at: float = 0.0
    paused_until: float = 0.0
    users: int = 0
    active: int = 0
    released: asyncio.Event = field(default_factory=asyncio.Event)


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


@dataclass(slots=True)
class Slot:
    """Slot of one request at a host.

    Attributes:
        throttle: the throttle that provided the slot.
        host: the host.
        state: the state of the host.
        is_delayed: whether the delay between requests applies.
        max_pause: the longest pause to wait for in seconds.
    """

    throttle: "Throttle"
    host: str
    state: _Host
    is_delayed: bool
    max_pause: float

    async def due(self) -> None:
        """Wait until the request is due; ``sending`` checks again before it is sent."""
        await self.throttle.wait_until_due(self)

    @asynccontextmanager
    async def sending(self) -> AsyncIterator[None]:
        """Wait until the request may be sent; the caller sends it in the block.

        The delay before the host's next request starts at the end of the block. If an exception
        leaves the block, the request counts as not sent.
        """
        if not self.is_delayed:
            await self.throttle.wait_until_due(self)
            yield
            return
        async with self.state.sending:
            has_waited, is_sent = await self.throttle.wait_until_due(self), True
            try:
                yield
            except Exception:
                is_sent = False
                raise
            finally:
                if is_sent:
                    self.throttle.was_sent(self, has_waited=has_waited)


class Throttle:
    """Rate limiter of one process.

    ``clock`` and ``sleep`` are for tests; ``shared`` is set if there may be other workers, and
    ``rules`` if sites can have separate delays.
    """

    def __init__(
        self,
        settings: Settings,
        clock: Callable[[], float] | None = None,
        sleep: Callable[[float], "asyncio.Future[None]"] | None = None,
        shared: Sharing | None = None,
        rules: SiteRules | None = None,
    ) -> None:
        self._concurrency = settings.host_concurrency
        self._delay = settings.host_delay
        self._clock = clock or time.monotonic
        self._sleep = sleep or asyncio.sleep
        self._shared = shared
        self._rules = rules
        self._processes = 1 if shared else settings.crawl_processes
        self._hosts: dict[str, _Host] = {}

    @asynccontextmanager
    async def slot(
        self, host: str, *, is_delayed: bool = True, max_pause: float = math.inf
    ) -> AsyncIterator[Slot]:
        """Provide a slot at a host for the duration of the block, in first-come order.

        Args:
            host: the host, with its port unless it is the scheme's default.
            is_delayed: whether the delay between requests applies. It applies to pages. Requisites
                are fetched in parallel, as by a browser, limited only by the number of slots.
            max_pause: the longest pause to wait for in seconds.

        Raises:
            FetchError: the host requested a longer pause before or during the wait.
        """
        state = self._state_of(host)
        slot = Slot(self, host, state, is_delayed and self.delay_of(host) > 0, max_pause)
        state.users += 1
        try:
            async with state.free:
                async with state.pace:
                    await self._wait(slot)
                state.active += 1
                try:
                    yield slot
                finally:
                    state.active -= 1
                    state.released.set()
        finally:
            state.users -= 1

    def pause(self, host: str, seconds: float) -> None:
        """Pause requests to a host that answered 429 or 503."""
        state = self._state_of(host)
        state.paused_until = max(state.paused_until, self._clock() + seconds)

    def pause_left(self, host: str) -> float:
        """Return the remaining seconds of a host's pause; 0 if it is not paused."""
        state = self._hosts.get(host)
        return max(state.paused_until - self._clock(), 0.0) if state else 0.0

    def paused_hosts(self) -> list[str]:
        """Return the hosts that are paused."""
        now = self._clock()
        return [host for host, state in self._hosts.items() if state.paused_until > now]

    async def _wait(self, slot: Slot) -> None:
        """Wait until a slot may start, and set the earliest time of the next slot.

        The time is checked again after each wait, because the host may have requested a pause, and
        an earlier request may have been sent late.
        """
        state = slot.state
        if self._shared:
            await self._shared.permit()
            while state.active >= max(self._concurrency // self._shared.workers, 1):
                state.released.clear()
                await state.released.wait()
        while (wait := self._due(slot, state.next_at) - self._clock()) > 0:
            self._check_pause(slot)
            await self._sleep(wait)
        if slot.is_delayed:
            state.next_at = self._clock() + self.delay_of(slot.host)

    def _due(self, slot: Slot, delayed_until: float) -> float:
        """Return when a request is due; ``delayed_until`` applies to delayed requests."""
        paused_until = slot.state.paused_until
        return max(paused_until, delayed_until) if slot.is_delayed else paused_until

    def delay_of(self, host: str) -> float:
        """Return the seconds between two requests; longer if other workers share the host."""
        rule_delay = self._rules.of_host(host).delay if self._rules else None
        delay = self._delay if rule_delay is None else rule_delay * self._processes
        if self._shared is None or host in self._shared.hosts:
            return delay
        return delay * self._shared.workers

    def _check_pause(self, slot: Slot) -> None:
        pause = slot.state.paused_until - self._clock()
        if pause > slot.max_pause:
            raise pause_too_long(slot.host, pause)

    async def wait_until_due(self, slot: Slot) -> bool:
        """Wait until a request may be sent; return whether it had to wait.

        Opening a connection takes a varying time after the slot was granted. In that time the host
        may request a pause, an earlier request may be sent late, or this process may lose its
        lease. Nothing else runs between the last check of the clock and the sending.
        """
        has_waited = False
        while True:
            if self._shared:
                await self._shared.permit()
            if (wait := self._due(slot, slot.state.next_sent_at) - self._clock()) <= 0:
                return has_waited
            self._check_pause(slot)
            has_waited = True
            await self._sleep(wait)

    def was_sent(self, slot: Slot, *, has_waited: bool) -> None:
        """Start the delay for the next request now that this one has been sent.

        If this request had to wait after its connection was open, the next slot is postponed.
        Otherwise one slow connection would make all later requests wait with open connections.
        """
        state = slot.state
        state.next_sent_at = self._clock() + self.delay_of(slot.host)
        if has_waited:
            state.next_at = max(state.next_at, state.next_sent_at)

    def _state_of(self, host: str) -> _Host:
        state = self._hosts.get(host)
        if state is None:
            if len(self._hosts) >= IDLE_HOSTS:
                self._forget_idle()
            state = self._hosts[host] = _Host(asyncio.Semaphore(self._concurrency))
        return state

    def _forget_idle(self) -> None:
        now = self._clock()
        for host, state in [*self._hosts.items()]:
            busy_until = max(state.paused_until, state.next_at, state.next_sent_at)
            if not state.users and busy_until <= now:
                del self._hosts[host]
