"""Any request to any route gets a usable response, and the service keeps running."""

import asyncio
import contextlib
import gzip
import json
import logging
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from aiohttp.test_utils import TestClient
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from archiver.app import open_app
from archiver.config import Settings
from archiver.web.app import build_app
from archiver.web.client_limits import ServerLimits
from tests.prepared_archives import Prepared
from tests.web.conftest import BoundedTestServer
from tests.web.random_requests import (
    ELSEWHERE,
    HEADERS,
    NEXT,
    QUERIES,
    SHAPES,
    Body,
    asked,
    bodies,
    keep_one_page,
)

# # aiohttp warns about input that it ignores.
pytestmark = [
    pytest.mark.filterwarnings(f"ignore::aiohttp.BadContentDisposition{what}")
    for what in ("Header", "Param")
]
MANY = settings(
    max_examples=50,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
PATIENCE = 30
"""Seconds after which a missing response counts as a hang; the service has shorter limits here."""
LIMITS = ServerLimits(head_seconds=10, body_seconds=10, upload_seconds=10)
ALWAYS = ("X-Content-Type-Options", "Content-Security-Policy", "Referrer-Policy", "X-Robots-Tag")
DOCUMENTED = {502, 503}
PLAIN = ("/healthz", "/metrics", "/static/", "/cdx", "/web/cdx")


@dataclass(frozen=True)
class Heard:
    status: int
    head: str
    body: bytes

    @property
    def content(self) -> bytes:
        coding = self.header("Content-Encoding")
        return {"gzip": gzip.decompress, "": bytes}[coding](self.body)

    def header(self, name: str) -> str:
        match = re.search(rf"(?im)^{name}:[ \t]*(.*?)\r?$", self.head)
        return match[1] if match else ""


async def started(prepared: Prepared, data: Path, **more: object) -> AsyncIterator[TestClient]:
    await prepared.copy(keep_one_page, data)
    async with open_app(Settings(data=data, **more)) as runtime:
        server = BoundedTestServer(build_app(runtime, limits=LIMITS), skip_url_asserts=True)
        async with TestClient(server) as client:
            yield client


@pytest.fixture
async def client(prepared, tmp_path) -> AsyncIterator[TestClient]:
    async for each in started(prepared, tmp_path / "data"):
        yield each


async def send(client: TestClient, raw: bytes, *, half_close: bool = False) -> list[Heard]:
    """Return all responses on a connection; none if it was closed."""
    async with asyncio.timeout(PATIENCE):
        reader, writer = await asyncio.open_connection("127.0.0.1", client.port)
        with contextlib.suppress(ConnectionError):
            writer.write(raw)
            if half_close:
                writer.write_eof()
        heard = await read_all(reader)
        writer.close()
    return answers(heard)


async def read_all(reader: asyncio.StreamReader) -> bytes:
    heard = b""
    with contextlib.suppress(ConnectionError):
        while piece := await reader.read(1 << 16):
            heard += piece
            if b"text/event-stream" in heard:
                break
    return heard


def answers(heard: bytes) -> list[Heard]:
    results = []
    while heard:
        head, _, tail = heard.partition(b"\r\n\r\n")
        text = head.decode("latin-1")
        assert text.startswith(("HTTP/1.1 ", "HTTP/1.0 ")), heard[:200]
        one = Heard(int(text.split(" ", 2)[1]), text, b"")
        length = one.header("Content-Length")
        if one.status == 100:
            heard = tail
            continue
        size = min(int(length), len(tail)) if length else len(tail)
        if tail.startswith(b"HTTP/1."):  # response to HEAD
            size = 0
        results.append(Heard(one.status, text, tail[:size]))
        heard = tail[size:]
    return results


def check(heard: Heard, method: str, target: str) -> None:
    assert heard.status < 500 or heard.status in DOCUMENTED, heard
    for name in ALWAYS:
        assert heard.header(name), (name, heard.head)
    assert heard.header("X-Content-Type-Options") == "nosniff"
    assert heard.header("Server") == "archiver"
    if heard.status >= 400 and method != "HEAD":
        # # The target of CONNECT is not a path (RFC 9110 §9.3.6).
        check_error(heard, "" if method == "CONNECT" else target)


def check_error(heard: Heard, target: str) -> None:
    kind = heard.header("Content-Type").partition(";")[0]
    if heard.body.startswith(b"The request is invalid"):
        assert (heard.status, kind) == (400, "text/plain")
        return
    if heard.status == 417:  # an unknown expectation at an unknown address
        return
    if target.startswith("/api/"):
        (error,) = json.loads(heard.content).values()
        assert sorted(error) == ["code", "message"]
        assert error["message"]
        assert kind == "application/json"
    elif target.startswith(PLAIN):
        assert kind in ("text/plain", "application/json", "text/html"), heard
    elif heard.header("Memento-Datetime") or re.match(r"/web/.*\d(im|cs|js)_/", target):
        pass  # nothing to check
    else:
        assert kind == "text/html", heard
        assert b"<h1" in heard.content, heard


async def check_health(client: TestClient) -> None:
    (heard,) = await send(
        client, b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    )
    assert (heard.status, heard.body.decode()) == (200, "ok\n")


def request(method: str, target: str, headers: list[tuple[str, str]], body: Body) -> bytes:
    names = {name.lower() for name, _ in headers}
    lines = [f"{method} {target} HTTP/1.1"]
    lines += [] if "host" in names else ["Host: localhost"]
    lines += [f"{name}: {value}" for name, value in headers]
    lines += [*body.head(), "Connection: close"]
    return "\r\n".join([*lines, "", ""]).encode("utf-8", "surrogatepass") + body.wire()


SAFE = ("GET", "HEAD")


async def exchange(client: TestClient, data: st.DataObject, *more: tuple[str, str]):
    """Send one random request, and check the response; return whether there is one.

    Half a request followed by the end of the connection counts as answered.
    """
    method, target = data.draw(asked())
    query, headers = data.draw(QUERIES), [*data.draw(HEADERS), *more]
    has_body = method not in SAFE or data.draw(st.integers(0, 9)) == 0
    body = data.draw(bodies(target)) if has_body else Body()
    raw = request(method, f"{target}?{query}" if query else target, headers, body)

    heard = await send(client, raw, half_close=body.extra_length > 0)

    for each in heard:
        check(each, method, target)
    await check_health(client)
    return bool(heard) or body.extra_length > 0


@MANY
@given(data=st.data())
async def test_any_raw_request_gets_a_response(client, data):
    assert await exchange(client, data)


async def test_no_request_can_smuggle_another(client, caplog):
    """If programs may disagree on the end of a request, nothing after it is processed."""
    for shape, raw in SHAPES.items():
        heard = await send(client, raw + NEXT)

        assert [each.status for each in heard] == [400], (shape, heard)
        check(heard[0], "POST", "")
    assert [each for each in caplog.records if each.levelno >= logging.WARNING] == []
    await check_health(client)


async def test_a_request_for_an_unknown_path_keeps_the_connection(client):
    heard = await send(client, ELSEWHERE + NEXT)

    assert [each.status for each in heard] == [400, 200]
