"""What gets out of a browser when a page tries everything, seen by canaries on every address.

Run in a network namespace that holds nothing but a loopback interface (``python -m tests.escapes
MISSING``), which gets addresses of its own. MISSING names what is left out of the confinement. The
page, its worker and its service worker come through the gate, which refuses the canaries. Prints as
JSON how often each kind of canary was reached.

What belongs to no page's context has no gate, but the browser's own proxy, and behind that the
rules for names and QUIC. ``ungated`` and what goes on from it let a page try that has no gate.
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
from archiver.browser.request_gate import Beyond, Gate, make_gate_key
from archiver.config import Settings
from archiver.errors import FetchError
from archiver.http.headers import ResponseHead
from archiver.model.failure import Failure, FailureKind

PORT = 7777
NAMED_PORT = 7778
"""Where a canary is that is led to by name alone."""
OUT = "out"
"""The interface that leads to all other addresses, as far as the next neighbour, who is nobody."""
_EVERYTHING, _IPV6 = 0x0003, 0x86DD
SECONDS = 3.5
"""How long what must not come is waited for: nothing tells that it will not."""
PATIENCE_SECONDS = 60
"""How long what must come is waited for, where the machine is busy."""
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
"""What comes to the gate; icons, speculation and WebRTC do not even try."""
LEFT_OUT = {
    "nothing": (),
    "bypass": ("<-loopback>",),
    "webrtc": ("--force-webrtc",),
    "ungated": (),
    "ungated proxy": ("proxy",),
    "ungated server": ("proxy-server",),
    "ungated bypass": ("proxy-bypass",),
    "ungated proxy names": ("proxy", "resolver"),
    "ungated proxy quic": ("proxy", "quic"),
}
"""Parts of the flags that are left out, by what that is called."""
REACHED = {
    "bypass": "tcp",
    "webrtc": "udp",
    "ungated proxy": "tcp",
    "ungated server": "tcp",
    "ungated bypass": "tcp",
    "ungated proxy names": "name",
    "ungated proxy quic": "udp",
}
"""The kind of canary that is reached without them."""
QUIC = f"127.0.0.1:{PORT}"
FORCE_QUIC = f"--origin-to-force-quic-on={QUIC}"
"""It is tried at once there, and not only where a host has offered it."""
UNGATED = (f"http://localhost:{NAMED_PORT}/", f"http://127.0.0.1:{PORT}/", f"https://{QUIC}/")


@dataclass(frozen=True)
class Made:
    head: ResponseHead
    content: bytes

    async def payload(self) -> AsyncIterator[bytes]:
        yield self.content


class Canaries(asyncio.DatagramProtocol):
    """Count who comes."""

    def __init__(self) -> None:
        self.reached: Counter[str] = Counter()
        self._more = asyncio.Event()

    def note(self, how: str) -> None:
        """Note that one was reached."""
        self.reached[how] += 1
        self._more.set()

    async def was_reached(self, how: str) -> None:
        """Wait until one of a kind was."""
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
        """Count what leaves for anywhere else: Chromium's own business, or a name's resolution.

        What is of IPv6 there is the kernel's own, which looks for neighbours.
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
"""The ways by which the gate was asked for each canary, and refused: that a page does try them."""


def way_of(url: str) -> str:
    """The way of a request, and whose it is beside the page."""
    parts = urlsplit(url)
    return f"{parts.path} {parts.query}".strip()


def note(url: str) -> None:
    """Note that it was tried."""
    TRIED.add(url)
    if {*map(way_of, TRIED)} >= WAYS:
        ALL_TRIED.set()


@asynccontextmanager
async def answer(asked) -> AsyncIterator[Made]:
    """Answer for the site, and refuse everything else."""
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
    """The flags but for those that are left out."""
    kept = (each for each in CONFINED if not any(part in each for part in LEFT_OUT[missing]))
    return (*kept, FORCE_QUIC)


async def trial(canaries: Canaries, missing: str) -> None:
    """Wait for what must come of what is tried, and as long as for what must not."""
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
    """Show the site behind a gate, for as long as is tried."""
    listening, port = await browser.gate_socket()
    gate = asyncio.create_task(Gate(listening, tls, Beyond(answer, refuse)).serve())
    async with open_page(
        browser, port, bypass="" if missing == "bypass" else "<-loopback>"
    ) as page:
        error = await page.show(f"{SITE}/")
        while "NETWORK_CHANGED" in error:
            error = await page.show(f"{SITE}/")
        await trying
    gate.cancel()
    await asyncio.wait([gate])
    return error


async def show_ungated(browser: Browser, trying: Coroutine[None, None, None]) -> str:
    """Lead pages that have no context of their own to canaries, for as long as is tried."""
    for url in UNGATED:
        await browser.connection.ask("Target.createTarget", url=url)
    await trying
    return ""


if __name__ == "__main__":
    # What address the kernel gives an interface by itself comes seconds later, and a browser gives
    # up all that it asks for when addresses change.
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
