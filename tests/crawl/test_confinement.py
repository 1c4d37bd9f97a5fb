"""Nothing of a page gets out but through the gate, as canaries see that stand on every address.

Each runs in a network namespace of its own, that leads nowhere. The product's own namespace is left
out, so that what keeps the page in are the flags alone.
"""

import asyncio
import json
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.escapes import LEFT_OUT, V4, V6, WAYS, way_of

ROOT = Path(__file__).parents[2]


async def escapes(missing: str) -> dict[str, object]:
    process = await asyncio.create_subprocess_exec(
        *("unshare", "--map-root-user", "--net", sys.executable, "-m", "tests.escapes", missing),
        cwd=ROOT,
        stdout=asyncio.subprocess.PIPE,
    )
    said, _ = await process.communicate()
    return json.loads(said)


@pytest.fixture(scope="module")
def seen() -> dict[str, dict[str, object]]:
    """What canaries saw with all of the confinement, and with a part of it left out."""

    async def try_all():
        return dict(zip(LEFT_OUT, await asyncio.gather(*map(escapes, LEFT_OUT)), strict=True))

    return asyncio.run(try_all())


def test_no_connection_goes_round_the_gate(seen):
    """Fetch, beacon, keepalive, sockets, events, frames, prefetch, workers, WebRTC, speculation."""
    assert seen["nothing"].keys() == {"error", "tried"}
    assert seen["nothing"]["error"] == ""


def test_a_page_and_its_workers_try_each_way_to_each_address_and_come_to_the_gate(seen):
    tried = seen["nothing"]["tried"]

    assert {*map(way_of, tried)} >= WAYS
    assert {urlsplit(each).hostname for each in tried} == {*V4, *V6, "localhost"}


def test_loopback_and_link_local_addresses_would_be_reached_by_themselves(seen):
    assert seen["bypass"]["tcp"] > 0


def test_webrtc_would_send_datagrams(seen):
    assert seen["webrtc"]["udp"] > 0


def test_what_has_no_gate_goes_nowhere(seen):
    assert seen["ungated"] == {"error": ""}


def test_without_the_browsers_own_proxy_it_would_go_out_but_by_no_name_and_without_quic(seen):
    found = seen["ungated proxy"]

    assert found["tcp"] > 0
    assert found.keys() == {"error", "tcp"}


@pytest.mark.parametrize("missing", ["ungated server", "ungated bypass"])
def test_the_browsers_own_proxy_and_its_bypass_are_both_needed(seen, missing):
    assert seen[missing]["tcp"] > 0


def test_without_the_rule_for_names_they_would_be_resolved(seen):
    assert seen["ungated proxy names"]["name"] > 0


def test_without_the_flag_against_it_quic_would_be_spoken(seen):
    assert seen["ungated proxy quic"]["udp"] > 0
