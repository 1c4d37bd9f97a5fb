"""Deferred articles: a page is found by its title until its article is extracted from records."""

from dataclasses import replace
from io import BytesIO

import pytest
from PIL import Image

from archiver.crawl.stored_content import read_snapshot_record
from archiver.crawl.visit_result import Visit, VisitResult
from archiver.db import snapshots as db_snapshots
from archiver.errors import NotFound
from archiver.http.timestamps import to_datetime
from archiver.http.urls import host
from archiver.model.capture import CaptureRef
from archiver.model.job import EntryRef
from archiver.model.listing import ListingQuery
from archiver.model.page import EXTRACTOR_VERSION, UNREAD, Article, PageMetadata
from archiver.model.rendering import NO_PREVIEW_IMAGES
from archiver.services.reindex import reindex
from tests.segments import change_segment


@pytest.fixture
def later(settings):
    return replace(settings, articles="later")


def pictured(side):
    out = BytesIO()
    Image.new("RGB", (side, side), "teal").save(out, "PNG")
    return out.getvalue()


async def save(archive, *urls):
    await archive.entries.save(urls, source="cli")
    await archive.crawling.work()


async def search_urls(archive, words):
    listing = await archive.search.listing(ListingQuery(q=words))
    return [each.entry.url for each in listing.items]


async def snapshots_of(archive, url):
    """Return each snapshot of a URL with its article."""
    detail = await archive.entries.get(url)
    shown = [await archive.entries.snapshot(url, each.timestamp) for each in detail.snapshots]
    return detail.entry, [(each.snapshot, each.article, each.requisites) for each in shown]


async def test_postponed_articles_are_extracted_from_stored_bytes(live, later, open_archive):
    live.put("/sheet.css", "p { color: red }", kind="text/css")
    head = "<link rel=stylesheet href=/sheet.css><meta name=author content=Ada>"
    urls = [live.article(name, head=head) for name in ("foxes", "bears")]
    async with open_archive(settings=later) as archive:
        await save(archive, urls[0])
        before = await archive.entries.snapshot(urls[0])
        assert (before.article, before.snapshot.extractor) == ("", UNREAD)
        assert (before.snapshot.title, before.snapshot.byline) == ("foxes", "Ada")
        assert [each.status for each in before.requisites] == [200]
        assert await search_urls(archive, "foxes") == [urls[0]]
        assert await search_urls(archive, "clever") == []
        assert await archive.articles.pending_count() == 1
        read = []

        await archive.articles.read_all(read.append)

        assert read == [urls[0]]
        assert await archive.articles.pending_count() == 0
        assert await search_urls(archive, "clever") == [urls[0]]
        shown = await archive.entries.snapshot(urls[0])
        assert "lost in time" in shown.article
        assert shown.snapshot.extractor == EXTRACTOR_VERSION
        assert shown.snapshot.timestamp == before.snapshot.timestamp
        assert (await archive.entries.get(urls[0])).entry.snapshot_count == 1
        assert live.requests["/foxes"] == 1
        assert [each async for each in archive.fixity.verify()] == []
        await save(archive, urls[1])
        expected = [await snapshots_of(archive, url) for url in urls]

    report = await reindex(later)

    async with open_archive(settings=later) as archive:
        assert [await snapshots_of(archive, url) for url in urls] == expected
        assert await search_urls(archive, "clever") == [urls[0]]
        assert await archive.articles.pending_count() == 1
    assert report.snapshots == 2


async def test_extracting_an_older_snapshot_does_not_change_its_entry(live, later, open_archive):
    url = live.article("foxes")
    async with open_archive(settings=later) as archive:
        await save(archive, url)
    live.put("/foxes", "<title>newer</title><p>" + "Now quite another text stands here. " * 30)
    async with open_archive() as archive:
        await save(archive, url)
        before = await archive.entries.get(url)

        await archive.articles.read_all()

        assert (await archive.entries.get(url)).entry == before.entry
        assert await search_urls(archive, "another") == [url]
        assert await search_urls(archive, "clever") == []
        _, snapshots = await snapshots_of(archive, url)
        assert ["lost in time" in article for _, article, _ in snapshots] == [False, True]


async def test_postponed_extraction_adds_preview_images(live, later, open_archive):
    for path, side in (("/i.png", 32), ("/og.png", 300)):
        live.put(path, pictured(side), kind="image/png")
    head = '<link rel=icon href=/i.png><meta property="og:image" content="/og.png">'
    async with open_archive(settings=later) as archive:
        await save(archive, live.article("otters", head=head))
        (before,) = (await archive.search.listing(ListingQuery())).items
        await archive.articles.read_all()
        (after,) = (await archive.search.listing(ListingQuery())).items

        assert before.preview_images == NO_PREVIEW_IMAGES
        assert after.preview_images.icon
        assert after.preview_images.cover
        assert [each async for each in archive.fixity.verify()] == []


async def test_an_article_with_a_damaged_record_stays_pending(live, later, open_archive):
    urls = [live.article(name) for name in ("foxes", "bears")]
    async with open_archive(settings=later) as archive:
        await save(archive, *urls)
        place = (await archive.entries.snapshot(urls[0])).snapshot.capture.location

        def damage(content):
            content[place.offset + 40 : place.offset + 60] = b"\xff" * 20

        change_segment(later.data, place.segment, damage)

        await archive.articles.read_all()

        assert await archive.articles.pending_count() == 1
        assert await search_urls(archive, "clever") == [urls[1]]


async def read_by_an_older_version(archive, later, *urls):
    """Store pages with articles of an older extractor."""
    await save(archive, *urls)
    async with archive.articles._open_writer() as context:
        async with context.db.read() as conn:
            rows, _ = await db_snapshots.pending_articles(conn, 0, limit=9)
        for each in rows:
            snapshot = each.snapshot
            metadata = PageMetadata(title=snapshot.title)
            article = Article(metadata, "<p>The woods.</p>", extractor="1", words="the woods")
            at = to_datetime(snapshot.timestamp)
            record = read_snapshot_record(context.store, each.record)
            page = CaptureRef.of(snapshot.capture)
            visit = Visit(snapshot.timestamp, at, page, article, record.requisites)
            ref = EntryRef(each.entry_id, snapshot.hash_url, snapshot.url, host(snapshot.url))
            await (await context.recorder.end(VisitResult(ref, at, visit=visit)))


async def test_articles_of_an_older_extractor_are_extracted_again(live, later, open_archive):
    named = "<link rel=canonical href=/own>"
    urls = [live.article(name, head=named) for name in ("foxes", "bears", "wolves")]
    async with open_archive(settings=later) as archive:
        await read_by_an_older_version(archive, later, *urls)
        assert len(await search_urls(archive, "woods")) == 3

        narrowed = [each async for each in archive.reextraction.read_all(ListingQuery(q="foxes"))]
        (reextracted,) = await archive.reextraction.read_entry(urls[1])
        remaining = [each async for each in archive.reextraction.read_all()]

        assert [
            [each.snapshot.url for each in batch] for batch in (narrowed, [reextracted], remaining)
        ] == [[url] for url in urls]
        assert (reextracted.change.removed_words, reextracted.change.added_words > 100) == (2, True)
        assert await search_urls(archive, "woods") == []
        assert len(await search_urls(archive, "clever")) == 3
        assert [each async for each in archive.reextraction.read_all()] == []
        with pytest.raises(NotFound):
            await archive.reextraction.read_entry(urls[1])
        before = [await snapshots_of(archive, url) for url in urls]
        assert {each.extractor for _, snapshots in before for each, _, _ in snapshots} == {
            EXTRACTOR_VERSION
        }
        assert {each.requisite_count for _, snapshots in before for each, _, _ in snapshots} == {0}
        assert {each.canonical for _, snapshots in before for each, _, _ in snapshots} == {
            live.url("/own")
        }
        assert live.requests["/foxes"] == 1

    await reindex(later)

    async with open_archive(settings=later) as archive:
        assert [await snapshots_of(archive, url) for url in urls] == before
        assert len(await search_urls(archive, "clever")) == 3
