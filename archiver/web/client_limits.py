"""Limits per client: connections, event listeners and login attempts."""

import asyncio
import resource
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from ipaddress import IPv6Address, ip_address
from typing import Self

_SHARE_OF_FILES = 4
_FEWEST = 8


@dataclass(frozen=True, slots=True)
class ServerLimits:
    """The limits of one server. Tests give shorter ones.

    Attributes:
        head_seconds: from a connection's beginning, or the last answer on it, to the end of the
            next request's head; so also how long a connection may be idle.
        body_seconds: for the whole of a form or a JSON body.
        upload_seconds: for the next bytes of an upload.
        connections: open at the same time.
        loopback_connections: further ones for who is on this machine, such as a health check.
        request_line_bytes: of a request's first line; a capture's address holds another URL.
        field_bytes: of one header field.
        fields: header fields of one request.
        drain_seconds: for answers under way when the service stops.
    """

    head_seconds: float = 15
    body_seconds: float = 60
    upload_seconds: float = 60
    connections: int = 512
    loopback_connections: int = 16
    request_line_bytes: int = 32 << 10
    field_bytes: int = 8 << 10
    fields: int = 100
    drain_seconds: float = 3

    @property
    def files(self) -> int:
        """Open files that all of the connections take."""
        return self.connections + self.loopback_connections

    def fit_to_machine(self) -> Self:
        """As many connections as a quarter of the open files allowed to this process, at most."""
        _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if hard == resource.RLIM_INFINITY:
            return self
        room = max(hard // _SHARE_OF_FILES - self.loopback_connections, _FEWEST)
        return replace(self, connections=min(self.connections, room))


MOST = 100
"""Listeners at a time. Each holds a connection and a place in the index's polling."""


class Full(Exception):
    """There is no place for another listener."""


class Listeners:
    """The places, and the word that it is over."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self.count = 0
        self.closing = asyncio.Event()

    @contextmanager
    def place(self) -> Iterator[None]:
        """Hold a place.

        Raises:
            Full: all are taken.
        """
        if self.count >= self._most:
            raise Full
        self.count += 1
        try:
            yield
        finally:
            self.count -= 1


_FREE = 5
_LONGEST_WAIT = 300.0
_FORGET_AFTER = 3600.0
_MOST = 1024
_IPV6_HOST_BITS = 64


@dataclass(slots=True)
class _Record:
    wrong: int
    until: float
    last: float


class LoginThrottle:
    """Wrong tries by address, at most 1,024 of them; an IPv6 address counts as its /64.

    Five are free; then the wait doubles from one second to five minutes. An hour without a wrong
    try, or a right one, wipes the slate.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._records: OrderedDict[str, _Record] = OrderedDict()

    def wait(self, address: str | None) -> float:
        """Return the seconds until this address may try again; 0 is now."""
        record = self._records.get(_group(address))
        return max(0.0, record.until - self._clock()) if record else 0.0

    def wrong(self, address: str | None) -> None:
        """Note a wrong try."""
        group, now = _group(address), self._clock()
        record = self._records.pop(group, None)
        if record is None or now - record.last > _FORGET_AFTER:
            record = _Record(0, 0.0, now)
        record.wrong += 1
        record.last = now
        if record.wrong >= _FREE:
            doublings = min(record.wrong - _FREE, 16)
            record.until = now + min(_LONGEST_WAIT, float(1 << doublings))
        self._records[group] = record
        while len(self._records) > _MOST:
            self._records.popitem(last=False)

    def right(self, address: str | None) -> None:
        """Note that the password was known."""
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
