"""A replica that lacks what was committed last takes the place of its server that failed."""

import asyncio
from contextlib import AsyncExitStack

import pytest
from aiohttp import web

from archiver.cli.main import FENCED_OFF
from benchmarks.own_postgres import OwnPostgres
from tests.cluster.commands import archiver, ran
from tests.cluster.owner import as_owner
from tests.cluster.test_cut_off import line_to

SAVED = "SELECT count(*) FROM job WHERE state = 'saved'"
SNAPSHOTS = "SELECT url, snapshot_count FROM entry"
UNREAD = (
    "The index has not read it to its end: its machine does once it is started again, or "
    "`archiver reindex`."
)
REPLACED = (
    "archiver: A replica took the place of the index's server, and may lack what was written last: "
    "this process writes no more. What it has fetched is taken up when it is started again."
)


class Pages:
    """Pages of a web, each answered once it is let."""

    def __init__(self, live, number):
        self._let = [asyncio.Event() for _ in range(number)]
        urls = [live.answer(f"/{n}", self._answer) for n in range(number)]
        # Half of them lie at another host, which is not held by whoever fetches the first ones.
        other = [each.replace("127.0.0.1", "localhost") for each in urls]
        self.urls = [*urls[: number // 2], *other[number // 2 :]]

    async def _answer(self, request):
        number = int(request.path[1:])
        await self._let[number].wait()
        text = f"<title>Page {number}</title><p>{'Some clever words of it. ' * 20}"
        return web.Response(text=text, content_type="text/html")

    def let(self, *numbers):
        for each in numbers:
            self._let[each].set()


async def saved(address, number):
    async with asyncio.timeout(600):
        while as_owner(address, SAVED) != [(number,)]:  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0.1)


@pytest.fixture
def own():
    with OwnPostgres() as server:
        yield server


async def test_what_a_replica_lacks_comes_back_and_each_page_is_kept_once(
    live, own, store, tmp_path
):
    pages = Pages(live, 6)
    async with AsyncExitStack() as stack:
        line, index = await stack.enter_async_context(line_to(own.address))
        shared = {"ARCHIVER_INDEX": index, "ARCHIVER_STORE": store.address}
        shared |= {"ARCHIVER_ALLOW_NETWORKS": "127.0.0.0/8,::1/128"}
        here, there, gone = (shared | {"ARCHIVER_DATA": str(tmp_path / name)} for name in "abc")
        for name in "bc":
            (tmp_path / name).mkdir()
        known = await stack.enter_async_context(archiver("add", *pages.urls[:3], **here))
        pages.let(0)
        await live.asked_for("/1")  # there is an index by then
        await saved(own.address, 1)

        replica = await asyncio.to_thread(stack.enter_context, OwnPostgres(like=own))
        pages.let(1, 3)  # it hears of nothing of that
        await saved(own.address, 2)
        assert (await ran("add", pages.urls[3], **gone, ARCHIVER_COMMIT="remote"))[0] == 0
        unknown = await stack.enter_async_context(archiver("add", *pages.urls[4:], **there))
        pages.let(4)
        await saved(own.address, 4)
        await asyncio.to_thread(own.stop_at_once)
        await asyncio.to_thread(replica.promote)
        line.port = replica.port
        pages.let(2, 5)
        ends = [await each.communicate() for each in (known, unknown)]

        # Nobody goes on in a history that lacks what it has written.
        assert [each.returncode for each in (known, unknown)] == [FENCED_OFF] * 2
        assert [said.decode().splitlines()[-1] for _, said in ends] == [REPLACED] * 2
        assert as_owner(replica.address, SAVED) == [(1,)]
        # Started again, each takes up what it had fetched, and fetches what it had not.
        assert (await ran("crawl", **here))[0] == 0
        code, told = await ran("verify", **there)
        assert snapshots(replica, pages) == {0: 1, 1: 1, 2: 1, 4: 1}
        assert [live.asked[f"/{number}"] for number in (0, 1, 4)] == [1] * 3
        # What lies in the store alone is told, and then read.
        *unread, _, problems = told.splitlines()
        assert {each.partition("\t")[2] for each in unread} == {UNREAD}
        assert (code, problems) == (0, "problems\t0")
        assert (await ran("reindex", **there))[0] == 0
        assert snapshots(replica, pages) == dict.fromkeys(range(5), 1)
        assert (await ran("verify", **there))[1].splitlines()[1:] == ["problems\t0"]
        found = (await ran("search", "clever", **here))[1]
        assert [url in found for url in pages.urls] == [True] * 5 + [False]


def snapshots(server, pages):
    """How many there are of each page that is an entry."""
    return {pages.urls.index(url): number for url, number in as_owner(server.address, SNAPSHOTS)}
