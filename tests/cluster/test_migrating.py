"""Migrations between a folder with SQLite, and an object store with PostgreSQL, lose nothing."""

import asyncio
import signal
import sys
from asyncio.subprocess import DEVNULL
from dataclasses import replace
from io import BytesIO

import pytest

from archiver.app import open_app
from archiver.db.postgresql import PostgresIndex
from archiver.errors import ConfigurationError
from archiver.model.listing import ListingQuery
from archiver.services.migration import migrate
from tests.cluster.archives import other_machine, save

KILLED = """
import asyncio, os, signal, sys
from importlib import import_module
from pathlib import Path
from archiver.config import Settings
from archiver.services.migration import migrate

def die(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)

data, index, store, where, name = sys.argv[1:]
setattr(import_module(where), name, die)
to = Settings(data=Path(data), index=index or None, store=store or None)
asyncio.run(migrate(to, remove=True))
"""
OUT, BACK = True, False
STEPS = (
    (OUT, "archiver.services.reindex", "replace_index"),
    (BACK, "archiver.services.migration", "_switch_to"),
    (OUT, "archiver.services.migration", "_switch_to"),
    (BACK, "archiver.services.migration", "forget_store"),
)
"""Functions at whose call a migration is killed: before the index is replaced, before copies are
removed, and before the address of the store is deleted. ``test_killed`` does so for uploads.
"""


@pytest.fixture
async def machine_a(settings, urls):
    """An archive in a folder: four pages in two segments, and a queued link."""
    machine_a = replace(settings, store=None)
    await save(machine_a, urls[:2])
    await save(machine_a, urls[2:])
    async with open_app(machine_a) as archive:
        await archive.entries.save(["https://waits.example/"], source="test")
    return machine_a


async def entry_states(settings):
    async with open_app(settings) as archive:
        listing = await archive.search.listing(ListingQuery())
        return {(each.entry.url, each.entry.state) for each in listing.items}


async def entries_and_matches(settings):
    """Return all entries with their states, and the result of a search; check the segments."""
    async with open_app(settings) as archive:
        results = [each async for each in archive.fixity.verify()]
        words = (await archive.search.listing(ListingQuery("foxes"))).items
    assert [each for each in results if each.is_wrong] == []
    return await entry_states(settings), [each.entry.url for each in words]


async def test_an_archive_is_migrated_out_and_back_with_its_queue(machine_a, store, address):
    before = await entries_and_matches(machine_a)
    machine_b = replace(machine_a, index=address, store=store.address)
    sizes = {each.name: each.stat().st_size for each in (machine_a.data / "warc").iterdir()}
    own = [machine_a.data / name for name in ("reading.json", "secret", "feeds.opml")]
    for path in own:
        path.write_bytes(b"[]")

    moved, index = await migrate(machine_b, remove=True)

    assert (moved, index.queued) == (len(sizes), 1)
    assert {name.split("/")[-1] for name in store.names()} == sizes.keys()
    assert (
        [*(machine_a.data / "warc").iterdir()] == [*(machine_a.data / "uploaded").iterdir()] == []
    )
    assert await entries_and_matches(machine_b) == before
    assert not any(path.exists() for path in own)
    with pytest.raises(ConfigurationError):
        await entries_and_matches(machine_a)

    for _ in range(2):  # the second run has nothing to do
        await migrate(machine_a, remove=True)

    assert store.names() == []
    assert {path.read_bytes() for path in own} == {b"[]"}
    assert {each.name: each.stat().st_size for each in (machine_a.data / "warc").iterdir()} == sizes
    assert await entries_and_matches(machine_a) == before


async def test_imports_are_migrated_on_a_machine_that_has_no_reports(
    machine_a, store, address, tmp_path
):
    async with open_app(machine_a) as archive:
        done = await archive.imports.read_file(
            BytesIO(b"https://a.example/ x://b"), name="links.txt"
        )
        rows = [each async for each in archive.import_reports.csv(done.id)]
    servers = replace(machine_a, index=address, store=store.address)
    await migrate(servers)
    machine_b = other_machine(servers, tmp_path / "b")
    folder_b = replace(machine_b, index=None, store=None)
    before = await entry_states(machine_b)

    _, index = await migrate(folder_b)

    assert index.problems == ()
    assert await entry_states(folder_b) == before
    async with open_app(folder_b) as archive:
        assert [each async for each in archive.import_reports.csv(done.id)] == rows
        assert [each.id for each in await archive.import_statuses.recent()] == [done.id]


async def test_a_rebuilt_index_is_claimed_before_it_is_in_place(
    machine_a, address, monkeypatch, tmp_path
):
    replace_schema = PostgresIndex.replace

    def killed(index):
        replace_schema(index)
        raise KeyboardInterrupt

    monkeypatch.setattr(PostgresIndex, "replace", killed)
    with pytest.raises(KeyboardInterrupt):
        await migrate(replace(machine_a, index=address))
    monkeypatch.undo()

    with pytest.raises(ConfigurationError, match="another data directory"):
        await entries_and_matches(replace(machine_a, index=address, data=tmp_path / "other"))


async def test_a_migration_killed_at_any_step_can_be_repeated(machine_a, store, address):
    before = await entries_and_matches(machine_a)
    for way, module, name in STEPS:
        to = replace(machine_a, index=address, store=store.address) if way is OUT else machine_a
        killed = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", KILLED, str(machine_a.data), to.index or "", to.store or ""),
            *(module, name),
            stderr=DEVNULL,
        )
        assert await killed.wait() == -signal.SIGKILL, (way, name)

        await migrate(to, remove=True)

        assert await entries_and_matches(to) == before, (way, name)
    assert store.names() == []


async def test_copies_stay_unless_they_are_removed_by_request(machine_a, store):
    await migrate(replace(machine_a, store=store.address))
    copies = [*(machine_a.data / "uploaded").iterdir()]
    await migrate(machine_a)

    assert len(copies) == 2
    assert len(store.names()) == 2
    assert len([*(machine_a.data / "warc").iterdir()]) == 2
