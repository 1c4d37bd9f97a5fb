"""Shared fixtures, and a local web server whose content the tests define."""

import asyncio
import gc
import os
import re
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import wraps
from itertools import chain, groupby
from pathlib import Path
from typing import Any

import pytest
import uvloop
from aiohttp import web
from hypothesis import settings as hypothesis_settings
from jinja2 import FileSystemBytecodeCache

from archiver.app import App, open_app
from archiver.config import Settings
from archiver.model.export_kinds import BY_KEY
from archiver.services import lists
from archiver.services.export_selection import Report, Selected
from archiver.web.rendering import environment
from archiver.web.wording import wordings
from tests.children_in_threads import choose_children
from tests.crawler import Crawl, crawler
from tests.prepared_archives import Make, Prepared
from tests.shared_statements import share_compiled_statements
from tests.single_handler import serve_handler

hypothesis_settings.register_profile("untimed", deadline=None, max_examples=15)
hypothesis_settings.load_profile("untimed")


def pytest_xdist_auto_num_workers() -> int:
    """Use two processes per core, or three with PostgreSQL, if there is 1 GB of memory for each.

    Tests spend half of their time waiting for processes, browsers, clocks and servers.
    """
    cores = os.cpu_count() or 1
    gigabytes = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") >> 30
    return max(cores, min((3 if "ARCHIVER_TEST_SERVER" in os.environ else 2) * cores, gigabytes))


def pytest_configure(config: pytest.Config) -> None:
    """Share compiled SQL statements, templates, the Playwright driver and tests."""
    share_compiled_statements()
    lists.MAX_COUNT_SECONDS = None  # counts are complete, however busy the machine is
    for wording in wordings().values():
        environment(wording).bytecode_cache = FileSystemBytecodeCache(config.cache.mkdir("jinja"))
    os.environ.setdefault("NODE_COMPILE_CACHE", str(config.cache.mkdir("node")))
    if hasattr(config, "workerinput"):
        gc.disable()  # collected tests stay in memory
        if config.args == config.getini("testpaths"):
            config.args = _all_tests(config.workerinput)


def _all_tests(worker: dict[str, Any]) -> list[str]:
    """Return all folders of tests; each process begins with another folder.

    Each process imports all tests. Because each begins with another folder, it finds most of the
    others already compiled.
    """
    tests = Path(__file__).parent
    names = sorted(path.relative_to(tests).parts[0] for path in tests.rglob("test_*.py"))
    start = len(names) * int(worker["workerid"].removeprefix("gw")) // worker["workercount"]
    return [str(tests / name) for name in dict.fromkeys(names[start:] + names[:start])]


_WAITING = re.compile(r"tests/(test_|durability/|cluster/)|browser|journeys|interrupted")
"""Files that wait for processes, servers and browsers."""
_LONGEST = (
    "test_trusted_replay",
    "test_pages_in_browser",
    "test_capture_and_replay",
    "test_replay_in_browser",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Start with the longest files; then distribute files that wait between the others.

    The others use the processor while files wait. The last fifth of the run has only the others, so
    that no process waits alone at the end.
    """
    items.sort(key=lambda item: item.path)
    files = [[*tests] for _, tests in groupby(items, key=lambda item: item.path)]
    waiting, busy = [], []
    for file in files:
        (waiting if _WAITING.search(file[0].location[0]) else busy).append(file)
    place = {id(file): n / len(busy) for n, file in enumerate(busy)}
    place |= {id(file): 0.8 * n / len(waiting) for n, file in enumerate(waiting)}
    place |= {id(file): -1 for file in files if file[0].path.stem in _LONGEST}
    files.sort(key=lambda file: place[id(file)])
    items[:] = chain.from_iterable(files)


def pytest_asyncio_loop_factories(
    config: pytest.Config, item: pytest.Item
) -> dict[str, Callable[[], asyncio.AbstractEventLoop]]:
    """Run tests on the event loop of the program."""
    return {"uvloop": uvloop.new_event_loop}


def pytest_collection_finish() -> None:
    """Exclude collected objects, which live to the end, from garbage collection."""
    gc.freeze()
    gc.enable()
    gc.set_threshold(50_000, 20, 100)  # tests create few objects, which are short-lived


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Run child processes as threads, unless the test has the marker ``real_children``."""
    choose_children(item)


Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
SENTENCE = (
    "<p>This is what the page called {name} has to say for itself: that a page is kept by whoever "
    "reads it to its end, and that all the others, however clever, are lost in time.</p>"
)


class LiveWeb:
    """Local web server that sends defined pages, 404 for others, and counts requests."""

    def __init__(self) -> None:
        self.origin = ""
        self.requests: Counter[str] = Counter()
        self.handlers: dict[str, Handler] = {}
        self._changed = asyncio.Condition()
        self.closing = asyncio.Event()
        """Set at the end; handlers that never respond wait for it."""

    def url(self, path: str) -> str:
        return self.origin + path

    def put(
        self, path: str, body: str | bytes = "", *, kind: str = "text/html", **more: object
    ) -> str:
        """Add a page; return its URL."""
        content = {"text" if isinstance(body, str) else "body": body}

        async def respond(_: web.Request) -> web.Response:
            return web.Response(**content, content_type=kind, **more)

        return self.add_handler(path, respond)

    def article(self, name: str, *, head: str = "", body: str = "") -> str:
        """Add an article with this title at ``/name``; return its URL."""
        text = f"<article><h1>{name}</h1>{SENTENCE.format(name=name) * 6}</article>{body}"
        page = f"<!DOCTYPE html><title>{name}</title>{head}<body>{text}"
        return self.put(f"/{name}", page)

    def add_handler(self, path: str, handler: Handler) -> str:
        """Handle requests of a path; return its URL."""
        self.handlers[path] = handler
        return self.url(path)

    async def wait_for_request(self, path: str, times: int = 1) -> None:
        """Wait until a path was requested this often."""
        async with self._changed:
            await self._changed.wait_for(lambda: self.requests[path] >= times)

    async def wait_for_more(self, count: int) -> None:
        """Wait for a number of further requests of any path."""
        async with self._changed:
            target = self.requests.total() + count
            await self._changed.wait_for(lambda: self.requests.total() >= target)

    async def handle(self, request: web.Request) -> web.StreamResponse:
        async with self._changed:
            self.requests[request.path_qs] += 1
            self._changed.notify_all()
        handler = self.handlers.get(request.path_qs)
        if handler is None:
            raise web.HTTPNotFound
        return await handler(request)


@pytest.fixture(scope="session")
def shared_directory(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """Directory of all test processes of a run."""
    base = tmp_path_factory.getbasetemp()
    directory = (base if worker_id == "master" else base.parent) / "shared"
    directory.mkdir(exist_ok=True)
    return directory


@pytest.fixture(scope="session")
def prepared(shared_directory: Path) -> Prepared:
    """Archives that are created once and copied."""
    return Prepared(shared_directory)


@asynccontextmanager
async def live_web() -> AsyncIterator[LiveWeb]:
    """Run a local web server."""
    server = LiveWeb()
    async with serve_handler(server.handle) as server.origin:
        yield server
        server.closing.set()


def filled_by(fill: Callable[[App, LiveWeb], Awaitable[object]]) -> Make:
    """Return a function that creates an archive, which ``fill`` fills from a local web server.

    The server is stopped afterwards. Its origin is stored in the file ``origin`` of the archive.
    """

    @wraps(fill)
    async def make(data: Path) -> None:
        settings = Settings(data=data, allow_networks="127.0.0.0/8", host_delay=0, retries=0)
        async with live_web() as server, open_app(settings) as runtime:
            await fill(runtime, server)
            (data / "origin").write_text(server.origin)

    return make


async def exported(
    archive: App, key: str, selected: Selected, report: Report | None = None
) -> bytes:
    """Return an export in the format with this key."""
    kind = BY_KEY[key]
    pieces = await archive.exporting.begin(kind, selected, name=f"all.{kind.suffix}", report=report)
    return b"".join([piece async for piece in pieces])


def saved_url(settings: Settings, path: str) -> str:
    """Return the URL of a page in an archive that ``filled_by`` made."""
    return (settings.data / "origin").read_text() + path


@pytest.fixture
async def live() -> AsyncIterator[LiveWeb]:
    async with live_web() as server:
        yield server


@pytest.fixture
def start_crawl(tmp_path: Path) -> Callable[..., AbstractAsyncContextManager[Crawl]]:
    """Return a function that starts a crawling process on this test's archive."""

    @asynccontextmanager
    async def start(**more: object) -> AsyncIterator[Crawl]:
        async with crawler(tmp_path / "data", **more) as context:
            yield Crawl(context)

    return start


@pytest.fixture
async def crawl(
    start_crawl: Callable[..., AbstractAsyncContextManager[Crawl]],
) -> AsyncIterator[Crawl]:
    """A crawling process on this test's archive."""
    async with start_crawl() as started:
        yield started
