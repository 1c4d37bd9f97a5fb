import sqlite3
from contextlib import closing

import pytest

from archiver.app import open_app
from archiver.config import Settings
from archiver.errors import ConfigurationError, RecordsMissing
from archiver.model.annotation import AnnotationChange
from archiver.model.listing import ListingQuery
from archiver.services.reindex import reindex
from tests.conftest import live_web, saved_url
from tests.index_access import remove_index
from tests.segments import change_segment, damage_record, segments, storage_of


async def content_of(archive):
    """Return everything that a user sees of an archive.

    Entries are sorted by URL: those of the same second are listed in the order of their records.
    """
    listing = await archive.search.listing(ListingQuery(limit=200))
    entries = sorted((each.entry for each in listing.items), key=lambda entry: entry.url)
    names = [each.hash_url for each in entries]
    details = [await archive.entries.get(name) for name in names]
    texts = [await archive.exporting.index_md(name) for name in names]
    results = await archive.search.listing(ListingQuery(q="clever"))
    return (
        entries,
        [detail.snapshots for detail in details],
        texts,
        {each.entry.url for each in results.items},
        await archive.editing.tags(),
    )


async def problems(archive):
    return [finding async for finding in archive.fixity.verify()]


def write_index(settings, content):
    (settings.data / "archive.sqlite3").write_bytes(content)


def spoil_table(settings, name):
    path = settings.data / "archive.sqlite3"
    with closing(sqlite3.connect(path)) as conn:
        (size,) = conn.execute("PRAGMA page_size").fetchone()
        root_page_query = "SELECT rootpage FROM sqlite_master WHERE name = ?"
        (page,) = conn.execute(root_page_query, [name]).fetchone()
    content = bytearray(path.read_bytes())
    content[(page - 1) * size : page * size] = b"\xff" * size
    write_index(settings, content)


async def save(archive, *urls, **more):
    await archive.entries.save(urls, source="cli", **more)
    await archive.crawling.work()


async def test_everything_that_was_captured_is_given_back(live, settings, open_archive):
    async with open_archive() as archive:
        await save(archive, live.article("foxes"), live.article("bears"), tags=("a", "b"))
        await save(archive, live.article("foxes"), live.url("/missing"))
        await save(archive, live.article("bears", body="<p>And one more thing, clever one."))
        before = await content_of(archive)

    for has_index in (True, False):
        if not has_index:
            remove_index(settings.data)
        report = await reindex(settings)

        assert (report.snapshots, report.queued, report.problems) == (4, 0, ())
        async with open_archive() as archive:
            assert await content_of(archive) == before
            assert await problems(archive) == []


async def test_queued_entries_keep_their_position_and_metadata(live, settings, open_archive):
    async with open_archive() as archive:
        await save(archive, live.article("foxes"))
        await archive.entries.save(
            [live.article("bears"), live.article("foxes")], tags=("t",), source="cli"
        )
        before = await content_of(archive)

    report = await reindex(settings)

    assert report.queued == 2
    async with open_archive() as archive:
        assert (await content_of(archive))[:2] == before[:2]
        await archive.crawling.work()
        entries, snapshots, *_ = await content_of(archive)
    assert {entry.url: len(result) for entry, result in zip(entries, snapshots, strict=True)} == {
        live.url("/bears"): 1,
        live.url("/foxes"): 2,
    }


async def test_metadata_changed_after_the_last_record_is_kept(
    live, settings, open_archive, tmp_path
):
    links = tmp_path / "links.html"
    url = live.article("foxes")
    links.write_text(
        "<!DOCTYPE NETSCAPE-Bookmark-file-1>\n<DL><p>\n"
        f'<DT><A HREF="{url}" TAGS="late,later">Given</A>\n<DD>A note\n</DL>'
    )
    async with open_archive() as archive:
        await save(archive, url)
        with links.open("rb") as source:
            status = await archive.imports.read_file(source, name="links.html")
        assert status.merged == 1
        ((before,), *_) = await content_of(archive)

    await reindex(settings)

    async with open_archive() as archive:
        ((after,), *_) = await content_of(archive)
        assert (after.title, after.annotation.tags, after.annotation.note) == (
            "Given",
            ("late", "later"),
            "A note",
        )
        assert after == before
        await archive.crawling.work()
    remove_index(settings.data)
    await reindex(settings)
    async with open_archive() as archive:
        assert (await content_of(archive))[0][0].annotation.tags == ("late", "later")


async def test_an_index_in_use_is_not_replaced(live, settings, open_archive):
    async with open_archive() as archive:
        await save(archive, live.article("foxes"))

        with pytest.raises(ConfigurationError, match="in use by another process"):
            await reindex(settings)

        assert len((await content_of(archive))[0]) == 1


async def test_a_partly_damaged_index_is_rebuilt_and_reported(live, settings, open_archive):
    async with open_archive() as archive:
        await save(archive, live.article("foxes"))
        before = await content_of(archive)
    spoil_table(settings, "job")

    report = await reindex(settings)

    assert {finding.where for finding in report.problems} == {"the old index"}
    assert report.kept == ("archive.sqlite3.old-damaged",)
    async with open_archive() as archive:
        assert await content_of(archive) == before


async def test_the_rest_of_a_damaged_segment_is_indexed_and_reported(live, settings, open_archive):
    async with open_archive() as archive:
        await save(archive, live.article("foxes"))
    before = segments(settings.data)
    async with open_archive() as archive:
        await save(archive, live.article("bears"))
    (first,) = before

    def damage(content):
        content[len(content) // 2] ^= 0xFF

    change_segment(settings.data, first, damage)
    remove_index(settings.data)

    report = await reindex(settings)

    assert report.problems
    async with open_archive() as archive:
        entries, *_ = await content_of(archive)
        assert live.url("/bears") in {entry.url for entry in entries}


async def save_in_two_segments(data):
    async with live_web() as live:
        (data / "origin").parent.mkdir(parents=True, exist_ok=True)
        (data / "origin").write_text(live.origin)
        names = []
        for name in ("foxes", "bears"):
            settings = Settings(data=data, allow_networks="127.0.0.0/8", host_delay=0)
            async with open_app(settings) as archive:
                await save(archive, live.article(name))
            names += [each for each in segments(data) if each not in names]
        (data / "segments").write_text("\n".join(names))


@pytest.fixture
async def saved(prepared, settings, open_archive):
    """An archive with two segments; its visible content, and the names of the segments."""
    await prepared.copy(save_in_two_segments, settings.data)
    async with open_archive() as archive:
        return await content_of(archive), (settings.data / "segments").read_text().split()


async def refused(settings):
    """Return the message of a refused reindex."""
    with pytest.raises(RecordsMissing) as error:
        await reindex(settings)
    assert not list(settings.data.glob("archive.sqlite3.new*"))
    return str(error.value)


async def test_reindex_refuses_without_the_segments_that_the_index_uses(
    saved, settings, open_archive
):
    before, names = saved
    (settings.data / "warc").rename(settings.data / "unmounted")

    message = await refused(settings)

    assert all(f"{name}: It is missing." in message for name in names)
    assert "--accept-missing" in message
    assert not segments(settings.data)
    (settings.data / "unmounted").rename(settings.data / "warc")
    async with open_archive() as archive:
        assert await content_of(archive) == before


async def test_reindex_names_a_missing_a_short_and_an_unusable_segment(
    saved, settings, open_archive
):
    before, (first, second) = saved
    content = (settings.data / "warc" / second).read_bytes()
    (settings.data / "warc" / first).rename(settings.data / first)
    (settings.data / "warc" / first).mkdir()
    (settings.data / "warc" / second).write_bytes(content[:-100])

    message = await refused(settings)

    assert f"{first}: It is not a regular file." in message
    assert f"{second}: It has {len(content) - 100:,} bytes of at least {len(content):,}." in message
    (settings.data / "warc" / second).write_bytes(b"")
    assert f"{second}: It has 0 bytes of at least {len(content):,}." in await refused(settings)
    (settings.data / "warc" / first).rmdir()
    (settings.data / first).rename(settings.data / "warc" / first)
    (settings.data / "warc" / second).write_bytes(content)
    async with open_archive() as archive:
        assert await content_of(archive) == before


async def test_accept_missing_keeps_data_of_the_old_index_and_marks_snapshots_as_lost(
    saved, settings, open_archive
):
    _, (first, _) = saved
    foxes = saved_url(settings, "/foxes")
    async with open_archive() as archive:
        await archive.editing.change(
            [foxes], AnnotationChange(title="Mine", note="A note", tags=("t",))
        )
    storage_of(settings.data).remove(first)
    assert f"{first}: It is missing." in await refused(settings)

    report = await reindex(settings, accept_missing=True)

    assert (report.segments, report.snapshots, report.lost) == (1, 1, 1)
    assert report.kept == ("archive.sqlite3.old-complete",)
    async with open_archive() as archive:
        lost = (await archive.entries.get(foxes)).entry
        assert (lost.title, lost.annotation.note, lost.annotation.tags) == (
            "Mine",
            "A note",
            ("t",),
        )
        assert (lost.state, lost.failure.kind) == ("failed", "lost")
        assert (await archive.entries.get(saved_url(settings, "/bears"))).entry.state == "saved"
        await archive.crawling.write_pending_records()
    remove_index(settings.data)
    await reindex(settings)
    async with open_archive() as archive:
        assert (await archive.entries.get(foxes)).entry.title == "Mine"


async def test_an_edit_whose_record_is_lost_stays(live, settings, open_archive):
    url = live.article("foxes")
    async with open_archive() as archive:
        await save(archive, url)
    first = {*segments(settings.data)}
    async with open_archive() as archive:
        await archive.editing.change([url], AnnotationChange(title="Mine", tags=("t",)))
        await archive.crawling.write_pending_records()
    (second,) = {*segments(settings.data)} - first
    storage_of(settings.data).remove(second)

    report = await reindex(settings, accept_missing=True)

    assert report.lost == 0
    async with open_archive() as archive:
        entry = (await archive.entries.get(url)).entry
        assert (entry.title, entry.annotation.tags, entry.state) == ("Mine", ("t",), "saved")


async def test_a_snapshot_with_a_damaged_metadata_record_gets_a_new_one(
    live, settings, open_archive
):
    url = live.article("foxes", head=f'<link rel="stylesheet" href="{live.put("/s.css", "a{}")}">')
    async with open_archive() as archive:
        await save(archive, url, tags=("t",), title="Mine")
        before = await content_of(archive)
    damage_record(settings.data, "metadata", before[0][0].hash_url)

    report = await reindex(settings)

    assert (report.lost, len(report.problems)) == (0, 1)
    async with open_archive() as archive:
        await archive.articles.read_all()
    remove_index(settings.data)
    await reindex(settings)
    async with open_archive() as archive:
        entries, _, texts, result, tags = await content_of(archive)
        detail = await archive.entries.snapshot(url)
    assert (texts, result, tags) == (before[2], before[3], before[4])
    assert entries[0].annotation == before[0][0].annotation
    assert [each.url for each in detail.requisites] == [live.url("/s.css")]


async def test_an_index_of_a_version_that_is_not_known_is_left_alone(live, settings, open_archive):
    async with open_archive() as archive:
        await archive.entries.save([live.article("foxes")], source="cli")
    index = settings.data / "archive.sqlite3"
    with closing(sqlite3.connect(index)) as conn, conn:
        conn.execute("UPDATE alembic_version SET version_num = '9999'")
    content = index.read_bytes()

    assert "--accept-missing" in await refused(settings)
    assert index.read_bytes() == content

    report = await reindex(settings, accept_missing=True)
    assert report.kept == ("archive.sqlite3.old-unread",)
    assert (settings.data / "archive.sqlite3.old-unread").read_bytes() == content


async def test_reindex_refuses_to_lose_entries_of_damaged_records(saved, settings, open_archive):
    before, (first, _) = saved
    intact = segments(settings.data)[first]

    def damage(content):
        content[len(content) // 4 : -100] = bytes(len(content) - len(content) // 4 - 100)

    def mend(content):
        content[:] = intact

    change_segment(settings.data, first, damage)

    assert "1 snapshots of the current index" in await refused(settings)

    change_segment(settings.data, first, mend)
    async with open_archive() as archive:
        assert await content_of(archive) == before


async def test_reindex_refuses_to_replace_an_unreadable_index_where_there_are_no_segments(
    saved, settings
):
    content = b"no database at all" * 1000
    remove_index(settings.data)
    write_index(settings, content)
    (settings.data / "warc").rename(settings.data / "unmounted")

    assert "There are no segments in" in await refused(settings)

    assert (settings.data / "archive.sqlite3").read_bytes() == content
