"""A bound on guessing the password: after a few wrong ones from an address, a growing wait."""

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address

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
