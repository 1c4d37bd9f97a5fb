"""Exchanges contain the exact bytes of the wire; failures have a reason."""

import asyncio
import time
from contextlib import asynccontextmanager
from pathlib import Path
from threading import Event

import pytest

from archiver.config import Settings
from archiver.errors import FetchError
from archiver.helpers import scratch_file
from archiver.http import responses
from archiver.http.fetcher import Fetcher
from archiver.http.requests import OutgoingRequest
from archiver.http.responses import SPOOL_BYTES, BodySink
from archiver.http.site_rules import SiteRules
from archiver.model.failure import FailureKind
from tests.raw_server import raw_connections

LARGE = bytes(range(256)) * 12_000
ANSWERS = {
    "/length": b"HTTP/1.1 200 OK\r\nX-oDD:   yes\r\nContent-Length: 5\r\n\r\nhello",
    "/chunked": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    b"5;ext=1\r\nhello\r\n3\r\nabc\r\n0\r\nTrailer: x\r\n\r\n",
    "/nothing": b"HTTP/1.1 204 No Content\r\nA: b\r\n\r\n",
    "/large": b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(LARGE) + LARGE,
    "/next-line": b"HTTP/1.1 200 OK\r\nA: \x85b\r\n \r\nContent-Length: 2\r\n\r\nhi",
    "/until-end": b"HTTP/1.0 200 OK\r\nA: b\r\n\r\nall of it",
}
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
HINTS = b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"


@asynccontextmanager
async def raw_server(answers):
    """Run a server that answers paths with bytes; yield its port and the requests it received."""
    received = []

    async def serve(reader, writer, _number):
        while request := await read_request(reader):
            received.append(request)
            path = request.split()[1].decode()
            writer.write(answers[path])
            await writer.drain()
            if path in ("/until-end", "/short", "/junk"):
                break

    async with raw_connections(serve) as (origin, _):
        yield int(origin.rpartition(":")[2]), received


async def read_request(reader):
    try:
        return await reader.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, ConnectionError):
        return b""


def settings(**more):
    return Settings(allow_networks="127.0.0.0/8", **more)


async def failure(url, chosen):
    async with Fetcher(chosen) as fetcher:
        with pytest.raises(FetchError) as raised:
            await fetcher.fetch(OutgoingRequest(url))
    return raised.value.failure.kind


@pytest.mark.parametrize("path", ANSWERS)
async def test_responses_and_requests_are_recorded_byte_for_byte(path):
    async with raw_server(ANSWERS) as (port, received), Fetcher(settings()) as fetcher:
        exchange = await fetcher.fetch(OutgoingRequest(f"http://127.0.0.1:{port}{path}"))

        with exchange.body as body:
            assert exchange.head + body.read() == ANSWERS[path]
        assert exchange.request == received[-1]
        assert exchange.ip == "127.0.0.1"


async def test_a_request_is_sent_after_connecting_and_when_permitted():
    happened = asyncio.Queue()

    async def serve(reader, writer):
        await happened.put("connected")
        await read_request(reader)
        await happened.put("asked")
        writer.write(ANSWERS["/until-end"])
        writer.close()

    class Slot:
        @asynccontextmanager
        async def sending(self):
            events.append(await happened.get())
            events.append("may")
            yield

    events = []
    async with (
        await asyncio.start_server(serve, "127.0.0.1", 0) as server,
        Fetcher(settings()) as fetcher,
    ):
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
        (await fetcher.fetch(OutgoingRequest(url), Slot())).body.close()
    assert [*events, await happened.get()] == ["connected", "may", "asked"]


async def test_an_interim_response_is_not_part_of_the_final_one():
    answers = {"/hints": HINTS + ANSWERS["/length"]}
    async with raw_server(answers) as (port, _), Fetcher(settings()) as fetcher:
        exchange = await fetcher.fetch(OutgoingRequest(f"http://127.0.0.1:{port}/hints"))

        with exchange.body as body:
            assert exchange.head + body.read() == ANSWERS["/length"]


async def test_the_payload_digest_does_not_depend_on_chunking():
    chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
    answers = {"/a": ANSWERS["/length"], "/b": chunked}
    async with raw_server(answers) as (port, _), Fetcher(settings()) as fetcher:
        results = [
            await fetcher.fetch(OutgoingRequest(f"http://127.0.0.1:{port}{path}"))
            for path in answers
        ]

    for each in results:
        each.body.close()
    assert results[0].payload_digest == results[1].payload_digest
    assert [each.chunked for each in results] == [False, True]


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n", FailureKind.DISCONNECTED),
        (b"this is not http\r\n\r\n", FailureKind.PROTOCOL),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n" + b"x" * 5000, FailureKind.TOO_LARGE),
        (CHUNKED + b"1;%s\r\nx\r\n" % (b"e" * 900) * 9, FailureKind.TOO_LARGE),
        (CHUNKED + b"1;" + b"e" * (8 << 20), FailureKind.TOO_LARGE),
        (HINTS * 200_000, FailureKind.PROTOCOL),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nslow", FailureKind.TIMEOUT),
    ],
    ids=["short", "junk", "large", "framing", "extension", "hints", "slow"],
)
async def test_failures_have_a_reason(answer, kind):
    ends = kind is not FailureKind.TIMEOUT and len(answer) < 9000
    path = "/short" if ends else "/goes-on"
    chosen = settings(max_body_bytes=1000, read_timeout=0.2)
    async with raw_server({path: answer}) as (port, _):
        assert await failure(f"http://127.0.0.1:{port}{path}", chosen) is kind


async def test_a_closed_port_is_reported_as_refused():
    assert await failure("http://127.0.0.1:1/", settings()) is FailureKind.REFUSED


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]", "0.0.0.0"])
async def test_a_private_address_is_refused(host):
    assert (
        await failure(f"http://{host}:9/", Settings(allow_networks=()))
        is FailureKind.BLOCKED_ADDRESS
    )


def test_a_closed_fetcher_has_no_threads():
    async def come_and_go():
        async with Fetcher(Settings()):
            pass

    def threads():
        return len(list(Path("/proc/self/task").iterdir()))

    asyncio.run(come_and_go())
    before, patience = threads(), time.monotonic() + 10
    for _ in range(5):
        asyncio.run(come_and_go())
    while threads() > before and time.monotonic() < patience:
        pass  # leaving a context needs no wait

    assert threads() <= before


async def test_the_rule_of_a_site_sets_its_user_agent_or_forbids_requests(tmp_path):
    rules = tmp_path / "settings.toml"
    async with (
        raw_server(ANSWERS) as (port, received),
        Fetcher(settings(data=tmp_path)) as fetcher,
    ):
        for text in ("", "[sites.localhost]\nuser_agent = 'Mine/1'"):
            rules.write_text(text)
            fetcher.rules = SiteRules(tmp_path)
            for name in ("127.0.0.1", "localhost"):
                await fetcher.fetch(OutgoingRequest(f"http://{name}:{port}/nothing"))
        rules.write_text("[sites.localhost]\nnever_save = true")
        fetcher.rules = SiteRules(tmp_path)
        with pytest.raises(FetchError) as raised:
            await fetcher.fetch(OutgoingRequest(f"http://localhost:{port}/nothing"))

    assert raised.value.failure.kind is FailureKind.EXCLUDED
    assert [b"Mine/1" in each for each in received] == [False, False, False, True]


async def test_a_body_cancelled_while_it_is_written_to_disk_is_stored_once(monkeypatch):
    began, may_go_on = Event(), Event()

    def slow_file():
        began.set()
        may_go_on.wait()
        return scratch_file()

    monkeypatch.setattr(responses, "scratch_file", slow_file)
    sink, data = BodySink(), bytes(SPOOL_BYTES)
    taking = asyncio.create_task(sink.take(data, data))
    await asyncio.to_thread(began.wait)
    taking.cancel()
    asyncio.get_running_loop().call_soon(may_go_on.set)
    with pytest.raises(asyncio.CancelledError):
        await taking

    file, _ = await sink.finish()

    with file:
        assert len(file.read()) == SPOOL_BYTES
