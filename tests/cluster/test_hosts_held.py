"""Hosts are spared by all machines of an archive together, by the log of those hosts."""

import asyncio
import time
from contextlib import AsyncExitStack, asynccontextmanager
from itertools import pairwise

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from tests.cluster.commands import archiver, ran

DELAY, MOST = 3, 2
PAGES = 4
HOSTS = 3


class Host:
    """A host that writes down when it is asked, and how many requests it has at once."""

    def __init__(self) -> None:
        self.pages: list[float] = []
        self.busiest = self._now = 0
        self.busy = asyncio.Event()
        self.rests: list[float] = []
        self.foreign = ""

    async def answer(self, request: web.Request) -> web.Response:
        self._now += 1
        self.busiest = max(self.busiest, self._now)
        is_page = request.path.startswith("/page")
        if is_page:
            self.pages.append(time.monotonic())
        if len(self.pages) > 1:
            self.busy.set()
        try:
            await asyncio.sleep(0.2)
        finally:
            self._now -= 1
        if self.rests and is_page and len(self.pages) == 1:
            return web.Response(status=429, headers={"Retry-After": "3"})
        images = "".join(
            f"<img src='{self.foreign}/picture{request.path}-{n}.png'>" for n in range(4)
        )
        html = f"<title>{request.path}</title>{images if self.foreign else ''}"
        return web.Response(text=html if is_page else "no picture", content_type="text/html")

    @property
    def gaps(self) -> list[float]:
        return [after - before for before, after in pairwise(sorted(self.pages))]


@pytest.fixture
async def hosts():
    async with AsyncExitStack() as stack:
        found: dict[str, Host] = {}
        for _ in range(HOSTS):
            host, app = Host(), web.Application()
            app.router.add_get("/{path:.*}", host.answer)
            server = await stack.enter_async_context(TestServer(app))
            found[f"http://127.0.0.1:{server.port}"] = host
        yield found


@pytest.fixture
def machines(address, store, tmp_path):
    both = {
        "ARCHIVER_INDEX": address,
        "ARCHIVER_STORE": store.address,
        "ARCHIVER_WRITER_LEASE": "4",
        "ARCHIVER_RETRY_DELAY": "0",
    }
    spared = {"ARCHIVER_HOST_DELAY": str(DELAY), "ARCHIVER_HOST_CONCURRENCY": str(MOST)}
    return [both | spared | {"ARCHIVER_DATA": str(tmp_path / name)} for name in "abc"]


@asynccontextmanager
async def crawling(machines):
    async with AsyncExitStack() as stack:
        yield [await stack.enter_async_context(archiver("crawl", **each)) for each in machines]


async def queue(machine, hosts):
    urls = [f"{origin}/page-{n}" for origin in hosts for n in range(PAGES)]
    code, _ = await ran("import", "-", "--no-crawl", said="\n".join(urls), **machine)
    assert code == 0
    return urls


async def test_pages_keep_their_distance_and_number_while_holders_change_and_are_killed(
    hosts, machines
):
    origins = [*hosts]
    for host in hosts.values():
        host.foreign = origins[0]  # pictures of all pages lie at the first
    urls = await queue(machines[0], hosts)

    async with crawling(machines[:2]) as (first, second):
        await hosts[origins[1]].busy.wait()
        first.kill()
        await second.communicate()
    async with asyncio.timeout(600):
        listed = ""
        while not all(url in listed for url in urls):  # once the first is known to be dead
            await ran("crawl", **machines[1])
            _, listed = await ran("list", "--status", "saved", "--all", **machines[1])

    assert {origin: host.busiest <= MOST for origin, host in hosts.items()} == dict.fromkeys(
        hosts, True
    )
    # What holds when a request is sent holds when it comes in but for how busy the machine is.
    assert min(gap for host in hosts.values() for gap in host.gaps) > 0.9 * DELAY


async def test_what_a_host_asked_one_machine_is_known_to_the_others(hosts, machines):
    (origin, host), *others = hosts.items()
    host.rests.append(3)
    for _, other in others:
        other.foreign = origin
    await queue(machines[0], hosts)

    async with crawling(machines[:2]) as running:
        for each in running:
            await each.communicate()

    assert host.gaps[0] > 2.9
    assert len(host.pages) == PAGES + 1


async def test_more_machines_than_a_host_takes_requests_have_a_turn_in_common(hosts, machines):
    origins = [*hosts]
    for host in hosts.values():
        host.foreign = origins[0]
    urls = await queue(machines[0], origins[1:])
    alone = {"ARCHIVER_HOST_CONCURRENCY": "1"}

    async with crawling([each | alone for each in machines]) as running:
        for each in running:
            await each.communicate()
    _, listed = await ran("list", "--status", "saved", "--all", **machines[1])

    assert all(url in listed for url in urls)
    assert [host.busiest for host in hosts.values()] == [1] * HOSTS
