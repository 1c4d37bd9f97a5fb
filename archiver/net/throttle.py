"""Politeness: how many requests a host gets at once, how far apart, and when it asked for rest."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from types import TracebackType

from archiver.config import Settings

IDLE_HOSTS = 4096
"""Past so many hosts, those that are idle and owe no rest are forgotten."""


@dataclass(slots=True)
class _Host:
    free: asyncio.Semaphore
    pace: asyncio.Lock = field(default_factory=asyncio.Lock)
    next_at: float = 0.0
    rest_until: float = 0.0
    users: int = 0


class Throttle:
    """The politeness of one process.

    ``clock`` and ``sleep`` are for tests; ``permit`` returns once this process may ask anybody.
    """

    def __init__(
        self,
        settings: Settings,
        clock: Callable[[], float] | None = None,
        sleep: Callable[[float], "asyncio.Future[None]"] | None = None,
        permit: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        self._concurrency = settings.host_concurrency
        self._delay = settings.host_delay
        self._clock = clock or time.monotonic
        self._sleep = sleep or asyncio.sleep
        self._permit = permit
        self._hosts: dict[str, _Host] = {}

    def slot(self, host: str, *, spaced: bool = True) -> "Slot":
        """A turn at a host, to be waited for and held by ``async with``, first come first served.

        Args:
            host: with its port where that is not the scheme's own.
            spaced: whether the delay between requests applies. It is for pages; the requisites of
                a page come together, as they do for a browser, held back by the number only.
        """
        return Slot(self, self._known(host), spaced=spaced)

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

    async def wait(self, known: _Host, *, spaced: bool) -> None:
        """Wait until a host may be asked; the next is then asked at a distance."""
        if self._permit:
            await self._permit()
        due = max(known.rest_until, known.next_at if spaced else 0.0)
        wait = due - self._clock()
        if wait > 0:
            await self._sleep(wait)
        if spaced:
            known.next_at = self._clock() + self._delay

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
            if not known.users and max(known.rest_until, known.next_at) <= now:
                del self._hosts[host]


class Slot:
    """One turn at one host; a class, for there is one for each request."""

    __slots__ = ("_known", "_spaced", "_throttle")

    def __init__(self, throttle: Throttle, known: _Host, *, spaced: bool) -> None:
        self._throttle = throttle
        self._known = known
        self._spaced = spaced

    async def __aenter__(self) -> None:
        known = self._known
        known.users += 1
        try:
            await known.free.acquire()
        except BaseException:
            known.users -= 1
            raise
        try:
            async with known.pace:
                await self._throttle.wait(known, spaced=self._spaced)
        except BaseException:
            self._leave()
            raise

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._leave()

    def _leave(self) -> None:
        self._known.free.release()
        self._known.users -= 1
