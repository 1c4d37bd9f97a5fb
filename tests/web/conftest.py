"""A real server with test handlers, for tests of the middleware."""

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from types import SimpleNamespace

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer

from archiver.app import App, open_app
from archiver.config import Settings
from archiver.http.urls import hash_url
from archiver.services.access import AccessControl
from archiver.web.app import build_app
from archiver.web.app_keys import LIMITS
from archiver.web.client_limits import ServerLimits
from archiver.web.server import BoundedRunner
from tests.conftest import filled_by, saved_url
from tests.prepared_archives import create_empty

Serve = Callable[..., Awaitable[TestClient]]
Raw = Callable[..., Awaitable[tuple[int, str]]]


class BoundedTestServer(TestServer):
    """The server of the service."""

    async def _make_runner(self, **_: object) -> BoundedRunner:
        return BoundedRunner(self.app, self.app[LIMITS])


@pytest.fixture
async def serve(tmp_path) -> AsyncIterator[Serve]:
    """Serve routes with all of the middleware; ``services`` replaces the runtime."""
    clients = []

    async def start(
        *routes: web.RouteDef,
        services: dict[str, object] | None = None,
        limits: ServerLimits | None = None,
        **settings: object,
    ) -> TestClient:
        settings = Settings(data=tmp_path / "data", **settings)
        access = AccessControl(settings.data, settings.password)
        runtime = SimpleNamespace(settings=settings, access=access, **(services or {}))
        app = build_app(runtime, routes=routes, limits=limits)
        server = BoundedTestServer(app, skip_url_asserts=True)
        client = TestClient(server)
        await client.start_server()
        clients.append(client)
        return client

    yield start
    for client in clients:
        await client.close()


@pytest.fixture
async def settings(request, prepared, tmp_path) -> Settings:
    """Settings of this test's archive, which the function ``fill`` of the module fills."""
    if fill := getattr(request.module, "fill", None):
        await prepared.copy(fill, tmp_path / "data")
    return Settings(data=tmp_path / "data", allow_networks="127.0.0.0/8", host_delay=0, retries=0)


@pytest.fixture
async def runtime(settings, prepared) -> AsyncIterator[App]:
    """This test's archive, open."""
    if not settings.data.exists():
        await prepared.copy(create_empty, settings.data)
    async with open_app(settings) as runtime:
        yield runtime


@asynccontextmanager
async def client_of(runtime: App, **options: object) -> AsyncIterator[TestClient]:
    """Serve an archive; ``options`` are arguments of ``build_app``."""
    server = TestServer(build_app(runtime, **options), skip_url_asserts=True)
    async with TestClient(server) as client:
        yield client


@pytest.fixture
async def client(runtime) -> AsyncIterator[TestClient]:
    """The service over this test's archive."""
    async with client_of(runtime) as client:
        yield client


@dataclass(frozen=True)
class SavedArchive:
    """An archive of two pages, ``/foxes`` and ``/bears``, whose live site is gone."""

    settings: Settings

    def url(self, path: str) -> str:
        return saved_url(self.settings, path)


@filled_by
async def save_foxes_and_bears(runtime, live):
    urls = [live.article(name) for name in ("foxes", "bears")]
    await runtime.entries.save(urls, tags=("Old",), source="web")
    await runtime.crawling.work()


@pytest.fixture
async def saved_archive(prepared, tmp_path) -> SavedArchive:
    await prepared.copy(save_foxes_and_bears, tmp_path / "data")
    return SavedArchive(Settings(data=tmp_path / "data"))


@pytest.fixture
def foxes(saved_archive) -> str:
    """The hash_url of a page of the saved archive."""
    return hash_url(saved_archive.url("/foxes"))


async def page_of(client: TestClient, path: str) -> str:
    """Return the text of a page."""
    return await (await client.get(path)).text()


@pytest.fixture
def eventually() -> Callable[[Callable[[], object]], Awaitable[None]]:
    """Wait for a condition that gives no event (a file, a counter of the server)."""

    async def wait(condition: Callable[[], object]) -> None:
        while not condition():  # noqa: ASYNC110 - nothing to wait on; the suite's time limit bounds it
            await asyncio.sleep(0.001)

    return wait


@pytest.fixture
def raw() -> Raw:
    """Send a raw request line; return status and the whole response."""
    return _raw


async def _raw(
    client: TestClient, target: str, *lines: str, method: str = "GET"
) -> tuple[int, str]:
    reader, writer = await asyncio.open_connection("127.0.0.1", client.port)
    head: Sequence[str] = lines or ("Host: localhost",)
    text = "\r\n".join((f"{method} {target} HTTP/1.1", *head, "Connection: close", "", ""))
    writer.write(text.encode("latin-1"))
    response = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    length = re.search(r"Content-Length: ([0-9]+)", response)
    body = await (reader.readexactly(int(length[1])) if length else reader.read())
    response += body.decode("latin-1")
    writer.close()
    return int(response.split(" ", 2)[1]), response
