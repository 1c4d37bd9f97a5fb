"""A newer version comes to an index while an older one still runs: one writes, one says why not."""

import asyncio

import pytest
from archiver.index.dialect.postgres_engines import PostgresEngines

from archiver.cli.main import FENCED_OFF
from archiver.errors import FencedOff
from archiver.index import oversight
from archiver.index.database import Database, Member
from tests.cluster.commands import archiver, ran, refused
from tests.cluster.owner import as_owner

NEWER = "9999"


def bring_up_to_date(address):
    """As a newer version does that starts elsewhere."""
    as_owner(address, f"UPDATE alembic_version SET version_num = '{NEWER}'")


async def test_an_older_version_that_runs_writes_nothing_more_and_says_why(address):
    engines = PostgresEngines(address)
    engines.prepare()
    db = Database(engines, Member(name="older", machine="there", lease=30))
    lost = []
    async with db.write() as conn:
        await oversight.set_paused(conn, paused=True)
    db.membership.on_lost = lambda: lost.append("told")

    await asyncio.to_thread(bring_up_to_date, address)

    with pytest.raises(FencedOff, match=f"schema {NEWER}.*Update the program"):
        async with db.write() as conn:
            await oversight.set_paused(conn, paused=False)
    assert lost == ["told"]
    async with db.read() as conn:
        assert await oversight.is_paused(conn)
    await db.close()


async def test_a_server_of_an_older_version_ends_and_does_not_start_again(live, address, tmp_path):
    here = {"ARCHIVER_INDEX": address, "ARCHIVER_DATA": str(tmp_path / "data")}
    here |= {"ARCHIVER_WRITER_LEASE": "3"}
    page = live.article("foxes")
    await ran("import", "-", "--no-crawl", said=page, **here)
    async with archiver("serve", "--port", "0", **here) as older:
        await live.asked_for("/foxes")
        await asyncio.to_thread(bring_up_to_date, address)

        _, said = await older.communicate()

    assert older.returncode == FENCED_OFF
    assert f"schema {NEWER}" in said.decode()
    status, said = await refused("serve", "--port", "0", **here)
    assert (status, len(said.splitlines())) == (1, 1)
    assert "newer version" in said
