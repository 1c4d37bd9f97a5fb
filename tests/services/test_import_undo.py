"""Undoing an import deletes the entries that only it created, and leaves everything else."""

import io
import re

import pytest

from archiver.errors import InputError, NotFound
from archiver.model.annotation import AnnotationChange
from archiver.model.listing import ListingQuery
from archiver.services.reindex import reindex
from tests.index_access import remove_index

MINE = "url,title,tags,folder,note\nhttp://a.example/1,One,mine,Here,own\n"
THEIRS = (
    "url,title,tags,folder,note,mood\n"
    "http://a.example/1,Uno,mine;theirs,There,theirs,good\n"
    "http://a.example/2,Two,theirs,There,,\n"
    "http://a.example/2#again,Two,twice,,,\n"
    "http://a.example/3,Three,theirs,,,\n"
)


async def imported(archive, text, name="x.csv"):
    return await archive.imports.read_file(io.BytesIO(text.encode()), name=name)


async def annotation_of(archive, url):
    return (await archive.entries.get(url)).entry.annotation


async def urls(archive):
    listing = await archive.search.listing(ListingQuery())
    return {each.entry.url for each in listing.items}


async def lists_of(archive):
    return {each.path for each in await archive.lists.all()}


async def test_undo_deletes_only_what_the_import_created_and_merged_tags_stay(archive):
    await imported(archive, MINE)
    theirs = await imported(archive, THEIRS)
    before = await annotation_of(archive, "http://a.example/1")
    plan = await archive.import_undo.plan(theirs.id)

    done = await archive.import_undo.undo(theirs.id)

    assert (plan.removed, done.removed, done.is_done) == (2, 2, True)
    assert await urls(archive) == {"http://a.example/1"}
    assert await annotation_of(archive, "http://a.example/1") == before
    assert "theirs" in before.tags
    status = await archive.imports.status(theirs.id)
    assert (status.undone, status.is_open, status.added) == (done, False, 2)
    assert (await archive.import_undo.undo(theirs.id)).removed == 2


async def test_an_undone_import_can_be_restored_and_undone_again(archive):
    await imported(archive, MINE)
    await archive.crawling.work()
    theirs = await imported(archive, THEIRS)
    done = await archive.import_undo.undo(theirs.id)
    await archive.deleting.undo(done.deletion)
    assert await urls(archive) == {f"http://a.example/{n}" for n in (1, 2, 3)}
    assert (await archive.imports.status(theirs.id)).is_restored
    again = await archive.import_undo.undo(theirs.id)

    assert again.removed == 2
    assert not (await archive.imports.status(theirs.id)).is_restored
    assert await urls(archive) == {"http://a.example/1"}


async def test_an_import_known_only_from_its_report_cannot_be_undone(open_archive, settings):
    async with open_archive() as archive:
        theirs = await imported(archive, THEIRS)
        await archive.crawling.work()
        await archive.crawling.write_pending_records()
    remove_index(settings.data)

    await reindex(settings)

    async with open_archive() as archive:
        assert len(await urls(archive)) == 3
        for undo in (archive.import_undo.plan, archive.import_undo.undo):
            with pytest.raises(InputError, match="the index was rebuilt") as refused:
                await undo(theirs.id)
        search = re.search(r"search for (import:\S+?)\.?$", str(refused.value))[1]
        listing = await archive.search.listing(ListingQuery(q=search))
        assert {each.entry.url for each in listing.items} == await urls(archive)


async def test_an_undo_keeps_entries_that_the_user_saved_or_changed(archive):
    theirs = await imported(archive, THEIRS)
    await archive.entries.save(["http://a.example/1"], tags=["kept"], source="web")
    await archive.editing.change(["http://a.example/3"], AnnotationChange(is_starred=True))

    await archive.import_undo.undo(theirs.id)

    assert await urls(archive) == {"http://a.example/1", "http://a.example/3"}


async def test_unknown_imports_and_imports_of_captures_cannot_be_undone(archive, tmp_path):
    with pytest.raises(NotFound):
        await archive.import_undo.plan(99)

    warc = b"WARC/1.0\r\nWARC-Type: warcinfo\r\nContent-Length: 0\r\n\r\n\r\n\r\n"
    path = tmp_path / "x.warc"
    path.write_bytes(warc)
    with path.open("rb") as source:
        status = await archive.imports.read_file(source, name="x.warc")
    with pytest.raises(InputError, match="captures"):
        await archive.import_undo.undo(status.id)


async def test_empty_lists_that_only_the_import_created_are_deleted(archive):
    lists = '{"archiver": 1, "lists": [{"path": "Soups"}, {"path": "Soups/Cold"}], "entries": []}'
    first = await imported(archive, lists, "x.json")
    plan = await archive.import_undo.plan(first.id)

    await archive.import_undo.undo(first.id)

    assert (plan.lists, await lists_of(archive)) == (2, set())


async def test_the_entries_that_an_import_created_are_known_after_a_reindex(open_archive, settings):
    async with open_archive() as archive:
        await archive.lists.make("Mine")
        first = await imported(archive, THEIRS)
        await archive.crawling.work()
    await reindex(settings)
    async with open_archive() as archive:
        await archive.import_undo.undo(first.id)
        assert (await urls(archive), await lists_of(archive)) == (set(), {"Mine"})
        await archive.crawling.write_pending_records()
    await reindex(settings)
    async with open_archive() as archive:
        assert (await urls(archive), await lists_of(archive)) == (set(), {"Mine"})
