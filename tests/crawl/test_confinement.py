"""All traffic of a page goes through the gate; canary servers on every address check that.

Each test runs in an isolated network namespace. The product's own namespace is not used here, so
only the browser flags confine the page.
"""

import asyncio
import json
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.canaries import OMITTED_FLAGS, REACHED, REQUEST_KINDS, V4, V6, request_kind

ROOT = Path(__file__).parents[2]


async def escapes(missing: str) -> dict[str, object]:
    process = await asyncio.create_subprocess_exec(
        *("unshare", "--map-root-user", "--net", sys.executable, "-m", "tests.canaries", missing),
        cwd=ROOT,
        stdout=asyncio.subprocess.PIPE,
    )
    said, _ = await process.communicate()
    return json.loads(said)


@pytest.fixture(scope="module")
def seen() -> dict[str, dict[str, object]]:
    """Return the traffic at the canaries with all flags, and with one part of them removed."""

    async def try_all():
        return dict(
            zip(OMITTED_FLAGS, await asyncio.gather(*map(escapes, OMITTED_FLAGS)), strict=True)
        )

    return asyncio.run(try_all())


def test_no_connection_bypasses_the_gate(seen):
    """Fetch, beacon, keepalive, sockets, events, frames, prefetch, workers, WebRTC, speculation."""
    assert seen["nothing"].keys() == {"error", "tried"}
    assert seen["nothing"]["error"] == ""


def test_every_kind_of_request_to_every_address_reaches_the_gate(seen):
    tried = seen["nothing"]["tried"]

    assert {*map(request_kind, tried)} >= REQUEST_KINDS
    assert {urlsplit(each).hostname for each in tried} == {*V4, *V6, "localhost"}


def test_a_page_without_a_gate_sends_no_requests(seen):
    assert seen["ungated"] == {"error": ""}


def test_without_the_proxy_flags_pages_connect_directly_to_addresses_only(seen):
    assert seen["ungated proxy"].keys() == {"error", "tcp"}


def test_the_canaries_are_reached_without_the_flags(seen):
    """Loopback and link-local addresses, WebRTC; then names and QUIC, without a gate."""
    for missing, kinds in REACHED.items():
        assert seen[missing].keys() >= {*kinds}, missing
