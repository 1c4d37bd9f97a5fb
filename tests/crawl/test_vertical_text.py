"""Articles with vertical text from an external style sheet, crawled and extracted again."""

import pytest

from archiver.crawl.article_extraction import DeferredExtraction
from archiver.db import entries, snapshots
from archiver.http.urls import hash_url
from archiver.pages.article_text import read_article_document

SENTENCE = "\u5ddd\u306e\u307b\u3068\u308a\u306b\u6c34\u8eca\u304c\u3042\u3063\u305f\u3002"
TURNED = "main { writing-mode: vertical-rl }"


@pytest.fixture
def novel(live):
    """Make a page with this text whose style sheet is imported by another one."""

    def make(text=SENTENCE, *, css=TURNED):
        live.put("/first.css", "@import 'second.css'; p { color: red }", kind="text/css")
        live.put("/second.css", css, kind="text/css")
        head = "<!DOCTYPE html><title>novel</title><link rel=stylesheet href=/first.css>"
        return live.put("/novel", f"{head}<body><main><p>{text * 60}</p></main>")

    return make


async def article_of(crawl, url):
    async with crawl.context.db.read() as conn:
        row_id, _ = await entries.by_hash(conn, hash_url(url))
        held = (await snapshots.of_entry(conn, row_id, limit=1))[0]
    block = crawl.context.store.read(held.snapshot.article).block.read()
    return read_article_document(block)[1]


async def test_vertical_text_of_an_article_comes_from_its_style_sheets(crawl, novel):
    url = novel()
    await crawl.queue(url)
    await crawl.run()

    assert '<div class="vertical-rl">' in await article_of(crawl, url)


@pytest.mark.parametrize(
    ("text", "css"),
    [(SENTENCE, "h1 { writing-mode: vertical-rl }"), ("A mill stood by the river. ", TURNED)],
)
async def test_text_stays_horizontal_if_only_other_elements_are_vertical(crawl, novel, text, css):
    url = novel(text, css=css)
    await crawl.queue(url)
    await crawl.run()

    assert "vertical-rl" not in await article_of(crawl, url)


async def test_later_extraction_uses_the_stored_style_sheets(crawling, novel, live):
    url = novel()
    async with crawling(articles="later") as crawl:
        await crawl.queue(url)
        await crawl.run()
        live.put("/second.css", "gone")
        async with crawl.recording():
            assert await DeferredExtraction(crawl.context).read() == 1

        assert '<div class="vertical-rl">' in await article_of(crawl, url)
        assert live.asked["/second.css"] == 1
