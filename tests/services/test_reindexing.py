import sqlite3
from contextlib import closing

import pytest

from archiver.errors import ConfigurationError
from archiver.model.listing import ListingQuery
from archiver.services.reindexing import reindex
from tests.indices import remove_index
from tests.segments import change_segment, segments


async def told(archive):
    """All that a person sees of an archive."""
    listing = await archive.search.listing(ListingQuery(limit=200))
    names = [each.entry.hash_url for each in listing.items]
    details = [await archive.entries.get(name) for name in names]
    texts = [await archive.exports.index_md(name) for name in names]
    found = await archive.search.listing(ListingQuery(q="clever"))
    return (
        [each.entry for each in listing.items],
        [detail.snapshots for detail in details],
        texts,
        [each.entry.url for each in found.items],
        await archive.search.tags(),
    )


async def problems(archive):
    return [finding async for finding in archive.fixity.verify()]


def write_index(settings, content):
    (settings.data / "archive.sqlite3").write_bytes(content)


def spoil_table(settings, name):
    path = settings.data / "archive.sqlite3"
    with closing(sqlite3.connect(path)) as conn:
        (size,) = conn.execute("PRAGMA page_size").fetchone()
        known = "SELECT rootpage FROM sqlite_master WHERE name = ?"
        (page,) = conn.execute(known, [name]).fetchone()
    content = bytearray(path.read_bytes())
    content[(page - 1) * size : page * size] = b"\xff" * size
    write_index(settings, content)


async def save(archive, *urls, **more):
    await archive.entries.save(urls, source="cli", **more)
    await archive.crawling.work()


@pytest.mark.parametrize("without", [False, True])
async def test_everything_that_was_captured_is_given_back(live, settings, opened, without):
    async with opened() as archive:
        await save(archive, live.article("foxes"), live.article("bears"), tags=("a", "b"))
        await save(archive, live.article("foxes"), live.url("/missing"))
        await save(archive, live.article("bears", body="<p>And one more thing, clever one."))
        before = await told(archive)

    if without:
        remove_index(settings.data)
    report = await reindex(settings)

    assert (report.snapshots, report.queued, report.problems) == (4, 0, ())
    async with opened() as archive:
        assert await told(archive) == before
        assert await problems(archive) == []


async def test_what_is_still_queued_keeps_its_place_and_all_that_was_said_of_it(
    live, settings, opened
):
    async with opened() as archive:
        await save(archive, live.article("foxes"))
        await archive.entries.save(
            [live.article("bears"), live.article("foxes")], tags=("t",), source="cli"
        )
        before = await told(archive)

    report = await reindex(settings)

    assert report.queued == 2
    async with opened() as archive:
        assert (await told(archive))[:2] == before[:2]
        await archive.crawling.work()
        entries, snapshots, *_ = await told(archive)
    assert {entry.url: len(found) for entry, found in zip(entries, snapshots, strict=True)} == {
        live.url("/bears"): 1,
        live.url("/foxes"): 2,
    }


async def test_what_was_said_after_the_last_record_is_kept(live, settings, opened, tmp_path):
    links = tmp_path / "links.html"
    url = live.article("foxes")
    links.write_text(
        "<!DOCTYPE NETSCAPE-Bookmark-file-1>\n<DL><p>\n"
        f'<DT><A HREF="{url}" TAGS="late,later">Given</A>\n<DD>A note\n</DL>'
    )
    async with opened() as archive:
        await save(archive, url)
        with links.open("rb") as source:
            status = await archive.imports.read_file(source, name="links.html")
        assert status.merged == 1
        ((before,), *_) = await told(archive)

    await reindex(settings)

    async with opened() as archive:
        ((after,), *_) = await told(archive)
        assert (after.title, after.annotation.tags, after.annotation.note) == (
            "Given",
            ("late", "later"),
            "A note",
        )
        assert after == before
        await archive.crawling.work()
    remove_index(settings.data)
    await reindex(settings)
    async with opened() as archive:
        assert (await told(archive))[0][0].annotation.tags == ("late", "later")


async def test_an_index_in_use_is_not_replaced(live, settings, opened):
    async with opened() as archive:
        await save(archive, live.article("foxes"))

        with pytest.raises(ConfigurationError, match="in use by another process"):
            await reindex(settings)

        assert len((await told(archive))[0]) == 1


async def test_an_index_that_is_no_database_is_built_anew(live, settings, opened):
    async with opened() as archive:
        await save(archive, live.article("foxes"))
        before = await told(archive)
    remove_index(settings.data)
    write_index(settings, b"no database at all" * 1000)

    await reindex(settings)

    async with opened() as archive:
        assert await told(archive) == before


@pytest.mark.sqlite("a file that is damaged")
async def test_an_index_that_breaks_off_in_the_middle_is_built_anew_and_said(
    live, settings, opened
):
    async with opened() as archive:
        await save(archive, live.article("foxes"))
        before = await told(archive)
    spoil_table(settings, "job")

    report = await reindex(settings)

    assert [finding.where for finding in report.problems] == ["the old index"]
    async with opened() as archive:
        assert await told(archive) == before


async def test_a_segment_that_is_damaged_gives_back_all_the_rest_and_is_told_of(
    live, settings, opened
):
    async with opened() as archive:
        await save(archive, live.article("foxes"))
    before = segments(settings.data)
    async with opened() as archive:
        await save(archive, live.article("bears"))
    (first,) = before

    def damage(content):
        content[len(content) // 2] ^= 0xFF

    change_segment(settings.data, first, damage)
    remove_index(settings.data)

    report = await reindex(settings)

    assert report.problems
    async with opened() as archive:
        entries, *_ = await told(archive)
        assert live.url("/bears") in {entry.url for entry in entries}
