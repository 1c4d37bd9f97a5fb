"""Connections are pooled, paused and closed correctly."""

import asyncio
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest

from archiver.errors import FetchError
from archiver.http import connections
from archiver.http.connections import MAX_BUFFERED, HttpConnection
from archiver.http.fetcher import Fetcher
from archiver.http.requests import OutgoingRequest
from archiver.model.failure import FailureKind
from tests.http.test_fetcher import read_request, settings
from tests.raw_server import raw_connections

OPEN = Path("/proc/self/fd")
SHORT = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"


async def test_a_pooled_connection_that_was_closed_is_reopened():
    async def serve(reader, writer, number):
        await read_request(reader)
        writer.write(SHORT)
        if number == 1:  # accepts the next request, and closes without a response
            await read_request(reader)
        else:
            await reader.read()

    class Slot:
        async def due(self):
            happened.append("waited")

        @asynccontextmanager
        async def sending(self):
            yield
            happened.append("sent")

    happened = []

    async with raw_connections(serve) as (url, counted), Fetcher(settings()) as fetcher:
        for _ in range(2):
            (await fetcher.fetch(OutgoingRequest(url), Slot())).body.close()

    assert len(counted) == 2
    assert happened == ["sent", "sent", "waited", "sent"]  # each request that was sent is counted


async def test_a_request_counts_as_sent_once_the_kernel_has_all_of_it():
    async def serve(reader, writer, _number):
        await read_request(reader)
        sizes.append("head")
        await reader.readexactly(len(content))
        sizes.append("all")
        writer.write(SHORT)

    class Slot:
        @asynccontextmanager
        async def sending(self):
            yield
            sizes.append("sent")

    sizes, content = [], bytes(16 << 20)
    async with raw_connections(serve) as (url, _), Fetcher(settings()) as fetcher:
        request = OutgoingRequest(url, method="POST", body=content)
        (await fetcher.fetch(request, Slot())).body.close()

    assert sizes[0] == "head"


async def test_unsafe_requests_are_not_repeated():
    async def serve(reader, _writer, _number):
        await read_request(reader)

    async with raw_connections(serve) as (url, counted), Fetcher(settings()) as fetcher:
        for method in ("POST", "GET"):
            with pytest.raises(FetchError) as raised:
                await fetcher.fetch(OutgoingRequest(url, method=method))
            assert raised.value.failure.kind is FailureKind.DISCONNECTED

    assert len(counted) == 1 + 2


class Wire(asyncio.Transport):
    """Transport that discards all data."""

    def __init__(self):
        super().__init__()
        self.is_held_up = self.is_closed = False

    def write(self, data):
        pass

    def pause_reading(self):
        self.is_held_up = True

    def resume_reading(self):
        self.is_held_up = False

    def close(self):
        self.is_closed = True

    def is_closing(self):
        return self.is_closed

    def get_write_buffer_size(self):
        return 0


@pytest.mark.parametrize("is_taken", [True, False])
async def test_a_slow_reader_pauses_the_server_without_a_timeout(is_taken):
    loop, later = asyncio.get_running_loop(), asyncio.Event()
    wire, line = Wire(), HttpConnection(asyncio.get_running_loop())
    line.connection_made(wire)
    line.send(b"GET", is_bodiless=False, timeout=0.01)
    line.data_received(b"HTTP/1.1 200 OK\r\n\r\n" + bytes(MAX_BUFFERED))

    held_up = wire.is_held_up
    if is_taken:
        assert await line.piece() == bytes(MAX_BUFFERED)
    loop.call_later(0.05, later.set)
    await later.wait()

    assert held_up
    assert (wire.is_held_up, wire.is_closed) == (not is_taken, is_taken)
    line.connection_lost(None)


async def test_unexpected_data_closes_a_connection():
    ended = asyncio.Event()

    async def serve(reader, writer, number):
        await read_request(reader)
        writer.write(SHORT)
        if number == 1:
            await writer.drain()
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nfalse")
        await reader.read()
        ended.set()

    async with raw_connections(serve) as (url, counted), Fetcher(settings()) as fetcher:
        (await fetcher.fetch(OutgoingRequest(url))).body.close()
        await ended.wait()
        exchange = await fetcher.fetch(OutgoingRequest(url))

    with exchange.body as body:
        assert body.read() == b"hi"
    assert len(counted) == 2


async def test_an_abandoned_response_closes_its_connection():
    async def serve(reader, writer, _number):
        await read_request(reader)
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf")
        await reader.read()

    async with raw_connections(serve) as (url, counted), Fetcher(settings()) as fetcher:
        async with fetcher.open(OutgoingRequest(url)) as answer:
            assert answer.head.status == 200
        async with fetcher.open(OutgoingRequest(url)) as answer:
            assert answer.head.status == 200

    assert len(counted) == 2


async def test_a_connection_is_not_reused_after_request_content():
    """The server responds before it reads the content, and would read that as a request."""

    async def serve(reader, writer, number):
        await read_request(reader)
        writer.write(SHORT)
        await reader.read()

    async with raw_connections(serve) as (url, counted), Fetcher(settings()) as fetcher:
        for requests in (
            OutgoingRequest(url, "POST", body=b"GET /evil HTTP/1.1\r\n\r\n"),
            OutgoingRequest(url),
        ):
            (await fetcher.fetch(requests)).body.close()

    assert len(counted) == 2


def open_files():
    return sum(1 for _ in OPEN.iterdir())


async def test_connections_to_a_server_that_never_reads_are_closed():
    never = asyncio.Event()

    async def serve(reader, _writer, _number):
        reader._transport.pause_reading()
        await never.wait()

    async with raw_connections(serve) as (url, _), Fetcher(settings(read_timeout=0.2)) as fetcher:
        before = open_files()
        with pytest.raises(FetchError) as raised:
            await fetcher.fetch(OutgoingRequest(url, "POST", body=bytes(16 << 20)))
        never.set()
        remaining = open_files()

    assert raised.value.failure.kind is FailureKind.TIMEOUT
    assert remaining <= before + 1  # the server's own end


async def test_aiohttp_creates_our_connections(monkeypatch):
    """After an update of aiohttp that breaks this, adapt ``use_http_connections``.

    Find what ``TCPConnector`` now calls to create the protocol of a connection; if there is a
    public way to set it, use that.
    """
    created = []

    class Noted(HttpConnection):
        def __init__(self, *arguments, **options):
            super().__init__(*arguments, **options)
            created.append(self)

    monkeypatch.setattr(connections, "HttpConnection", Noted)
    async with await asyncio.start_server(
        lambda _, writer: writer.close(), "127.0.0.1", 0
    ) as server:
        connector = aiohttp.TCPConnector()
        connections.use_http_connections(connector)
        async with aiohttp.ClientSession(connector=connector) as session:
            with pytest.raises(aiohttp.ClientError):
                await session.get(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/")

    assert created
