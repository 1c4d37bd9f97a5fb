"""Hosts are spared by all machines of an archive together, by the log of those hosts."""

import asyncio
import socket
from contextlib import AsyncExitStack, asynccontextmanager
from itertools import pairwise

import pytest

from tests import stamped
from tests.cluster.commands import archiver, ran

DELAY, MOST, REST = 3, 2, 4
PAGES = 4
HOSTS = 3
SECOND = 1_000_000_000


class Host:
    """A host that writes down when it is asked, and how many requests it has at once."""

    def __init__(self) -> None:
        self.pages: list[int] = []
        self.busiest = self.now = 0
        self.busy = asyncio.Event()
        self.rest = 0
        self.foreign = ""
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.address = f"http://127.0.0.1:{self._socket.getsockname()[1]}"

    async def serve(self) -> None:
        with self._socket:
            await stamped.serve(self._socket, lambda connected: Asked(connected, self))

    @property
    def gaps(self) -> list[int]:
        """Nanoseconds between two pages: by when the system had their requests, so exactly."""
        return [after - before for before, after in pairwise(sorted(self.pages))]


class Asked(stamped.Connection):
    """A connection to such a host."""

    def __init__(self, connected: socket.socket, host: Host) -> None:
        super().__init__(connected)
        self._host = host

    def asked(self, head: bytes, moment: int) -> None:
        host, path = self._host, head.split(b" ", 2)[1].decode()
        host.now += 1
        host.busiest = max(host.busiest, host.now)
        if path.startswith("/page"):
            host.pages.append(moment)
        if len(host.pages) > 1:
            host.busy.set()
        asyncio.get_running_loop().call_later(0.2, self._say, path)

    def _say(self, path: str) -> None:
        host = self._host
        host.now -= 1
        if not path.startswith("/page"):
            self.answer(b"text/html", b"no picture")
        elif host.rest and len(host.pages) == 1:
            rest = b"429 Too Many Requests\r\nRetry-After: %d" % host.rest
            self.answer(b"text/html", b"", rest)
        else:
            images = "".join(f"<img src='{host.foreign}/picture{path}-{n}.png'>" for n in range(4))
            html = f"<title>{path}</title>{images if host.foreign else ''}"
            self.answer(b"text/html", html.encode())


@pytest.fixture
async def hosts():
    async with asyncio.TaskGroup() as serving:
        found = [Host() for _ in range(HOSTS)]
        tasks = [serving.create_task(host.serve()) for host in found]
        yield {host.address: host for host in found}
        for each in tasks:
            each.cancel()


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
        await first.wait()
        await ran("crawl", **machines[0])  # at once, sooner than hosts may be asked again
        await second.communicate()
    _, listed = await ran("list", "--status", "saved", "--all", **machines[1])

    assert all(url in listed for url in urls)
    assert {origin: host.busiest <= MOST for origin, host in hosts.items()} == dict.fromkeys(
        hosts, True
    )
    assert min(gap for host in hosts.values() for gap in host.gaps) >= DELAY * SECOND


async def test_what_a_host_asked_one_machine_is_known_to_the_others(hosts, machines):
    (origin, host), *others = hosts.items()
    host.rest = REST
    for _, other in others:
        other.foreign = origin
    await queue(machines[0], hosts)

    async with crawling(machines[:2]) as running:
        for each in running:
            await each.communicate()

    assert host.gaps[0] >= REST * SECOND
    assert min(host.gaps[1:]) >= DELAY * SECOND
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
