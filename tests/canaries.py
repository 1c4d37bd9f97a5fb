"""Canary servers on every address, and pages that try to reach them from a browser.

Run as ``python -m tests.canaries MISSING`` in a network namespace with only a loopback interface,
which gets more addresses. MISSING names a part of the confinement to leave out. The page, its
worker and its service worker use the gate, which refuses the canaries. Prints as JSON how often
each kind of canary was reached.

Requests that belong to no page go through the browser's proxy settings and resolver rules instead
of the gate; ``ungated`` tests these.
"""

import asyncio
import json
import socket
import ssl
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

from archiver.browser.chromium import CONFINED, find_browser
from archiver.browser.page import open_page
from archiver.browser.process import Browser, Launch
from archiver.browser.request_gate import Gate, GateHandlers, make_gate_key
from archiver.config import Settings
from archiver.errors import FetchError
from archiver.http.headers import ResponseHead
from archiver.model.failure import Failure, FailureKind

PORT = 7777
BYPASS = "<-loopback>"
"""Chromium's list of hosts that bypass the proxy: no host, not even a loopback address."""
NAMED_PORT = 7778
"""Port of the canary that the browser knows by its host name only."""
INTERFACE = "out"
"""Network interface for all addresses except loopback; no machine answers on it."""
_EVERYTHING, _IPV6 = 0x0003, 0x86DD
ABSENCE_SECONDS = 3.5
"""Seconds to wait for connections that must not happen; nothing signals their absence."""
PRESENCE_SECONDS = 60
"""Seconds to wait for connections that must happen, on a busy machine."""
V4 = ("127.0.0.1", "127.0.0.53", "10.9.8.7", "192.168.7.7", "169.254.169.254", "203.0.113.5")
V6 = ("::1", "fd00::7")
SITE = "https://site.test"
TARGETS = [f"http://{each}:{PORT}" for each in (*V4, "localhost")]
TARGETS += [f"http://[{each}]:{PORT}" for each in V6] + [f"https://10.9.8.7:{PORT}"]
ATTEMPT_SCRIPT = """
for (const each of TARGETS) {
  fetch(each + '/fetch' + WHO, {mode: 'no-cors'}).catch(() => 0);
  fetch(each + '/alive' + WHO, {mode: 'no-cors', keepalive: true, method: 'POST', body: 'x'})
    .catch(() => 0);
  try { new WebSocket(each.replace('http', 'ws') + '/socket'); } catch {}
  try { new EventSource(each + '/events' + WHO); } catch {}
}
"""
PAGE = (
    "<!doctype html><title>Out</title>"
    + "".join(
        f'<link rel="prefetch" href="{each}/prefetch"><link rel="preconnect" href="{each}">'
        f'<link rel="dns-prefetch" href="//name.test"><img src="{each}/image">'
        f'<link rel="icon" href="{each}/icon"><iframe src="{each}/frame"></iframe>'
        for each in TARGETS
    )
    + '<script type="speculationrules">'
    + json.dumps({"prerender": [{"source": "list", "urls": [f"{t}/s" for t in TARGETS]}]})
    + "</script><script>const TARGETS = "
    + json.dumps(TARGETS)
    + ", WHO = '';"
    + ATTEMPT_SCRIPT
    + """
for (const each of TARGETS) navigator.sendBeacon(each + '/beacon', 'x');
new Worker('/worker.js?worker');
new SharedWorker('/worker.js?shared');
navigator.serviceWorker.register('/worker.js?service').catch(() => 0);
for (const each of ['10.9.8.7', '127.0.0.1', '203.0.113.5']) {
  const peer = new RTCPeerConnection({iceServers: [
    {urls: `stun:${each}:7777`},
    {urls: [`turn:${each}:7777?transport=udp`, `turn:${each}:7777?transport=tcp`],
     username: 'a', credential: 'b'}]});
  peer.createDataChannel('x');
  peer.createOffer().then((offer) => peer.setLocalDescription(offer));
}
</script>"""
)
FILES = {
    "/": ("text/html", PAGE),
    "/worker.js": (
        "text/javascript",
        f"const TARGETS = {json.dumps(TARGETS)}, WHO = location.search;{ATTEMPT_SCRIPT}",
    ),
}


REQUEST_KINDS = {f"/{kind}" for kind in ("image", "frame", "prefetch", "beacon", "socket")}
REQUEST_KINDS |= {
    f"/{kind} {worker}".strip()
    for kind in ("fetch", "alive", "events")
    for worker in ("", "worker", "shared", "service")
}
"""Kinds of requests that reach the gate; icons, speculation and WebRTC do not try."""
OMITTED_FLAGS = {
    "nothing": (),
    "of the page": (BYPASS, "--force-webrtc"),
    "ungated": (),
    "ungated proxy": ("proxy",),
    "ungated of all": ("proxy", "resolver", "quic"),
}
"""Texts by name: each flag of ``CONFINED`` that contains one of them is left out."""
REACHED = {
    "of the page": ("tcp", "udp"),
    "ungated proxy": ("tcp",),
    "ungated of all": ("tcp", "name", "udp"),
}
"""Kinds of canaries that the browser reaches if the flags of this name are left out."""
QUIC = f"127.0.0.1:{PORT}"
FORCE_QUIC = f"--origin-to-force-quic-on={QUIC}"
"""Flag that makes Chromium try QUIC even if the host has not offered it."""
UNGATED = (f"http://localhost:{NAMED_PORT}/", f"http://127.0.0.1:{PORT}/", f"https://{QUIC}/")


@dataclass(frozen=True)
class StaticResponse:
    head: ResponseHead
    content: bytes

    async def payload(self) -> AsyncIterator[bytes]:
        yield self.content


class Canaries(asyncio.DatagramProtocol):
    """Counters of connections to the canaries."""

    def __init__(self) -> None:
        self.reached: Counter[str] = Counter()
        self._more = asyncio.Event()

    def count(self, kind: str) -> None:
        """Count a connection."""
        self.reached[kind] += 1
        self._more.set()

    async def wait_until_reached(self, kind: str) -> None:
        """Wait until a kind of canary was reached."""
        while not self.reached[kind]:
            self._more.clear()
            await self._more.wait()

    async def listen(self) -> None:
        loop = asyncio.get_running_loop()
        for each in (*V4, *V6):
            await asyncio.start_server(partial(self._connected, "tcp"), each, PORT)
            await asyncio.start_server(partial(self._connected, "name"), each, NAMED_PORT)
            await loop.create_datagram_endpoint(lambda: self, (each, PORT))

    def datagram_received(self, *_: object) -> None:
        self.count("udp")

    def count_other_traffic(self) -> None:
        """Count other traffic: Chromium's own requests, and name resolution.

        IPv6 packets are ignored, because the kernel itself sends them for neighbour discovery.
        """
        packets = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(_EVERYTHING))
        packets.bind((INTERFACE, 0))
        asyncio.get_running_loop().add_reader(packets, self._packet_sent, packets)

    def _packet_sent(self, packets: socket.socket) -> None:
        kind = int.from_bytes(packets.recv(1500)[12:14])
        if kind != _IPV6:
            self.count("out")

    async def _connected(
        self, kind: str, _: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self.count(kind)
        writer.close()


ALL_ATTEMPTED = asyncio.Event()
ATTEMPTED: set[str] = set()
"""URLs of canaries that the gate refused, as proof that the page requested them."""


def request_kind(url: str) -> str:
    """Return the path and query of a URL, which name the kind of the request."""
    parts = urlsplit(url)
    return f"{parts.path} {parts.query}".strip()


def record_attempt(url: str) -> None:
    """Record that the page requested a canary."""
    ATTEMPTED.add(url)
    if {*map(request_kind, ATTEMPTED)} >= REQUEST_KINDS:
        ALL_ATTEMPTED.set()


@asynccontextmanager
async def respond(request) -> AsyncIterator[StaticResponse]:
    """Provide the response for a file of the site; refuse all other requests."""
    path = request.url.removeprefix(SITE).partition("?")[0]
    if path not in FILES:
        record_attempt(request.url)
        raise FetchError(Failure(FailureKind.BLOCKED_ADDRESS, "No."))
    kind, text = FILES[path]
    yield StaticResponse(
        ResponseHead("HTTP/1.1", 200, "OK", (("content-type", kind),)), text.encode()
    )


async def refuse(host: str, port: int, *_: object):
    record_attempt(f"ws://{f'[{host}]' if ':' in host else host}:{port}/socket")
    raise FetchError(Failure(FailureKind.BLOCKED_ADDRESS, "No."))


async def main(missing: str) -> None:
    canaries, key = Canaries(), make_gate_key()
    await canaries.listen()
    canaries.count_other_traffic()
    is_ungated = missing.startswith("ungated")
    with tempfile.TemporaryDirectory() as profiles:
        launch = Launch(
            executable=find_browser(Settings()),
            profiles=Path(profiles),
            fingerprint=key.fingerprint,
            user_agent="Mozilla/5.0",
            memory_bytes=1 << 30,
            is_isolated=False,
            confined=confinement(missing),
        )
        browser = await Browser.start(launch)
        waiting = wait_for_connections(canaries, missing)
        if is_ungated:
            error = await show_ungated(browser, waiting)
        else:
            error = await show_site(browser, key.tls, waiting, missing)
        await browser.close()
    tried = {"tried": sorted(ATTEMPTED)} if ATTEMPTED else {}
    sys.stdout.write(json.dumps({"error": error, **+canaries.reached, **tried}))


def confinement(missing: str) -> tuple[str, ...]:
    """Return the flags that confine the browser, without those that ``missing`` leaves out."""
    flags = (each for each in CONFINED if not any(part in each for part in OMITTED_FLAGS[missing]))
    return (*flags, FORCE_QUIC)


async def wait_for_connections(canaries: Canaries, missing: str) -> None:
    """Wait for all expected connections, then some time for unexpected ones."""
    with suppress(TimeoutError):
        async with asyncio.timeout(PRESENCE_SECONDS):
            if missing in REACHED:
                for kind in REACHED[missing]:
                    await canaries.wait_until_reached(kind)
            elif missing == "nothing":
                await ALL_ATTEMPTED.wait()
    await asyncio.sleep(ABSENCE_SECONDS)


async def show_site(
    browser: Browser, tls: ssl.SSLContext, waiting: Coroutine[None, None, None], missing: str
) -> str:
    """Load the site through a gate until ``waiting`` is done; return the navigation error."""
    listening, port = await browser.gate_socket()
    gate = asyncio.create_task(Gate(listening, tls, GateHandlers(respond, refuse)).serve())
    bypass = "" if BYPASS in OMITTED_FLAGS[missing] else BYPASS
    async with open_page(browser, port, bypass=bypass) as page:
        error = await page.navigate(f"{SITE}/")
        while "NETWORK_CHANGED" in error:
            error = await page.navigate(f"{SITE}/")
        await waiting
    gate.cancel()
    await asyncio.wait([gate])
    return error


async def show_ungated(browser: Browser, waiting: Coroutine[None, None, None]) -> str:
    """Load the canaries in pages without a gate until ``waiting`` is done."""
    for url in UNGATED:
        await browser.connection.call("Target.createTarget", url=url)
    await waiting
    return ""


if __name__ == "__main__":
    # The kernel assigns an automatic address seconds later, and a browser cancels all requests
    # when addresses change.
    for words in (
        "link set lo up",
        f"link add {INTERFACE} type veth peer name far",
        f"address add 198.51.100.1/24 dev {INTERFACE}",
        f"link set {INTERFACE} addrgenmode none up",
        "link set far addrgenmode none up",
        "route add default via 198.51.100.2 dev out",
        *(f"address add {each} dev lo" for each in V4[1:]),
        *(f"address add {each} dev lo nodad" for each in V6[1:]),
    ):
        subprocess.run(["ip", *words.split()], check=True)
    asyncio.run(main(sys.argv[1]))
