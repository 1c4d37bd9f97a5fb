"""All traffic of a page goes through the gate; canary servers on every address check that.

Each test runs in an isolated network namespace. The product's own namespace is not used here, so
only the browser flags confine the page.
"""

import asyncio
import json
import sys
from pathlib import Path
from urllib.parse import urlsplit

from tests.canaries import OMITTED_FLAGS, REACHED, REQUEST_KINDS, V4, V6, request_kind

ROOT = Path(__file__).parents[2]


async def escapes(missing: str) -> dict[str, object]:
    process = await asyncio.create_subprocess_exec(
        *("unshare", "--map-root-user", "--net", sys.executable, "-m", "tests.canaries", missing),
        cwd=ROOT,
        stdout=asyncio.subprocess.PIPE,
    )
    output, _ = await process.communicate()
    return json.loads(output)


async def test_a_confined_page_reaches_only_the_gate(subtests):
    """All flags are tried, and each part of them is left out."""
    results = await asyncio.gather(*map(escapes, OMITTED_FLAGS))
    results = dict(zip(OMITTED_FLAGS, results, strict=True))

    with subtests.test("no connection bypasses the gate"):
        # Fetch, beacon, keepalive, sockets, events, frames, prefetch, workers, WebRTC, speculation
        assert results["nothing"].keys() == {"error", "tried"}
        assert results["nothing"]["error"] == ""
    with subtests.test("every kind of request to every address reaches the gate"):
        tried = results["nothing"]["tried"]
        assert {*map(request_kind, tried)} >= REQUEST_KINDS
        assert {urlsplit(each).hostname for each in tried} == {*V4, *V6, "localhost"}
    with subtests.test("a page without a gate sends no requests"):
        assert results["ungated"] == {"error": ""}
    with subtests.test("without the proxy flags pages connect to addresses only"):
        assert results["ungated proxy"].keys() == {"error", "tcp"}
    for missing, kinds in REACHED.items():
        with subtests.test("the canaries are reached without the flags", missing=missing):
            assert results[missing].keys() >= {*kinds}
