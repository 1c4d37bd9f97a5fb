"""The gate of a rendered page checks addresses when it connects, for requests and WebSockets."""

import asyncio
import base64
import os
import socket
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from functools import partial

import pytest
from aiohttp import web
from aiohttp.abc import AbstractResolver

from archiver.browser.request_gate import REFUSAL, Gate, GateHandlers, connect, make_gate_key
from archiver.crawl import browser_requests
from archiver.crawl.browser_requests import Traffic
from archiver.crawl.rendering_policy import BrowserServices
from archiver.errors import FetchError
from archiver.http.fetcher import Fetcher
from archiver.model.failure import FailureKind

PRIVATE = "10.9.8.7"


class Rebinding(AbstractResolver):
    """Resolver that returns one address a number of times, and then another."""

    def __init__(self) -> None:
        self.means = ["127.0.0.1"]

    async def resolve(self, host: str, port: int = 0, family: int = socket.AF_INET):
        assert family in (socket.AF_INET, socket.AF_UNSPEC)
        address = self.means[0] if len(self.means) == 1 else self.means.pop(0)
        return [
            {
                "hostname": host,
                "host": address,
                "port": port,
                "family": socket.AF_INET,
                "proto": 0,
                "flags": 0,
            }
        ]

    async def close(self) -> None:
        pass


@dataclass
class GateClient:
    """A gate as the browser of a page uses it."""

    port: int
    traffic: Traffic
    names: Rebinding
    _open: list[asyncio.StreamWriter] = field(default_factory=list)

    async def get(self, url: str) -> bytes:
        """Return the response on a new connection, or b"" if the connection is closed."""
        return await self.ask(url, *await self.opened())

    async def ask(
        self, url: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bytes:
        writer.write(f"GET {url} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        try:
            return await reader.readuntil(b"0\r\n\r\n")
        except (ConnectionError, asyncio.IncompleteReadError) as error:
            return getattr(error, "partial", b"")

    async def socket(self, authority: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Open a tunnel to a host, and request a WebSocket through it."""
        reader, writer = await self.opened()
        writer.write(f"CONNECT {authority} HTTP/1.1\r\nHost: {authority}\r\n\r\n".encode())
        assert b"200" in await reader.readuntil(b"\r\n\r\n")
        key = base64.b64encode(os.urandom(16)).decode()
        writer.write(
            f"GET /socket HTTP/1.1\r\nHost: {authority}\r\nUpgrade: websocket\r\n"
            f"Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n"
            "\r\n".encode()
        )
        return reader, writer

    async def opened(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        self._open.append(writer)
        return reader, writer

    def close(self) -> None:
        for each in self._open:
            each.transport.abort()


@pytest.fixture
async def gate_client(crawl) -> AsyncIterator[GateClient]:
    context, names, key = crawl.context, Rebinding(), make_gate_key()
    async with Fetcher(context.settings, names) as fetcher, crawl.recording():
        means = BrowserServices(context.settings, fetcher, context.throttle, context.recorder)
        traffic = Traffic(means, None, frozenset())
        listening = socket.create_server(("127.0.0.1", 0))
        port = listening.getsockname()[1]
        handlers = GateHandlers(traffic.respond, partial(connect, fetcher))
        serving = asyncio.create_task(Gate(listening, key.tls, handlers).serve())
        client = GateClient(port, traffic, names)
        yield client
        client.close()
        serving.cancel()
        await asyncio.wait([serving])


def named(live, path: str) -> str:
    return f"http://site.test:{live.origin.rpartition(':')[2]}{path}"


async def test_a_redirect_to_a_private_address_is_refused(gate_client, live):
    leads = live.put("/leads", status=302, headers={"Location": f"http://{PRIVATE}/"})

    assert b"302" in (await gate_client.get(leads)).splitlines()[0]

    assert await gate_client.get(f"http://{PRIVATE}/") == REFUSAL
    assert {*gate_client.traffic.loaded} == {leads}
    assert {*gate_client.traffic.failures} == {f"http://{PRIVATE}/"}


async def test_dns_rebinding_to_a_private_address_is_refused(gate_client, live):
    live.put("/page", "Hello.")
    gate_client.names.means = ["127.0.0.1", PRIVATE]

    first = await gate_client.get(named(live, "/page"))
    reader, _ = await gate_client.socket(named(live, "").partition("//")[2])
    other = await gate_client.get("http://other.test/")

    assert b"Hello." in first
    assert await reader.read() == b""
    assert other == REFUSAL


async def test_the_total_size_of_a_page_is_limited(gate_client, live, monkeypatch):
    monkeypatch.setattr(browser_requests, "MAX_BYTES", 1000)
    urls = [live.put(f"/{name}", "a" * 600) for name in ("first", "second", "third")]

    answers = [await gate_client.get(url) for url in urls]

    assert b"a" * 600 in answers[0]
    assert b"a" * 600 not in b"".join(answers[1:])
    assert {*gate_client.traffic.loaded} == {urls[0]}
    kinds = {gate_client.traffic.failures[url].kind for url in urls[1:]}
    assert kinds == {FailureKind.TOO_LARGE}


async def test_a_websocket_is_forwarded_and_not_archived(gate_client, live):
    async def echo(request: web.Request) -> web.StreamResponse:
        answer = web.WebSocketResponse(timeout=0.1)
        await answer.prepare(request)
        await answer.send_str("echo " + await answer.receive_str())
        return answer

    live.add_handler("/socket", echo)
    reader, writer = await gate_client.socket(live.origin.partition("//")[2])

    head = await reader.readuntil(b"\r\n\r\n")
    writer.write(masked(b"hello"))
    message = await reader.readexactly(2 + len(b"echo hello"))

    assert b"101 Switching Protocols" in head
    assert message[2:] == b"echo hello"
    assert gate_client.traffic.loaded == {}


@pytest.mark.parametrize(
    "authority", [f"{PRIVATE}:80", "169.254.169.254:80", "[::1]:80", "site.test:80"]
)
async def test_a_websocket_to_a_private_address_is_refused(gate_client, authority):
    gate_client.names.means = [PRIVATE]

    reader, _ = await gate_client.socket(authority)

    assert await reader.read() == b""


async def test_an_untrusted_certificate_of_a_websocket_is_refused(crawl):
    server = await asyncio.start_server(lambda *_: None, "127.0.0.1", 0, ssl=make_gate_key().tls)
    async with server:
        port = server.sockets[0].getsockname()[1]
        with pytest.raises(FetchError, match="certificate"):
            await connect(crawl.context.fetcher, "127.0.0.1", port, is_tls=True)


def masked(text: bytes) -> bytes:
    """Return a client text frame (RFC 6455 §5.2), masked with zeros."""
    return bytes([0x81, 0x80 | len(text)]) + bytes(4) + text
