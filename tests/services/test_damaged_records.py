"""If a record that can be made again is damaged, everything shown of its entry stays."""

from contextlib import aclosing
from dataclasses import replace

import pytest

from archiver.errors import NotFound
from archiver.model.listing import ListingQuery
from archiver.replay.addresses import Modifier, ReplayAddress
from archiver.replay.response import ReplayRequest
from tests.conftest import filled_by, saved_url
from tests.handmade_archive import VIEWER
from tests.segments import damage_record


async def replayed(archive, url, timestamp=""):
    """Return the body of a URL as replayed."""
    capture = await archive.replay.resolve(ReplayAddress(timestamp, Modifier.IDENTITY, url))
    result = await archive.replay.open(capture, ReplayRequest(VIEWER, Modifier.IDENTITY))
    async with aclosing(result.body) as body:
        return b"".join([each async for each in body]).decode()


async def save_page(archive, live):
    sheet = f'<link rel="stylesheet" href="{live.put("/s.css", "a{}")}">'
    await archive.entries.save([live.article("foxes", head=sheet)], source="cli", tags=("t",))
    await archive.crawling.work()


@pytest.fixture
async def saved(prepared, settings, open_archive):
    """The URL of a saved page, and its snapshot."""
    await prepared.copy(filled_by(save_page), settings.data)
    url = saved_url(settings, "/foxes")
    async with open_archive() as archive:
        return url, await archive.entries.snapshot(url)


async def test_damaged_derived_records_are_made_again_from_the_response(
    saved, settings, open_archive
):
    url, before = saved
    for kind in ("metadata", "conversion"):
        damage_record(settings.data, kind, before.entry.hash_url)

    async with open_archive() as archive:
        first = await archive.entries.snapshot(url)
        assert first.entry.annotation == before.entry.annotation
        assert first.is_unreadable
        for each in before.renditions:
            with pytest.raises(NotFound):
                await archive.entries.rendition(url, before.snapshot.timestamp, each.kind)
        await archive.articles.read_all()
        after = await archive.entries.snapshot(url)
        problems = [each async for each in archive.fixity.verify()]

    assert (after.article, after.requisites) == (before.article, before.requisites)
    assert not after.is_unreadable
    # The damaged records stay in their segment, side by side; nothing refers to them any more.
    assert len(problems) == 1


async def test_a_recapture_does_not_refer_to_a_damaged_record(live, settings, open_archive):
    url = live.url("/foxes")
    async with open_archive() as archive:
        await save_page(archive, live)
        before = await archive.entries.snapshot(url)
    for kind in ("response", "conversion"):
        damage_record(settings.data, kind, "")

    async with open_archive() as archive:
        await archive.entries.save([url], source="cli")
        await archive.crawling.work()
        after = await archive.entries.snapshot(url)
        shown = [await replayed(archive, each) for each in (url, live.url("/s.css"))]
        # An earlier snapshot is replayed from the new record of the same payload.
        assert await replayed(archive, url, before.snapshot.timestamp) == shown[0]

    assert after.article == before.article
    assert "foxes has to say" in shown[0]
    assert shown[1] == "a{}"


async def test_compaction_drops_damaged_records_that_nothing_refers_to(
    live, saved, settings, open_archive
):
    url, before = saved
    async with open_archive() as archive:
        await archive.entries.save([live.article("bears")], source="cli")
        await archive.crawling.work()
    for kind in ("conversion", "request"):
        damage_record(settings.data, kind, before.entry.hash_url if kind == "conversion" else "")
    async with open_archive() as archive:
        await archive.entries.snapshot(url)
        await archive.articles.read_all()
        await archive.deleting.entries([live.url("/bears")])
        await archive.crawling.write_pending_records()
        await archive.compacting.compact(empty_bin=True)
        problems = [each async for each in archive.fixity.verify() if each.is_wrong]
        after = await archive.entries.snapshot(url)

    assert (after.article, [each.where for each in problems if "/foxes" in each.where]) == (
        before.article,
        [],
    )


async def test_an_article_in_a_missing_segment_is_not_extracted_again(
    saved, settings, open_archive
):
    url, before = saved
    (segment,) = (settings.data / "warc").iterdir()
    segment.rename(settings.data / "elsewhere")
    async with open_archive() as archive:
        assert (await archive.entries.snapshot(url)).is_unreadable

    (settings.data / "elsewhere").rename(segment)
    async with open_archive() as archive:
        assert (await archive.entries.snapshot(url)).article == before.article


async def test_a_page_whose_article_cannot_be_extracted_has_a_gap(live, settings, open_archive):
    url = live.article("foxes")
    async with open_archive(replace(settings, extract_timeout=0.000001)) as archive:
        await archive.entries.save([url], source="cli")
        await archive.crawling.work()
        (reason,) = (await archive.entries.snapshot(url)).score.reasons
        assert "The article could not be extracted" in str(reason.message)
        (listing,) = (await archive.search.listing(ListingQuery(q="is:gap"))).items
        assert listing.entry.url == url
