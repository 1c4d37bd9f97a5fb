import pytest

from archiver.crawl.derived_rows import rebuild_stale
from archiver.db import edit_history
from archiver.errors import InputError, InvalidQuery, NotFound
from archiver.model.annotation import AnnotationChange
from archiver.model.listing import ListingQuery
from archiver.services import editing
from archiver.services.reindex import reindex
from tests.index_access import remove_index


async def add(archive, *urls, **more):
    await archive.entries.save(urls, source="cli", **more)


async def save(archive, *urls, **more):
    await add(archive, *urls, **more)
    await archive.crawling.work()


async def annotation(archive, url):
    return (await archive.entries.get(url)).entry.annotation


async def tags_of(archive):
    return {each.name: each.entry_count for each in await archive.editing.tags()}


async def urls_found(archive, q):
    listing = await archive.search.listing(ListingQuery(q=q))
    return [each.entry.url for each in listing.items]


async def test_an_edit_changes_only_its_fields(archive, live):
    foxes, bears = live.article("foxes"), live.article("bears")
    await add(archive, foxes, bears, tags=("old", "kept"))
    before = await annotation(archive, foxes)

    change = AnnotationChange(
        title=" Mine ", note="n", with_tags=(" new  one ",), without_tags=("old",), is_read=True
    )
    edited = await archive.editing.change([foxes], change)

    after = await annotation(archive, foxes)
    assert (edited.found, edited.changed) == (1, 1)
    assert (after.title, after.note, after.tags) == ("Mine", "n", ("kept", "new one"))
    assert (after.is_read, after.is_starred) == (True, False)
    assert (after.added_at, after.source) == (before.added_at, before.source)
    assert (await annotation(archive, bears)).tags == ("kept", "old")
    assert await tags_of(archive) == {"kept": 2, "new one": 1, "old": 1}


async def test_a_saved_page_is_found_by_an_edited_note_and_still_by_its_text(archive, live):
    url = live.article("foxes")
    await save(archive, url, tags=("animals",))
    await archive.editing.change([url], AnnotationChange(note="a burrow"))

    await rebuild_stale(archive.search._db, archive.search._store)

    assert await urls_found(archive, "note:burrow clever tag:animals") == [url]
    assert await rebuild_stale(archive.search._db, archive.search._store) == 0


async def test_an_invalid_edit_is_refused(archive):
    for change in (
        AnnotationChange(),
        AnnotationChange(title="x" * 2001),
        AnnotationChange(note="x" * 100_001),
        AnnotationChange(with_tags=("x" * 101,)),
    ):
        with pytest.raises(InputError):
            await archive.editing.change(["http://a.example/"], change)


async def test_all_that_a_search_finds_is_changed_in_stretches(archive, live, monkeypatch):
    monkeypatch.setattr(editing, "BATCH", 2)
    animals = [live.article(name) for name in ("foxes", "bears", "hares", "moles", "voles")]
    await save(archive, *animals, live.url("/missing"), tags=("animal",))

    edited = await archive.editing.change_matching(
        ListingQuery(q="tag:animal -url:missing"), AnnotationChange(is_starred=True)
    )

    assert (edited.found, edited.changed) == (5, 5)
    assert sorted(await urls_found(archive, "is:starred")) == sorted(animals)
    with pytest.raises(InvalidQuery):
        await archive.editing.change_matching(
            ListingQuery(q="colour:red"), AnnotationChange(is_read=True)
        )


async def test_an_undo_keeps_later_changes(archive, live):
    foxes, bears = live.article("foxes"), live.article("bears")
    await add(archive, foxes, bears, tags=("one",))
    before = await annotation(archive, foxes)
    edited = await archive.editing.change(
        [foxes, bears], AnnotationChange(title="T", tags=("two",), is_read=True)
    )
    await archive.editing.change([bears], AnnotationChange(note="later"))

    undone = await archive.editing.undo(edited.id)

    assert (undone.found, undone.changed) == (2, 1)
    assert await annotation(archive, foxes) == before
    assert (await annotation(archive, bears)).tags == ("two",)
    assert await tags_of(archive) == {"one": 1, "two": 1}
    with pytest.raises(NotFound):
        await archive.editing.undo(edited.id)


async def test_the_newest_edits_can_be_undone(archive, live, monkeypatch):
    monkeypatch.setattr(edit_history, "MAX_EDITS", 3)
    foxes = live.article("foxes")
    await add(archive, foxes)
    edits = [
        (await archive.editing.change([foxes], AnnotationChange(title=str(n)))).id
        for n in range(edit_history.MAX_EDITS + 1)
    ]

    assert await archive.editing.find(edits[0]) is None
    assert (await archive.editing.find(edits[1])).changed == 1


COMPOSED, DECOMPOSED = "Caf\u00e9", "cafe\u0301"


async def test_tags_that_differ_in_case_or_unicode_form_are_one_tag(archive, live):
    foxes, bears = live.article("foxes"), live.article("bears")
    await add(archive, foxes, tags=("Old", COMPOSED, "STRASSE", "cafe"))
    await add(archive, bears, tags=("old", "OLD", DECOMPOSED, "straße", "new"))
    change = AnnotationChange(with_tags=("NEW", "oLd"), without_tags=("cafÉ",))
    assert (await archive.editing.change([bears], change)).changed == 1
    await archive.editing.change([bears], AnnotationChange(tags=("oLd", "strasse", "NEW")))
    await archive.editing.change([foxes], AnnotationChange(without_tags=("old",)))
    await archive.editing.change([foxes], AnnotationChange(with_tags=("NEW", "oLD")))

    assert (await annotation(archive, foxes)).tags == (COMPOSED, "Old", "STRASSE", "cafe", "new")
    assert (await annotation(archive, bears)).tags == ("Old", "STRASSE", "new")
    counts = {COMPOSED: 1, "Old": 2, "STRASSE": 2, "cafe": 1, "new": 2}
    assert await tags_of(archive) == counts
    listing = await archive.search.listing(ListingQuery(tag="CAFE\u0301"))
    assert [each.entry.url for each in listing.items] == [foxes]
    assert await urls_found(archive, "tag:OLD") == [bears, foxes]
    similar = {each.name: each.similar for each in await archive.editing.tags() if each.similar}
    assert similar == {COMPOSED: ("cafe",), "cafe": (COMPOSED,)}


async def test_a_tag_is_renamed_in_all_entries(open_archive, settings, live, monkeypatch):
    monkeypatch.setattr(editing, "BATCH", 1)
    foxes, bears, hares = (live.article(each) for each in ("foxes", "bears", "hares"))
    async with open_archive() as archive:
        await save(archive, foxes, bears, hares, tags=("old",))
        await archive.editing.change([hares], AnnotationChange(without_tags=("old",)))

        edited = await archive.editing.rename_tag("OLD", "Old")

        assert (edited.found, edited.changed) == (2, 2)
        assert await tags_of(archive) == {"Old": 2}
        await archive.editing.undo(edited.id)
        assert await tags_of(archive) == {"old": 2}
        await archive.editing.rename_tag("old", "OLD")
        assert (await archive.editing.delete_tag("x")).found == 0
        await archive.crawling.write_pending_records()
    remove_index(settings.data)
    await reindex(settings)
    async with open_archive() as archive:
        assert await tags_of(archive) == {"OLD": 2}
        await archive.editing.delete_tag("old")
        await archive.editing.change([foxes], AnnotationChange(with_tags=("Old",)))
        assert await tags_of(archive) == {"Old": 1}


async def test_the_number_of_an_edit_is_never_reused(archive, live):
    foxes, bears = live.article("foxes"), live.article("bears")
    await add(archive, foxes, bears)
    first = await archive.editing.change([foxes], AnnotationChange(title="1"))
    await archive.editing.undo(first.id)
    second = await archive.editing.change([bears], AnnotationChange(title="2"))

    with pytest.raises(NotFound):
        await archive.editing.undo(first.id)
    assert second.id > first.id
    assert (await annotation(archive, bears)).title == "2"


async def test_the_number_of_tags_is_limited(archive, live):
    foxes = live.article("foxes")
    await add(archive, foxes, tags=[f"a{n}" for n in range(60)])

    more = tuple(f"b{n}" for n in range(60))
    with pytest.raises(InputError):
        await archive.editing.change([foxes], AnnotationChange(with_tags=more))

    assert len((await annotation(archive, foxes)).tags) == 60
