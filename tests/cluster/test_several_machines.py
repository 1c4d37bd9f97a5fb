"""Processes at one index in PostgreSQL know of each other by rows."""

import asyncio
import shutil

import pytest
from aiohttp import web
from sqlalchemy import text

from archiver.index.dialect.postgres_engines import PostgresEngines
from archiver.store.machine import machine_of
from tests.cluster.commands import archiver, ran

LEASE = "3"
FENCED_OFF = 75


class Rows:
    """The rows of writers, as whoever owns the database sees them."""

    def __init__(self, address: str) -> None:
        self._engine = PostgresEngines(address).writing()

    def names(self) -> list[str]:
        with self._engine.begin() as conn:
            return list(conn.execute(text("SELECT name FROM writer ORDER BY name")).scalars())

    def remove(self) -> None:
        with self._engine.begin() as conn:
            conn.execute(text("DELETE FROM writer"))


@pytest.fixture
def here(address, tmp_path):
    folder = {"ARCHIVER_INDEX": address, "ARCHIVER_DATA": str(tmp_path / "a")}
    return folder | {"ARCHIVER_WRITER_LEASE": LEASE}


@pytest.fixture
def held(live):
    """A page that is answered once it may be."""
    page = asyncio.Event()

    async def answer(request):
        await page.wait()
        return web.Response(text="<title>held</title>", content_type="text/html")

    page.url = live.answer("/held", answer)
    return page


@pytest.mark.parametrize("command", [("crawl",), ("serve", "--port", "0")])
async def test_who_was_taken_for_dead_ends_with_a_sentence_and_changes_nothing(
    live, address, here, held, command
):
    await ran("import", "-", "--no-crawl", said=held.url, **here)
    rows = Rows(address)
    async with archiver(*command, **here) as running:
        await live.asked_for("/held")
        assert len(rows.names()) == 1

        rows.remove()
        held.set()
        _, said = await running.communicate()

    assert running.returncode == FENCED_OFF
    assert "took this process for dead" in said.decode()
    assert await ran("list", "--status", "saved", **here) == (1, "")
    assert rows.names() == []


async def test_what_a_killed_process_held_is_given_back_at_once_with_its_row(
    live, address, here, held
):
    await ran("import", "-", "--no-crawl", said=held.url, **here)
    rows = Rows(address)
    async with archiver("crawl", **here) as running:
        await live.asked_for("/held")
        running.kill()
        await running.wait()
    held.set()

    code, _ = await ran("crawl", **here)

    assert code == 0
    assert held.url in (await ran("list", "--status", "saved", **here))[1]
    assert rows.names() == []


async def test_who_only_reads_has_no_row(address, here):
    await ran("import", "-", "--no-crawl", said="https://a.example/", **here)
    rows = Rows(address)
    rows.remove()

    assert (await ran("list", **here))[0] == 0

    assert rows.names() == []


def test_a_copy_of_a_data_directory_is_another_machine(tmp_path):
    (tmp_path / "a").mkdir()
    name = machine_of(tmp_path / "a")
    shutil.copytree(tmp_path / "a", tmp_path / "b")

    assert machine_of(tmp_path / "a") == name
    assert machine_of(tmp_path / "b") != name
