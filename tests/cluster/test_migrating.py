"""An archive moves between folder and file, and store and server, and is whole wherever it is."""

import asyncio
import signal
import sys
from asyncio.subprocess import DEVNULL
from dataclasses import replace

import pytest

from archiver.app import open_app
from archiver.db.postgresql import PostgresIndex
from archiver.errors import ConfigurationError
from archiver.model.listing import ListingQuery
from archiver.services.migration import Places, migrate
from tests.cluster.archives import save, site

KILLED = """
import asyncio, os, signal, sys
from importlib import import_module
from pathlib import Path
from archiver.config import Settings
from archiver.services.migration import Places, migrate

data, index, store, where, name, seen = sys.argv[1:]
held = import_module(where)
*outer, name = name.split(".")
for each in outer:
    held = getattr(held, each)

def die(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)

setattr(held, name, die)
asyncio.run(migrate(Settings(data=Path(data)), Places(index or None, store or None), remove=True))
"""
STEPS = {
    "between put and mark": ("archiver.warc.object_store", "BucketStorage._mark"),
    "a segment not yet compared": ("archiver.warc.object_store", "_digest"),
    "the index built and not in place": ("archiver.services.reindex", "replace_index"),
    "before what was left is removed": ("archiver.services.migration", "_leave"),
    "before the store is forgotten": ("archiver.services.migration", "forget_store"),
}


@pytest.fixture
async def here(settings):
    """An archive in a folder: four pages in two segments, and what waits."""
    here = replace(settings, store=None)
    async with site() as urls:
        await save(here, urls[:2])
        await save(here, urls[2:])
    async with open_app(here) as archive:
        await archive.entries.save(["https://waits.example/"], source="test")
    return here


async def listed(settings):
    async with open_app(settings) as archive:
        listing = await archive.search.listing(ListingQuery())
        return {(each.entry.url, each.entry.state) for each in listing.items}


async def known(settings):
    """All that is asked of an archive: the pages as they read, and what waits."""
    async with open_app(settings) as archive:
        found = [each async for each in archive.fixity.verify()]
        words = (await archive.search.listing(ListingQuery("foxes"))).items
    assert [each for each in found if each.is_wrong] == []
    return await listed(settings), [each.entry.url for each in words]


async def test_it_goes_there_and_back_with_all_that_waits(here, store, address):
    before = await known(here)
    there = replace(here, index=address, store=store.address)
    sizes = {each.name: each.stat().st_size for each in (here.data / "warc").iterdir()}

    moved = await migrate(here, Places(address, store.address), remove=True)

    assert (moved.segments, moved.index.queued) == (len(sizes), 1)
    assert {name.split("/")[-1] for name in store.names()} == sizes.keys()
    assert [*(here.data / "warc").iterdir()] == [*(here.data / "uploaded").iterdir()] == []
    assert await known(there) == before
    with pytest.raises(ConfigurationError):
        await known(here)

    for _ in range(2):  # a second time there is nothing to do
        await migrate(here, Places(), given=Places(address, store.address), remove=True)

    assert store.names() == []
    assert {each.name: each.stat().st_size for each in (here.data / "warc").iterdir()} == sizes
    assert await known(here) == before


async def test_a_rebuilt_index_belongs_to_its_archive_from_the_moment_it_is_in_place(
    here, address, monkeypatch, tmp_path
):
    replace_schema = PostgresIndex.replace

    def killed(index):
        replace_schema(index)
        raise KeyboardInterrupt

    monkeypatch.setattr(PostgresIndex, "replace", killed)
    with pytest.raises(KeyboardInterrupt):
        await migrate(here, Places(address, None))
    monkeypatch.undo()

    with pytest.raises(ConfigurationError, match="another data directory"):
        await known(replace(here, index=address, data=tmp_path / "other"))


@pytest.mark.parametrize("step", STEPS.values(), ids=STEPS)
async def test_killed_at_any_step_it_is_whole_once_it_is_asked_for_again(
    here, store, address, step
):
    before = await known(here)
    for to in (Places(address, store.address), Places()):
        killed = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", KILLED, str(here.data), to.index or "", to.store or ""),
            *(*step, ""),
            stderr=DEVNULL,
        )
        assert await killed.wait() in (0, -signal.SIGKILL)

        await migrate(here, to, remove=True)

        assert await known(replace(here, index=to.index, store=to.store)) == before
    assert store.names() == []


async def test_copies_stay_unless_they_are_not_wanted(here, store):
    await migrate(here, Places(store=store.address))
    copies = [*(here.data / "uploaded").iterdir()]
    await migrate(here, Places())

    assert len(copies) == 2
    assert len(store.names()) == 2
    assert len([*(here.data / "warc").iterdir()]) == 2


async def test_an_archive_that_lies_elsewhere_is_not_moved(here, store, address):
    with pytest.raises(ConfigurationError, match="It is at folder"):
        await migrate(here, Places(store=store.address), given=Places(address, store.address[:-1]))
