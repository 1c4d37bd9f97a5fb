"""Small objects become larger ones; a kill in between loses nothing and brings nothing back."""

import asyncio
from dataclasses import replace

import pytest

from archiver.errors import StoreError
from archiver.runtime import open_runtime
from archiver.services import joining
from archiver.services.reindexing import reindex
from archiver.store.editions import is_joined, next_edition, writer_of
from archiver.store.survey import SegmentFile
from tests.cluster.archives import elsewhere, site, told
from tests.store.test_editions import segment


@pytest.fixture
def remote(settings):
    return replace(settings, commit="remote", crawl_processes=1)


@pytest.fixture
async def urls(remote):
    """Pages that are kept, each in objects of its own."""
    async with site() as found:
        async with open_runtime(remote) as archive:
            for url in found:
                await archive.entries.save([url], source="test")
                await archive.crawling.work()
        yield found


def writers(names) -> int:
    """How many processes wrote segments: what each wrote can be joined."""
    return len({*map(writer_of, names)})


async def compacted(settings):
    async with open_runtime(settings) as archive:
        return await archive.compacting.compact()


async def test_objects_are_joined_and_all_of_it_is_read_here_and_elsewhere(
    remote, urls, store, tmp_path
):
    before, parts = await told(remote), store.names()

    done = await compacted(remote)

    assert (done.joined > len(urls), done.left) == (True, {})
    await compacted(remote)
    left = store.names()
    assert len(left) == writers(parts) < len(parts)
    assert any(map(is_joined, left))
    assert await told(remote) == before
    other = elsewhere(remote, tmp_path / "b")
    assert (await reindex(other)).problems == ()
    assert await told(other) == before


async def test_a_machine_whose_disk_is_empty_joins_what_another_wrote(remote, address, tmp_path):
    shared = replace(remote, index=address)
    async with site() as found, open_runtime(shared) as archive:
        for url in found[:2]:
            await archive.entries.save([url], source="test")
            await archive.crawling.work()

    assert (await compacted(elsewhere(shared, tmp_path / "b"))).joined > 1

    assert [url for url, _, _ in await told(shared)] == sorted(found[:2])


async def test_what_was_joined_is_joined_for_good_before_its_parts_are_removed(
    remote, urls, store, tmp_path
):
    parts = store.names()
    await compacted(remote)
    assert {*parts} < {*store.names()}
    other = elsewhere(remote, tmp_path / "b")

    assert (await reindex(other)).segments == writers(parts)

    assert await told(other) == await told(remote)
    assert len(store.names()) == writers(parts)


async def test_a_joining_that_was_broken_off_is_undone_and_what_was_deleted_stays_away(
    remote, urls, store, tmp_path
):
    parts = store.names()
    store.fickle.failing = {"HEAD": 500}
    with pytest.raises(StoreError):
        await compacted(remote)
    store.fickle.failing = {}
    assert len(store.names()) == len(parts) + 1
    other = elsewhere(remote, tmp_path / "b")
    assert (await reindex(other)).segments == writers(parts)
    async with open_runtime(remote) as archive:
        await archive.deleting.entries([urls[0]])
        await archive.crawling.write_down_changes()
        assert (await archive.compacting.compact()).left == {}

    assert [url for url, _, _ in await told(remote)] == sorted(urls[1:])
    again = elsewhere(remote, tmp_path / "c")
    await reindex(again)
    assert await told(again) == await told(remote)


async def test_a_compaction_that_was_killed_before_its_segment_was_joined_takes_nothing_away(
    remote, urls, store, tmp_path
):
    before, parts = await told(remote), store.names()
    edition, data = next_edition(parts[0]), store.read(parts[0])
    await compacted(remote)
    await compacted(remote)
    joined = store.names()
    store.write(edition, data)
    other = elsewhere(remote, tmp_path / "b")

    assert (await reindex(other)).problems == ()

    assert await told(other) == before
    await compacted(remote)
    assert store.names() == joined
    assert await told(remote) == before


async def test_a_process_joins_its_own_objects_once_they_make_a_segment(remote, store, monkeypatch):
    monkeypatch.setattr(joining, "LOOK_SECONDS", 0.01)
    async with site() as found, open_runtime(replace(remote, seal_bytes=4096)) as archive:
        await archive.entries.save(found[:1], source="test")
        await archive.crawling.work()
        for url in found[1:]:
            await archive.entries.save([url], source="test")
            await archive.crawling.work()
        async with asyncio.timeout(600):
            while not any(map(is_joined, await asyncio.to_thread(store.names))):
                pass
    assert [url for url, _, _ in await told(remote)] == sorted(found)


@pytest.mark.parametrize("is_joined_elsewhere", [False, True])
async def test_a_process_looks_at_its_objects_once_whatever_the_dead_left_or_others_joined(
    remote, store, monkeypatch, is_joined_elsewhere
):
    monkeypatch.setattr(joining, "LOOK_SECONDS", 3600)
    settings = replace(remote, seal_bytes=4096)
    async with site() as found, open_runtime(settings) as archive:
        own, batches = archive.compacting._joining, archive.compacting._store.batches
        for url in found:
            await archive.entries.save([url], source="test")
            await archive.crawling.work()
        batches.appendleft(SegmentFile(segment("00999"), 1))
        for _ in range(2 * is_joined_elsewhere):
            await compacted(settings)

        await own._join_own()

        assert not batches
        assert any(map(is_joined, store.names()))
    assert [url for url, _, _ in await told(settings)] == sorted(found)


async def test_a_store_that_refuses_a_joined_segment_is_asked_less_and_less_until_it_takes_it(
    remote, store, monkeypatch
):
    monkeypatch.setattr(joining, "LOOK_SECONDS", 3600)  # the runtime's own looks at nothing
    rests = []

    async def sleep(seconds):
        rests.append(seconds)
        if len(rests) == 10:
            store.fickle.failing = {}
        if len(rests) == 11:
            assert any(map(is_joined, store.names()))
            raise asyncio.CancelledError

    async with site() as found, open_runtime(replace(remote, seal_bytes=4096)) as archive:
        for url in found:
            await archive.entries.save([url], source="test")
            await archive.crawling.work()
        monkeypatch.setattr(joining, "LOOK_SECONDS", 5)
        store.fickle.failing = {"PUT": 403}

        with pytest.raises(asyncio.CancelledError):
            await archive.compacting._joining.keep_joining(sleep)

    assert rests == [5, 10, 20, 40, 80, 160, 300, 300, 300, 300, 5]


async def test_what_somebody_removed_before_the_index_points_at_it_is_not_pointed_at(
    remote, urls, store
):
    before, parts = await told(remote), store.names()
    put = []

    def remove_once_compared(method):
        put.extend(["PUT"] if method == "PUT" else [])
        if put and method == "GET":
            for name in filter(is_joined, store.names()):
                store.remove(name)

    store.fickle.answered = remove_once_compared
    with pytest.raises(StoreError):
        await compacted(remote)
    store.fickle.answered = lambda _: None

    assert store.names() == parts
    assert await told(remote) == before


async def test_a_checking_that_meets_a_joining_finds_nothing_wrong(remote, urls, store):
    store.write("notes.txt", b"of somebody")
    async with open_runtime(remote) as archive:
        found = archive.fixity.verify()
        first = await anext(found)

        await archive.compacting.compact()

        assert first.where == "notes.txt"
        later = [each async for each in found]
    assert [each for each in later if each.is_wrong] == []
    assert later
