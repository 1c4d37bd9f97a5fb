"""Limits per client: connections, event listeners and login attempts."""

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address

from archiver.helpers import RecentItems


@dataclass(frozen=True, slots=True)
class ServerLimits:
    """Limits of one server. Tests use lower limits.

    Attributes:
        head_seconds: timeout for the head of the next request, counted from the start of the
            connection or from the last response; also the limit for idle connections.
        body_seconds: timeout for a whole form or JSON body.
        upload_seconds: timeout for the next bytes of an upload.
        connections: maximum number of open connections.
        request_line_bytes: maximum length of the request line; replay paths contain another URL.
        field_bytes: maximum length of one header.
        fields: maximum number of headers of a request.
        drain_seconds: time to finish responses when the service stops.
    """

    head_seconds: float = 15
    body_seconds: float = 60
    upload_seconds: float = 60
    connections: int = 512
    request_line_bytes: int = 32 << 10
    field_bytes: int = 8 << 10
    fields: int = 100
    drain_seconds: float = 3


MAX_LISTENERS = 100
"""Maximum number of listeners for events. Each uses a connection and polls the index."""


class TooManyListeners(Exception):
    """The maximum number of listeners is reached."""


class Listeners:
    """Counter of clients that listen for events; ``closing`` is set when they must stop."""

    def __init__(self, most: int = MAX_LISTENERS) -> None:
        self._most = most
        self.count = 0
        self.closing = asyncio.Event()

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Count a listener while the block runs.

        Raises:
            TooManyListeners: the maximum is reached.
        """
        if self.count >= self._most:
            raise TooManyListeners
        self.count += 1
        try:
            yield
        finally:
            self.count -= 1


_FIRST_DELAYED_FAILURE = 5
_MAX_WAIT = 300.0
_FORGET_AFTER = 3600.0
_MAX_CLIENTS = 1024
_IPV6_HOST_BITS = 64


@dataclass(slots=True)
class _Record:
    wrong: int
    until: float
    last: float


class LoginThrottle:
    """Delays after failed logins by client address.

    At most 1,024 addresses are stored. All IPv6 addresses of a /64 network count as one address.

    The fifth failure causes a wait of one second, and each further failure doubles the wait, up to
    five minutes. A success, or an hour without a failure, resets the count.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._records = RecentItems[str, _Record](_MAX_CLIENTS)

    def wait(self, address: str | None) -> float:
        """Return the seconds until this address may try again; 0 for no wait."""
        record = self._records.get(_group(address))
        return max(0.0, record.until - self._clock()) if record else 0.0

    def wrong(self, address: str | None) -> None:
        """Record a failed login."""
        group, now = _group(address), self._clock()
        record = self._records.get(group)
        if record is None or now - record.last > _FORGET_AFTER:
            record = _Record(0, 0.0, now)
        record.wrong += 1
        record.last = now
        if record.wrong >= _FIRST_DELAYED_FAILURE:
            doublings = min(record.wrong - _FIRST_DELAYED_FAILURE, 16)
            record.until = now + min(_MAX_WAIT, float(1 << doublings))
        self._records[group] = record

    def right(self, address: str | None) -> None:
        """Record a successful login."""
        self._records.pop(_group(address), None)

    def __len__(self) -> int:
        return len(self._records)


def _group(address: str | None) -> str:
    try:
        parsed = ip_address((address or "").partition("%")[0])
    except ValueError:
        return ""
    if isinstance(parsed, IPv6Address) and parsed.ipv4_mapped is None:
        return str(IPv6Address(int(parsed) >> _IPV6_HOST_BITS << _IPV6_HOST_BITS))
    return str(parsed)
