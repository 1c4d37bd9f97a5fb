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
NAMED_PORT = 7778
"""Address of a canary that is only known by name."""
OUT = "out"
"""The interface for all other addresses; its only neighbour does not exist."""
_EVERYTHING, _IPV6 = 0x0003, 0x86DD
SECONDS = 3.5
"""Seconds to wait for connections that must not happen; nothing signals their absence."""
PATIENCE_SECONDS = 60
"""Seconds to wait for connections that must happen, on a busy machine."""
V4 = ("127.0.0.1", "127.0.0.53", "10.9.8.7", "192.168.7.7", "169.254.169.254", "203.0.113.5")
V6 = ("::1", "fd00::7")
SITE = "https://site.test"
TARGETS = [f"http://{each}:{PORT}" for each in (*V4, "localhost")]
TARGETS += [f"http://[{each}]:{PORT}" for each in V6] + [f"https://10.9.8.7:{PORT}"]
TRY = """
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
    + TRY
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
        f"const TARGETS = {json.dumps(TARGETS)}, WHO = location.search;{TRY}",
    ),
}


WAYS = {f"/{way}" for way in ("image", "frame", "prefetch", "beacon", "socket")}
WAYS |= {
    f"/{way} {who}".strip()
    for way in ("fetch", "alive", "events")
    for who in ("", "worker", "shared", "service")
}
"""Kinds of requests that reach the gate; icons, speculation and WebRTC do not try."""
LEFT_OUT = {
    "nothing": (),
    "bypass": ("<-loopback>",),
    "webrtc": ("--force-webrtc",),
    "ungated": (),
    "ungated proxy": ("proxy",),
    "ungated proxy names": ("proxy", "resolver"),
    "ungated proxy quic": ("proxy", "quic"),
}
"""Parts of the flags that can be left out, by name."""
REACHED = {
    "bypass": "tcp",
    "webrtc": "udp",
    "ungated proxy": "tcp",
    "ungated proxy names": "name",
    "ungated proxy quic": "udp",
}
"""Kinds of canaries that are reached without each part."""
QUIC = f"127.0.0.1:{PORT}"
FORCE_QUIC = f"--origin-to-force-quic-on={QUIC}"
"""QUIC is tried directly, without a previous offer by the host."""
UNGATED = (f"http://localhost:{NAMED_PORT}/", f"http://127.0.0.1:{PORT}/", f"https://{QUIC}/")


@dataclass(frozen=True)
class Made:
    head: ResponseHead
    content: bytes

    async def payload(self) -> AsyncIterator[bytes]:
        yield self.content


class Canaries(asyncio.DatagramProtocol):
    """Counters of connections to the canaries."""

    def __init__(self) -> None:
        self.reached: Counter[str] = Counter()
        self._more = asyncio.Event()

    def note(self, how: str) -> None:
        """Count a connection."""
        self.reached[how] += 1
        self._more.set()

    async def was_reached(self, how: str) -> None:
        """Wait until a kind of canary was reached."""
        while not self.reached[how]:
            self._more.clear()
            await self._more.wait()

    async def listen(self) -> None:
        loop = asyncio.get_running_loop()
        for each in (*V4, *V6):
            await asyncio.start_server(partial(self._come, "tcp"), each, PORT)
            await asyncio.start_server(partial(self._come, "name"), each, NAMED_PORT)
            await loop.create_datagram_endpoint(lambda: self, (each, PORT))

    def datagram_received(self, *_: object) -> None:
        self.note("udp")

    def watch(self) -> None:
        """Count other traffic: Chromium's own requests, and name resolution.

        IPv6 packets are ignored, because the kernel itself sends them for neighbour discovery.
        """
        leaving = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(_EVERYTHING))
        leaving.bind((OUT, 0))
        asyncio.get_running_loop().add_reader(leaving, self._leave, leaving)

    def _leave(self, leaving: socket.socket) -> None:
        kind = int.from_bytes(leaving.recv(1500)[12:14])
        if kind != _IPV6:
            self.note("out")

    async def _come(self, how: str, _: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.note(how)
        writer.close()


ALL_TRIED = asyncio.Event()
TRIED: set[str] = set()
"""Ways in which the gate was asked for each canary and refused, to prove that the page tries."""


def way_of(url: str) -> str:
    """Return the kind of a request and its target."""
    parts = urlsplit(url)
    return f"{parts.path} {parts.query}".strip()


def note(url: str) -> None:
    """Record that it was tried."""
    TRIED.add(url)
    if {*map(way_of, TRIED)} >= WAYS:
        ALL_TRIED.set()


@asynccontextmanager
async def answer(asked) -> AsyncIterator[Made]:
    """Respond for the site, and refuse everything else."""
    path = asked.url.removeprefix(SITE).partition("?")[0]
    if path not in FILES:
        note(asked.url)
        raise FetchError(Failure(FailureKind.BLOCKED_ADDRESS, "No."))
    kind, text = FILES[path]
    yield Made(ResponseHead("HTTP/1.1", 200, "OK", (("content-type", kind),)), text.encode())


async def refuse(host: str, port: int, *_: object):
    note(f"ws://{f'[{host}]' if ':' in host else host}:{port}/socket")
    raise FetchError(Failure(FailureKind.BLOCKED_ADDRESS, "No."))


async def main(missing: str) -> None:
    canaries, key = Canaries(), make_gate_key()
    await canaries.listen()
    canaries.watch()
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
        trying = trial(canaries, missing)
        if is_ungated:
            error = await show_ungated(browser, trying)
        else:
            error = await show_site(browser, key.tls, trying, missing)
        await browser.close()
    tried = {"tried": sorted(TRIED)} if TRIED else {}
    sys.stdout.write(json.dumps({"error": error, **+canaries.reached, **tried}))


def confinement(missing: str) -> tuple[str, ...]:
    """Return the flags except for the missing part."""
    kept = (each for each in CONFINED if not any(part in each for part in LEFT_OUT[missing]))
    return (*kept, FORCE_QUIC)


async def trial(canaries: Canaries, missing: str) -> None:
    """Wait for the expected connections, and as long for unexpected ones."""
    with suppress(TimeoutError):
        async with asyncio.timeout(PATIENCE_SECONDS):
            if missing in REACHED:
                await canaries.was_reached(REACHED[missing])
            elif missing == "nothing":
                await ALL_TRIED.wait()
    await asyncio.sleep(SECONDS)


async def show_site(
    browser: Browser, tls: ssl.SSLContext, trying: Coroutine[None, None, None], missing: str
) -> str:
    """Load the site through a gate until the trial ends."""
    listening, port = await browser.gate_socket()
    gate = asyncio.create_task(Gate(listening, tls, GateHandlers(answer, refuse)).serve())
    async with open_page(
        browser, port, bypass="" if missing == "bypass" else "<-loopback>"
    ) as page:
        error = await page.navigate(f"{SITE}/")
        while "NETWORK_CHANGED" in error:
            error = await page.navigate(f"{SITE}/")
        await trying
    gate.cancel()
    await asyncio.wait([gate])
    return error


async def show_ungated(browser: Browser, trying: Coroutine[None, None, None]) -> str:
    """Load the canaries in pages without a context, until the trial ends."""
    for url in UNGATED:
        await browser.connection.call("Target.createTarget", url=url)
    await trying
    return ""


if __name__ == "__main__":
    # The kernel assigns an automatic address seconds later, and a browser cancels all requests
    # when addresses change.
    for words in (
        "link set lo up",
        f"link add {OUT} type veth peer name far",
        f"address add 198.51.100.1/24 dev {OUT}",
        f"link set {OUT} addrgenmode none up",
        "link set far addrgenmode none up",
        "route add default via 198.51.100.2 dev out",
        *(f"address add {each} dev lo" for each in V4[1:]),
        *(f"address add {each} dev lo nodad" for each in V6[1:]),
    ):
        subprocess.run(["ip", *words.split()], check=True)
    asyncio.run(main(sys.argv[1]))
