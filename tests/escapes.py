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
import ssl
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from archiver.browser.finding import find_browser
from archiver.browser.flags import CONFINED
from archiver.browser.page import open_page
from archiver.browser.process import Browser, Launch
from archiver.config import Settings
from archiver.errors import FetchError
from archiver.model.failure import Failure, FailureKind
from archiver.net.gate import Beyond, Gate
from archiver.net.gate_key import make_gate_key
from archiver.wire.head import ResponseHead

PORT = 7777
NAMED_PORT = 7778
"""Where a canary is that is led to by name alone."""
SECONDS = 3.5
"""How long what a page tries is waited for: nothing tells that it will not come."""
V4 = ("127.0.0.1", "127.0.0.53", "10.9.8.7", "192.168.7.7", "169.254.169.254", "203.0.113.5")
V6 = ("::1", "fd00::7")
SITE = "https://site.test"
TARGETS = [f"http://{each}:{PORT}" for each in (*V4, "localhost")]
TARGETS += [f"http://[{each}]:{PORT}" for each in V6] + [f"https://10.9.8.7:{PORT}"]
TRY = """
const tried = [];
for (const each of TARGETS) {
  fetch(each + '/fetch', {mode: 'no-cors'}).catch(() => 0);
  fetch(each + '/alive', {mode: 'no-cors', keepalive: true, method: 'POST', body: 'x'})
    .catch(() => 0);
  try { new WebSocket(each.replace('http', 'ws') + '/socket'); } catch {}
  try { new EventSource(each + '/events'); } catch {}
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
    + ";"
    + TRY
    + """
for (const each of TARGETS) navigator.sendBeacon(each + '/beacon', 'x');
new Worker('/worker.js');
try { new SharedWorker('/worker.js'); } catch {}
navigator.serviceWorker.register('/worker.js').catch(() => 0);
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
    "/worker.js": ("text/javascript", f"const TARGETS = {json.dumps(TARGETS)};{TRY}"),
}


LEFT_OUT = {
    "nothing": (),
    "bypass": ("<-loopback>",),
    "webrtc": ("webrtc",),
    "ungated": (),
    "ungated proxy": ("proxy",),
    "ungated proxy names": ("proxy", "resolver"),
    "ungated proxy quic": ("proxy", "quic"),
}
"""Parts of the flags that are left out, by what that is called."""
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

    async def listen(self) -> None:
        loop = asyncio.get_running_loop()
        for each in (*V4, *V6):
            await asyncio.start_server(partial(self._come, "tcp"), each, PORT)
            await asyncio.start_server(partial(self._come, "name"), each, NAMED_PORT)
            await loop.create_datagram_endpoint(lambda: self, (each, PORT))

    def datagram_received(self, *_: object) -> None:
        self.reached["udp"] += 1

    async def _come(self, how: str, _: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reached[how] += 1
        writer.close()


@asynccontextmanager
async def answer(asked) -> AsyncIterator[Made]:
    """Answer for the site, and refuse everything else."""
    path = asked.url.removeprefix(SITE)
    if path not in FILES:
        raise FetchError(Failure(FailureKind.BLOCKED_ADDRESS, "No."))
    kind, text = FILES[path]
    yield Made(ResponseHead("HTTP/1.1", 200, "OK", (("content-type", kind),)), text.encode())


async def refuse(*_: object):
    raise FetchError(Failure(FailureKind.BLOCKED_ADDRESS, "No."))


async def main(missing: str) -> None:
    canaries, key = Canaries(), make_gate_key()
    await canaries.listen()
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
        if is_ungated:
            error = await show_ungated(browser)
        else:
            error = await show_site(browser, key.tls, bypass=missing == "bypass")
        await browser.close()
    sys.stdout.write(json.dumps({"error": error, **+canaries.reached}))


def confinement(missing: str) -> tuple[str, ...]:
    """The flags but for those that are left out."""
    kept = (each for each in CONFINED if not any(part in each for part in LEFT_OUT[missing]))
    return (*kept, FORCE_QUIC)


async def show_site(browser: Browser, tls: ssl.SSLContext, *, bypass: bool) -> str:
    """Show the site behind a gate, for some seconds."""
    listening, port = await browser.gate_socket()
    gate = asyncio.create_task(Gate(listening, tls, Beyond(answer, refuse)).serve())
    async with open_page(browser, port, bypass="" if bypass else "<-loopback>") as page:
        error = await page.show(f"{SITE}/")
        while "NETWORK_CHANGED" in error:
            error = await page.show(f"{SITE}/")
        await asyncio.sleep(SECONDS)
    gate.cancel()
    await asyncio.wait([gate])
    return error


async def show_ungated(browser: Browser) -> str:
    """Lead pages that have no context of their own to canaries."""
    for url in UNGATED:
        await browser.connection.ask("Target.createTarget", url=url)
    await asyncio.sleep(SECONDS)
    return ""


if __name__ == "__main__":
    for words in (
        "link set lo up",
        "link add out type veth peer name far",
        "address add 198.51.100.1/24 dev out",
        "link set out up",
        "link set far up",
        "route add default via 198.51.100.2 dev out",
        *(f"address add {each} dev lo" for each in (*V4[1:], *V6[1:])),
    ):
        subprocess.run(["ip", *words.split()], check=True)
    asyncio.run(main(sys.argv[1]))
