"""The database server is not available during a crawl, which continues when it is back."""

import asyncio

import pytest
from aiohttp import web
from sqlalchemy import text

from archiver.app import open_app
from archiver.config import Settings
from archiver.db import engine
from archiver.db.engine import Database
from archiver.db.postgresql import PostgresIndex
from archiver.errors import IndexUnavailable
from tests.cluster.commands import archiver, run
from tests.cluster.owner_access import as_owner
from tests.postgres import administer

PAGES = 12
SAVED = "SELECT count(*) FROM job WHERE state = 'saved'"


def close(name):
    """Refuse connections to a database, and end all existing ones."""
    administer(
        f"ALTER DATABASE {name} ALLOW_CONNECTIONS false",
        f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'",
    )


def reopen(name):
    administer(f"ALTER DATABASE {name} ALLOW_CONNECTIONS true")


async def test_a_service_continues_when_the_database_accepts_connections_again(
    live, address, tmp_path
):
    response_is_held = asyncio.Event()

    async def answer(request):
        await response_is_held.wait()
        return web.Response(text=f"<title>{request.path}</title>", content_type="text/html")

    urls = [live.add_handler(f"/{n}", answer) for n in range(PAGES)]
    machine_a = {"ARCHIVER_INDEX": address, "ARCHIVER_DATA": str(tmp_path / "data")}
    name = address.rpartition("/")[2]
    code, _ = await run("import", "-", "--no-crawl", input_data="\n".join(urls), **machine_a)
    assert code == 0

    async with archiver("serve", **machine_a, ARCHIVER_PORT="0") as serving:
        await live.wait_for_request("/0")
        close(name)
        response_is_held.set()
        outage = await run("list", **machine_a)
        reopen(name)
        async with asyncio.timeout(600):
            while as_owner(address, SAVED) != [(PAGES,)]:  # noqa: ASYNC110 - there is no event
                await asyncio.sleep(0.1)
        serving.terminate()
        _, logged = await serving.communicate()

    _, saved = await run("list", "--status", "saved", **machine_a)
    code, checked = await run("verify", **machine_a)
    assert outage == (1, "")
    assert all(url in saved for url in urls)
    assert saved.count("\n") == PAGES
    assert serving.returncode == 0
    assert logged.count(b"the index refused") <= 1, logged.decode()
    assert b"broke off; it begins again task='crawl'" not in logged, logged.decode()
    assert (code, "problems\t0" in checked) == (0, True), checked


async def test_idle_connections_that_the_server_ended_are_replaced(address):
    db = await Database.open(address)
    name = address.rpartition("/")[2]
    numbers = []

    for _ in range(2):
        async with db.read() as conn:
            numbers += (await conn.execute(text("SELECT 1"))).scalars()
        async with db.write() as conn:
            numbers += (await conn.execute(text("SELECT 2"))).scalars()
        ended = (
            f"SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = '{name}'"
        )
        administer(ended)
    await db.close()

    assert numbers == [1, 2, 1, 2]


async def test_a_transaction_fails_if_the_server_ends_its_connection(address):
    db = await Database.open(address)

    for transaction in (db.read, db.write):
        with pytest.raises(IndexUnavailable):
            async with transaction() as conn:
                await conn.execute(text("SELECT pg_terminate_backend(pg_backend_pid())"))
    async with db.read() as conn:
        later = (await conn.execute(text("SELECT 1"))).scalar_one()
    await db.close()

    assert later == 1


async def test_leases_of_an_interrupted_crawl_are_released_by_the_next_one(
    live, address, tmp_path, monkeypatch
):
    monkeypatch.setattr(engine, "LAST_WAIT_SECONDS", 600)  # usually the process stops then
    url = live.add_handler("/held", lambda _: live.closing.wait())
    settings = Settings(data=tmp_path, index=address, host_delay=0, allow_networks="127.0.0.0/8")
    async with open_app(settings) as archive:
        await archive.entries.save([url], source="test")
        crawl = asyncio.create_task(archive.crawling.work())
        await live.wait_for_request("/held")
        close(name := address.rpartition("/")[2])
        crawl.cancel()
        await asyncio.wait([crawl])
        reopen(name)
        states = as_owner(address, "SELECT state FROM job")
        live.article("held")
        counts = await archive.crawling.work()

    assert states == [("fetching",)]
    assert (counts.saved, counts.fetching, counts.queued) == (1, 0, 0)


@pytest.mark.parametrize(
    ("options", "reason"),
    [("sslmode=require", "SSL"), ("sslmode=verify-full&sslrootcert=/missing", "/missing")],
)
async def test_options_of_the_address_are_passed_to_the_driver(address, options, reason):
    with pytest.raises(IndexUnavailable, match=f"Cannot open .*{reason}"):
        await PostgresIndex(f"{address}?{options}").connect()
