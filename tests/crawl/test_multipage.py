"""Articles of several pages, extracted during a crawl and again from stored records."""

import pytest

from archiver.crawl.article_extraction import DeferredExtraction
from archiver.db import entries, snapshots
from archiver.http.urls import hash_url
from archiver.model.requisite import RequisiteKind
from archiver.pages.article.multipage import MAX_PARTS
from archiver.pages.article_text import read_article_document, to_text
from archiver.warc.metadata_records import read_entry_record


@pytest.fixture
def in_parts(live):
    """Make an article of ``count`` pages, of which some may be missing."""

    def make(count, *, missing=()):
        for number in range(1, count + 1):
            name = "essay" if number == 1 else f"essay?page={number}"
            more = f'<link rel="next" href="/essay?page={number + 1}">' if number < count else ""
            if number not in missing:
                live.article(name, head=more)
        return live.url("/essay")

    return make


async def newest(crawl, url):
    async with crawl.context.db.read() as conn:
        row_id, _ = await entries.by_hash(conn, hash_url(url))
        return (await snapshots.of_entry(conn, row_id, limit=1))[0]


async def text_of(crawl, url):
    row = await newest(crawl, url)
    block = crawl.context.store.read(row.snapshot.article).block.read()
    return to_text(read_article_document(block)[1])


async def outcomes_of(crawl, url):
    row = await newest(crawl, url)
    record = read_entry_record(crawl.context.store.read(row.record).block.read())
    return [each for each in record.snapshot.requisites if each.kind is RequisiteKind.PART]


async def test_pages_of_several_parts_are_one_article(crawl, in_parts):
    url = in_parts(3)
    await crawl.queue(url)
    await crawl.run()

    text = await text_of(crawl, url)
    places = [
        text.index(f"called {name} has") for name in ("essay", "essay?page=2", "essay?page=3")
    ]
    assert places == sorted(places)
    assert (await newest(crawl, url)).snapshot.title == "essay"


async def test_the_frames_of_a_frameset_are_its_article(crawl, live):
    live.article("main")
    live.put("/inner", "<frameset><frame src=/main><frame src=/></frameset>")
    menu = "<title>Mills</title><frameset><frame src=/menu><frame src=/inner></frameset>"
    url = live.put("/", menu)
    await crawl.queue(url)
    await crawl.run()

    assert "called main has" in await text_of(crawl, url)
    assert (await newest(crawl, url)).snapshot.title == "Mills"
    assert [each.is_missing for each in await outcomes_of(crawl, url)] == [True, False, False]


async def test_a_missing_page_is_a_gap_and_the_rest_is_extracted(crawl, in_parts):
    url = in_parts(3, missing={2})
    await crawl.queue(url)
    await crawl.run()

    assert [each.is_missing for each in await outcomes_of(crawl, url)] == [True]
    assert "called essay has" in await text_of(crawl, url)


async def test_pages_beyond_the_limit_are_left_out_and_reported(crawl, in_parts):
    url = in_parts(MAX_PARTS + 3)
    await crawl.queue(url)
    await crawl.run()

    parts = await outcomes_of(crawl, url)
    assert [each.is_missing for each in parts] == [False] * (MAX_PARTS - 1) + [True]
    assert str(MAX_PARTS) in parts[-1].failure.message


async def test_articles_of_several_pages_are_extracted_again_from_records(
    start_crawl, in_parts, live
):
    url = in_parts(2)
    async with start_crawl(articles="later") as crawl:
        await crawl.queue(url)
        await crawl.run()
        live.put("/essay?page=2", "gone")
        async with crawl.recording():
            assert await DeferredExtraction(crawl.context).read() == 1
        assert "called essay?page=2 has" in await text_of(crawl, url)
        assert live.requests["/essay?page=2"] == 1
