"""Who is cut off from the index asks the web for nothing any more, and goes on once it is back."""

import asyncio
import time
from collections.abc import Callable
from contextlib import asynccontextmanager

from aiohttp import web

from archiver.cli.main import FENCED_OFF
from tests.cluster.commands import archiver, ran
from tests.cluster.owner import all_rows
from tests.postgres import administer

LEASE = 3.0
SURE = LEASE * 2 / 3
PAGES = 12


class Line:
    """What lies between a process and its server; nothing passes unless it is ``whole``.

    ``told`` is what becomes of the bytes that the server says.
    """

    def __init__(self, server: str, told: Callable[[bytes], bytes]) -> None:
        self._told = told
        self._host, _, port = server.partition(":")
        self.port = int(port)
        self.whole = asyncio.Event()
        self.whole.set()

    async def _pump(
        self,
        source: asyncio.StreamReader,
        to: asyncio.StreamWriter,
        changed: Callable[[bytes], bytes] = bytes,
    ) -> None:
        while piece := await source.read(1 << 16):
            await self.whole.wait()
            to.write(changed(piece))
            await to.drain()
        to.close()

    async def pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await self.whole.wait()
        there = await asyncio.open_connection(self._host, self.port)
        async with asyncio.TaskGroup() as both:
            both.create_task(self._pump(reader, there[1]))
            both.create_task(self._pump(there[0], writer, self._told))


@asynccontextmanager
async def line_to(address, told=bytes):
    """A line to the server of an index, and the address of the index through it."""
    server, _, name = address.removeprefix("postgresql://archiver@").partition("/")
    line = Line(server, told)
    through = await asyncio.start_server(line.pass_on, "127.0.0.1", 0)
    port = through.sockets[0].getsockname()[1]
    try:
        yield line, f"postgresql://archiver@127.0.0.1:{port}/{name}"
    finally:
        line.whole.set()
        through.close()


async def test_who_is_cut_off_fetches_nothing_and_goes_on_when_it_is_back(live, address, tmp_path):
    asked: list[float] = []
    some = asyncio.Event()

    async def answer(request):
        asked.append(time.monotonic())
        if len(asked) > 1:
            some.set()
        return web.Response(text=f"<title>{request.path}</title>", content_type="text/html")

    urls = [live.answer(f"/{n}", answer) for n in range(PAGES)]
    async with line_to(address) as (line, through):
        here = {
            "ARCHIVER_INDEX": through,
            "ARCHIVER_DATA": str(tmp_path / "data"),
            "ARCHIVER_WRITER_LEASE": str(LEASE),
        }
        code, _ = await ran("import", "-", "--no-crawl", said="\n".join(urls), **here)
        assert code == 0
        async with archiver("crawl", **(here | {"ARCHIVER_HOST_DELAY": "0.5"})) as crawling:
            await some.wait()
            line.whole.clear()
            cut = time.monotonic()
            # Nothing tells that nothing is asked, but that time goes by: as much as would do for
            # all that was leased.
            await asyncio.to_thread(administer, f"SELECT pg_sleep({2 * LEASE})")
            before = [*asked]
            line.whole.set()
            await crawling.communicate()
        _, saved = await ran("list", "--status", "saved", **here)

    assert before[-1] - cut < SURE + 0.5
    assert len(before) < PAGES
    assert crawling.returncode == 0
    assert (len(asked), saved.count("\n")) == (PAGES, PAGES)


async def test_who_is_cut_off_until_another_did_its_work_changes_no_row_when_it_is_back(
    live, address, store, tmp_path
):
    answered = asyncio.Event()

    async def answer(_):
        await answered.wait()
        return web.Response(text="<title>held</title>", content_type="text/html")

    url = live.answer("/held", answer)
    shared = {"ARCHIVER_STORE": store.address, "ARCHIVER_WRITER_LEASE": str(LEASE)}
    async with line_to(address) as (line, through):
        here = shared | {"ARCHIVER_INDEX": through, "ARCHIVER_DATA": str(tmp_path / "a")}
        there = shared | {"ARCHIVER_INDEX": address, "ARCHIVER_DATA": str(tmp_path / "b")}
        (tmp_path / "b").mkdir()
        await ran("import", "-", "--no-crawl", said=url, **here)
        async with archiver("crawl", **here) as cut:
            await live.asked_for("/held")
            line.whole.clear()
            answered.set()
            assert (await ran("crawl", **there))[0] == 0
            rows = all_rows(address)
            line.whole.set()
            await cut.communicate()

        assert cut.returncode == FENCED_OFF
        assert all_rows(address) == rows
        assert url in (await ran("list", "--status", "saved", **there))[1]
    assert live.asked["/held"] == 2
