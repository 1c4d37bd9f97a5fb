"""SSRF guard: addresses that the archiver may connect to.

The guard checks each address when a connection is made, so redirects and DNS rebinding cannot
bypass it.
"""

import socket
from collections.abc import Sequence
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

from aiohttp import abc
from aiohttp.resolver import AsyncResolver

from archiver.config import Network

MAX_CACHED = 4096
_NAT64 = ip_network("64:ff9b::/96")
_COMPATIBLE = ip_network("::/96")
_ISATAP = (0x00005EFE, 0x02005EFE)
"""Start of the interface identifier of ISATAP (RFC 5214 §6.1); an IPv4 address follows."""
_IPV6_LOOPBACK = IPv6Address("::1")
_ASSIGNED = ip_network("2000::/3")
"""The only IPv6 block that IANA assigns global unicast addresses from."""
_SPECIAL = tuple(
    map(
        ip_network,
        (
            "0.0.0.0/8",
            "100.64.0.0/10",
            "192.0.0.0/24",
            "192.0.2.0/24",
            "192.31.196.0/24",
            "192.52.193.0/24",
            "192.88.99.0/24",
            "192.175.48.0/24",
            "198.18.0.0/15",
            "198.51.100.0/24",
            "203.0.113.0/24",
            "240.0.0.0/4",
            "2001::/23",
            "2001:db8::/32",
            "2620:4f:8000::/48",
            "3fff::/20",
        ),
    )
)
"""Networks of IANA's special-purpose registries that some versions of ``ipaddress`` do not know."""


_NETWORK_BITS = {4: 24, 6: 64}


class BlockedAddressError(OSError):
    """Refused connection to an address that is not public."""

    def __init__(self, host: str, address: str) -> None:
        where = f"{host} is at {address}, which" if host != address else address
        super().__init__(f"{where} is not a public address")
        self.host = host
        self.address = address

    @property
    def network(self) -> str:
        """Network that contains the address, as an example for the ``allow_networks`` setting."""
        try:
            address = ip_address(self.address.partition("%")[0].strip("[]"))
        except ValueError:
            return "192.168.1.0/24"
        address = next(iter(_embedded(address)), address)
        if address == _IPV6_LOOPBACK:
            return str(address)
        return str(ip_network((address, _NETWORK_BITS[address.version]), strict=False))


class AddressGuard:
    """Policy for the addresses that connections may use."""

    def __init__(self, allowed: Sequence[Network]) -> None:
        self._allowed = tuple(allowed)
        self._cached_decision = lru_cache(MAX_CACHED)(self._decide)

    def permits(self, address: str) -> bool:
        """Return whether an address is public or in an explicitly allowed network."""
        return self._cached_decision(address)

    def _decide(self, address: str) -> bool:
        try:
            parsed = ip_address(address.partition("%")[0])
        except ValueError:
            return False
        inner = _embedded(parsed)
        return all(map(self._permits, inner)) if inner else self._permits(parsed)

    def _permits(self, address: IPv4Address | IPv6Address) -> bool:
        if any(address in network for network in self._allowed):
            return True
        if isinstance(address, IPv6Address) and address not in _ASSIGNED:
            return False
        special = any(address in network for network in _SPECIAL)
        return address.is_global and not address.is_multicast and not special


class GuardedResolver(abc.AbstractResolver):
    """DNS resolver that returns only permitted addresses."""

    def __init__(self, guard: AddressGuard, inner: abc.AbstractResolver | None = None) -> None:
        self._guard = guard
        self._inner = inner or AsyncResolver()

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[abc.ResolveResult]:
        """Return the permitted addresses of a host.

        Raises:
            BlockedAddressError: none of its addresses is permitted.
            OSError: the host has no address.
        """
        addresses = await self._inner.resolve(host, port, family)
        permitted = [each for each in addresses if self._guard.permits(each["host"])]
        if addresses and not permitted:
            raise BlockedAddressError(host, addresses[0]["host"])
        return permitted

    async def close(self) -> None:
        """Close the underlying resolver."""
        await self._inner.close()


def _embedded(address: IPv4Address | IPv6Address) -> list[IPv4Address | IPv6Address]:
    """Return the IPv4 addresses that are embedded in an IPv6 address, such as 6to4 or NAT64.

    For an ISATAP address, the result also contains the IPv6 address itself, because its network
    must be permitted, too.
    """
    if isinstance(address, IPv4Address):
        return []
    inner: list[IPv4Address | IPv6Address]
    inner = [each for each in (address.ipv4_mapped, address.sixtofour) if each]
    if address.teredo:
        inner += address.teredo
    if address in _NAT64 or (address in _COMPATIBLE and int(address) > 0xFFFF):
        inner.append(IPv4Address(int(address) & 0xFFFFFFFF))
    if int(address) >> 32 & 0xFFFFFFFF in _ISATAP:
        inner += [IPv4Address(int(address) & 0xFFFFFFFF), address]
    return inner
