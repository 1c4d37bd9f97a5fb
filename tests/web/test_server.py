"""Clients that send nothing, too little or too slowly are disconnected."""

import asyncio
from contextlib import suppress

import pytest
from aiohttp import web

from archiver.web.client_limits import ServerLimits

HEAD = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n"
POST = b"POST /form HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n"
FORM = b"Content-Type: application/x-www-form-urlencoded\r\n\r\n"
QUICK = ServerLimits(head_seconds=0.2, body_seconds=0.2)
FEW = ServerLimits(connections=4)


async def hello(_: web.Request) -> web.Response:
    return web.Response(text="hello")


async def form(_: web.Request) -> web.Response:
    return web.Response()


async def until_gone(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse()
    await response.prepare(request)
    await response.write(b"begun")
    while request.transport is not None:  # noqa: ASYNC110 - aiohttp tells a handler of it so only
        await asyncio.sleep(0.01)
    return response


ROUTES = (
    web.get("/healthz", hello, name="healthz"),
    web.get("/stream", until_gone),
    web.get("/form", form),
    web.post("/form", form),
)


@pytest.fixture
def connect():
    """Open a connection and send some bytes on it."""
    writers = []

    async def start(client, sent=b""):
        reader, writer = await asyncio.open_connection("127.0.0.1", client.port)
        writers.append(writer)
        writer.write(sent)
        await writer.drain()
        return reader, writer

    yield start
    for each in writers:
        each.close()


async def rest_of(reader) -> bytes:
    """Return all bytes that arrive until the server closes the connection."""
    with suppress(ConnectionError):
        return await asyncio.wait_for(reader.read(), 30)
    return b""


async def status_of(reader) -> int:
    return int((await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 30)).split()[1])


async def test_a_connection_without_a_head_in_time_is_closed(serve, connect):
    client = await serve(*ROUTES, limits=QUICK)

    for sent in (b"", b"G", HEAD):
        reader, _ = await connect(client, sent)

        assert await rest_of(reader) == b"", sent


async def test_a_head_sent_byte_by_byte_times_out(serve, connect):
    client = await serve(*ROUTES, limits=QUICK)
    reader, writer = await connect(client, HEAD)

    async def dribble():
        while True:
            writer.write(b"x")
            await asyncio.sleep(0.01)

    dribbling = asyncio.create_task(dribble())

    assert await rest_of(reader) == b""
    dribbling.cancel()


async def test_an_idle_connection_is_closed(serve, connect):
    client = await serve(*ROUTES, limits=QUICK)
    reader, _ = await connect(client, HEAD + b"\r\n")

    assert (await rest_of(reader)).endswith(b"hello")


async def test_a_form_that_is_too_slow_is_408(serve, connect):
    client = await serve(*ROUTES, limits=QUICK)
    reader, writer = await connect(client, POST + FORM)

    async def dribble():
        while True:
            writer.write(b"x")
            await asyncio.sleep(0.01)

    dribbling = asyncio.create_task(dribble())

    assert await status_of(reader) == 408
    dribbling.cancel()


async def test_surplus_connections_are_closed_longest_waiting_first(serve, connect):
    client = await serve(*ROUTES, limits=FEW)
    half_open = [await connect(client, HEAD) for _ in range(30)]

    reader, writer = await connect(client, HEAD + b"\r\n")

    assert await status_of(reader) == 200
    for closed, _ in half_open[:-4]:
        assert await rest_of(closed) == b""
    writer.close()
    half_open[-1][1].write(b"\r\n")
    assert await status_of(half_open[-1][0]) == 200


async def test_a_head_with_too_many_fields_is_rejected(serve, connect):
    client = await serve(*ROUTES)
    for lines, status in ((90, 200), (101, 400), (5000, 400)):
        reader, _ = await connect(client, HEAD + b"A: b\r\n" * lines + b"\r\n")

        assert await status_of(reader) == status, lines


async def test_an_endless_head_is_rejected(serve, connect):
    client = await serve(*ROUTES)
    reader, writer = await connect(client, HEAD + b"A: ")
    with suppress(ConnectionError):
        for _ in range(1000):
            writer.write(b"a" * 10_000)
            await writer.drain()

    with suppress(ConnectionError, asyncio.IncompleteReadError):
        assert await status_of(reader) == 400
