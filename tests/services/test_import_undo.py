"""Undoing an import removes what only it brought, and leaves what anybody else said or keeps."""

import io
import re
from itertools import permutations

import pytest

from archiver.errors import InputError, NotFound
from archiver.model.annotation_change import AnnotationChange
from archiver.model.listing import ListingQuery
from archiver.services.reindexing import reindex
from tests.indices import remove_index

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


async def said(archive, url):
    return (await archive.entries.get(url)).entry.annotation


async def urls(archive):
    listing = await archive.search.listing(ListingQuery())
    return {each.entry.url for each in listing.items}


async def test_undoing_removes_what_only_the_import_brought_and_takes_back_what_it_added(archive):
    await imported(archive, MINE)
    before = await said(archive, "http://a.example/1")
    theirs = await imported(archive, THEIRS)
    plan = await archive.import_undo.plan(theirs.id)

    done = await archive.import_undo.undo(theirs.id)

    assert (plan.removed, plan.changed) == (2, 1)
    assert (done.removed, done.changed, done.is_done) == (2, 1, True)
    assert await urls(archive) == {"http://a.example/1"}
    assert await said(archive, "http://a.example/1") == before
    status = await archive.imports.status(theirs.id)
    assert (status.undone, status.is_open, status.added) == (done, False, 2)
    assert (await archive.import_undo.undo(theirs.id)).removed == 2


async def test_what_was_undone_is_gone_after_a_reindex_and_can_be_put_back_before(archive, opened):
    await imported(archive, MINE)
    await archive.crawling.work()
    theirs = await imported(archive, THEIRS)
    done = await archive.import_undo.undo(theirs.id)
    await archive.deleting.undo(done.deletion)
    assert await urls(archive) == {f"http://a.example/{n}" for n in (1, 2, 3)}
    assert (await archive.imports.status(theirs.id)).is_put_back
    again = await archive.import_undo.undo(theirs.id)

    assert (again.removed, again.changed) == (2, 1)
    assert not (await archive.imports.status(theirs.id)).is_put_back
    assert await urls(archive) == {"http://a.example/1"}


async def test_an_undone_import_stays_away_after_a_reindex(opened, settings):
    async with opened() as archive:
        await imported(archive, MINE)
        before = await said(archive, "http://a.example/1")
        theirs = await imported(archive, THEIRS)
        await archive.crawling.work()
        await archive.import_undo.undo(theirs.id)
        await archive.crawling.write_down_changes()

    await reindex(settings)

    async with opened() as archive:
        assert await urls(archive) == {"http://a.example/1"}
        assert await said(archive, "http://a.example/1") == before


async def test_an_import_that_its_receipt_alone_tells_of_is_not_undone_and_it_is_said_why(
    opened, settings
):
    async with opened() as archive:
        theirs = await imported(archive, THEIRS)
        await archive.crawling.work()
        await archive.crawling.write_down_changes()
    remove_index(settings.data)

    await reindex(settings)

    async with opened() as archive:
        assert len(await urls(archive)) == 3
        for undo in (archive.import_undo.plan, archive.import_undo.undo):
            with pytest.raises(InputError, match="what undoing needs is not in them") as refused:
                await undo(theirs.id)
        search = re.search(r"the search (\S+) finds", str(refused.value))[1]
        listing = await archive.search.listing(ListingQuery(q=search))
        assert {each.entry.url for each in listing.items} == await urls(archive)


async def test_what_a_reindex_carried_over_is_undone_however_little_it_is(opened, settings):
    async with opened() as archive:
        theirs = await imported(archive, THEIRS)
        await archive.entries.save(
            [f"http://a.example/{n}" for n in (1, 2, 3)], tags=("kept",), source="web"
        )

    await reindex(settings)

    async with opened() as archive:
        assert (await archive.import_undo.undo(theirs.id)).removed == 0


async def test_what_a_person_saved_or_changed_since_stays(archive):
    theirs = await imported(archive, THEIRS)
    await archive.entries.save(["http://a.example/1"], tags=["kept"], source="web")
    await archive.editing.change(["http://a.example/3"], AnnotationChange(is_starred=True))

    await archive.import_undo.undo(theirs.id)

    assert await urls(archive) == {"http://a.example/1", "http://a.example/3"}
    assert (await said(archive, "http://a.example/1")).tags == ("kept",)
    assert (await said(archive, "http://a.example/3")).tags == ("theirs",)


async def test_what_another_import_names_too_stays_with_what_that_says(archive):
    theirs = await imported(archive, THEIRS)
    await imported(archive, MINE)

    await archive.import_undo.undo(theirs.id)

    left = await said(archive, "http://a.example/1")
    assert await urls(archive) == {"http://a.example/1"}
    assert (left.tags, left.folders, left.note) == (("Here", "mine"), ("Here",), "own")


async def test_what_two_imports_named_goes_when_both_are_undone(archive):
    first = await imported(archive, THEIRS)
    second = await imported(archive, THEIRS)
    await imported(archive, MINE)
    plans = [await archive.import_undo.plan(each.id) for each in (first, second)]

    undone = [await archive.import_undo.undo(each.id) for each in (first, second)]

    assert [each.removed for each in plans] == [0, 0]
    assert [(each.removed, each.changed) for each in undone] == [(0, 0), (2, 1)]
    left = await said(archive, "http://a.example/1")
    assert (await urls(archive), left.tags) == (
        {"http://a.example/1"},
        ("Here", "mine"),
    )


async def test_what_is_none_or_holds_captures_is_not_undone(archive, tmp_path):
    with pytest.raises(NotFound):
        await archive.import_undo.plan(99)

    warc = b"WARC/1.0\r\nWARC-Type: warcinfo\r\nContent-Length: 0\r\n\r\n\r\n\r\n"
    path = tmp_path / "x.warc"
    path.write_bytes(warc)
    with path.open("rb") as source:
        status = await archive.imports.read_file(source, name="x.warc")
    with pytest.raises(InputError, match="captures"):
        await archive.import_undo.undo(status.id)


async def test_failures_of_an_import_are_grouped_and_tried_again(archive):
    await imported(archive, "url,title\nhttp://127.0.0.1:1/mine,x\n", name="before.csv")
    table = "url,title\nhttp://127.0.0.1:1/a,x\nhttp://127.0.0.1:1/b,x\n"
    status = await imported(archive, table)
    await archive.crawling.work()

    (failed,) = await archive.oversight.failures_of(status.id)
    queued = await archive.oversight.try_again(failed.reason, status.id)

    assert (failed.reason, failed.entries, queued) == ("refused", 2, 2)
    after = await archive.imports.status(status.id)
    assert (after.counts.queued, after.counts.failed) == (2, 0)
    await archive.crawling.work()
    ended = await archive.imports.status(status.id)
    assert (ended.counts.open, ended.counts.failed, ended.added) == (0, 2, 2)


async def test_failures_of_an_import_are_told_and_tried_again_once_it_was_put_back(archive):
    table = "url,title\nhttp://127.0.0.1:1/a,x\nhttp://127.0.0.1:1/b,x\n"
    status = await imported(archive, table)
    await archive.crawling.work()
    before = await archive.oversight.failures_of(status.id)
    done = await archive.import_undo.undo(status.id)
    assert await archive.oversight.failures_of(status.id) == ()

    await archive.deleting.undo(done.deletion)

    assert await archive.oversight.failures_of(status.id) == before
    assert await archive.oversight.try_again("refused", status.id) == 2
    await archive.crawling.work()
    assert (await archive.imports.status(status.id)).counts.failed == 2


A = (
    "url,tags,folder\nhttp://a.example/1,a,Here/Deep\nhttp://a.example/2,a,Here\n"
    "http://a.example/1,again,Here\n"
)
B = "url,tags,folder\nhttp://a.example/2,b,There\nhttp://a.example/3,b,Here/Deep\n"
SAYS = {
    A: {"1": {"a", "again", "Here", "Deep"}, "2": {"a", "Here"}},
    B: {"2": {"b", "There"}, "3": {"b", "Here", "Deep"}},
}
LISTS = {A: {"Here", "Here/Deep"}, B: {"Here", "Here/Deep", "There"}}


async def held(archive):
    """What is said of each entry, and the lists."""
    listing = await archive.search.listing(ListingQuery())
    tags = {each.entry.url[-1]: {*each.entry.annotation.tags} for each in listing.items}
    return tags, {each.path for each in await archive.lists.all()}


def expected(files):
    tags = {}
    for file in files:
        for name, said_there in SAYS[file].items():
            tags[name] = tags.get(name, set()) | said_there
    return tags, {path for file in files for path in LISTS[file]}


@pytest.mark.parametrize("order", [*permutations(range(3))])
async def test_what_is_there_is_what_the_imports_brought_that_are_not_undone(archive, order):
    live = {}
    for file in (A, B, A):
        live[(await imported(archive, file)).id] = file
    numbers = [*live]

    for place in order:
        await archive.import_undo.undo(numbers[place])
        del live[numbers[place]]
        assert await held(archive) == expected(live.values())


async def test_an_empty_list_that_two_imports_name_goes_with_the_last_of_them(archive):
    lists = '{"archiver": 1, "lists": [{"path": "Soups"}, {"path": "Soups/Cold"}], "entries": []}'
    first, second = [await imported(archive, lists, "x.json") for _ in range(2)]
    plans = [await archive.import_undo.plan(each.id) for each in (first, second)]

    await archive.import_undo.undo(first.id)
    between = await held(archive)
    alone = await archive.import_undo.plan(second.id)
    await archive.import_undo.undo(second.id)

    assert [each.lists for each in plans] == [0, 0]
    assert (between, alone.lists) == (({}, {"Soups", "Soups/Cold"}), 2)
    assert await held(archive) == ({}, set())


async def test_a_list_that_a_person_has_made_or_filled_stays_when_it_is_empty(archive):
    await archive.lists.make("There")
    both = [await imported(archive, file) for file in (A, B)]
    await archive.entries.save(["http://mine.example/"], source="web")
    change = AnnotationChange(with_lists=("Here",))
    await archive.editing.change(["http://mine.example/"], change)
    await archive.deleting.entries(["http://mine.example/"])

    for each in both:
        await archive.import_undo.undo(each.id)

    assert await held(archive) == ({}, {"Here", "There"})


async def test_whose_a_list_is_is_known_after_a_reindex_and_what_is_undone_stays_away(
    opened, settings
):
    async with opened() as archive:
        await archive.lists.make("Mine")
        await imported(archive, A)
        first = await imported(archive, B)
        await archive.crawling.work()
    await reindex(settings)
    async with opened() as archive:
        await archive.import_undo.undo(first.id)
        assert await held(archive) == (SAYS[A], {"Mine", *LISTS[A]})
        await archive.crawling.write_down_changes()
    await reindex(settings)
    async with opened() as archive:
        assert await held(archive) == (SAYS[A], {"Mine", *LISTS[A]})
