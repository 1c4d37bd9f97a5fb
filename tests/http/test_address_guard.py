"""Only public addresses can be connected to, in any notation and from any source."""

import asyncio
import threading
from contextlib import suppress
from ipaddress import ip_network

import pytest
from aiohttp.abc import AbstractResolver

from archiver.http.address_guard import AddressGuard, BlockedAddressError, GuardedResolver

PRIVATE = """127.0.0.1 10.0.0.1 172.16.5.5 192.168.1.1 169.254.169.254 100.64.1.1 0.0.0.0 224.0.0.1
255.255.255.255 198.18.0.1 192.0.2.1 ::1 :: fe80::1 fe80::1%eth0 fd00::1 ff02::1 ::ffff:127.0.0.1
::ffff:10.1.1.1 64:ff9b::7f00:1 2002:7f00:1:: ::7f00:1 nonsense
192.0.0.9 192.31.196.1 192.52.193.1 192.88.99.1 192.175.48.1 198.51.100.1 203.0.113.1 240.0.0.1
::ffff:0:8.8.8.8 ::ffff:0:127.0.0.1 64:ff9b:1::808:808 100::1 100:0:0:1::1 2001:2::1 2001:20::1
2001:db8::1 2620:4f:8000::1 3fff::1 3fff:fff:ffff::1 5f00::1 4000::1 fc00::1 fec0::1
2606:4700::5efe:10.0.0.1 2606:4700::200:5efe:127.0.0.1 fe80::5efe:8.8.8.8""".split()
PUBLIC = """8.8.8.8 93.184.216.34 2606:4700::1111 2a00:1450::1 ::ffff:8.8.8.8
64:ff9b::808:808 2606:4700::5efe:8.8.8.8""".split()


class Names(AbstractResolver):
    def __init__(self, *addresses):
        self._addresses = addresses

    async def resolve(self, host, port=0, family=0):
        return [
            {"hostname": host, "host": each, "port": port, "family": family, "proto": 0, "flags": 0}
            for each in self._addresses
        ]

    async def close(self):
        pass


def test_private_addresses_are_refused():
    for address in PRIVATE:
        assert not AddressGuard(()).permits(address)


def test_public_addresses_are_allowed():
    for address in PUBLIC:
        assert AddressGuard(()).permits(address)


def test_only_the_allowed_networks_are_permitted():
    guard = AddressGuard((ip_network("192.168.1.0/24"),))

    assert guard.permits("192.168.1.7")
    assert guard.permits("::ffff:192.168.1.7")
    assert not guard.permits("192.168.2.7")


async def test_a_name_resolves_to_its_public_addresses_only():
    resolver = GuardedResolver(AddressGuard(()), Names("10.0.0.1", "8.8.8.8"))

    assert [each["host"] for each in await resolver.resolve("example.com")] == ["8.8.8.8"]


async def test_a_name_with_only_private_addresses_is_refused():
    resolver = GuardedResolver(AddressGuard(()), Names("10.0.0.1", "::1"))

    with pytest.raises(BlockedAddressError):
        await resolver.resolve("intranet.example")


async def test_a_name_lookup_does_not_delay_shutdown():
    before = {each.ident for each in threading.enumerate()}
    resolver = GuardedResolver(AddressGuard(()))

    lookup = asyncio.ensure_future(resolver.resolve("nobody.invalid"))
    await asyncio.wait([lookup], timeout=0)
    waiting = [each for each in threading.enumerate() if each.ident not in before]

    assert not [each for each in waiting if not each.daemon or each.name.startswith("asyncio")]
    lookup.cancel()
    with suppress(asyncio.CancelledError, OSError):
        await lookup
    await resolver.close()


def test_a_refusal_names_the_network_to_allow():
    for address, network in [
        ("10.1.2.3", "10.1.2.0/24"),
        ("fe80::1%eth0", "fe80::/64"),
        ("::1", "::1"),
        ("::ffff:7f00:1", "127.0.0.0/24"),
        ("odd", "192.168.1.0/24"),
    ]:
        refused = BlockedAddressError("intranet.example", address)

        assert refused.network == network
