"""Pages are read in processes of their own, which may be lost without loss."""

import pytest

from archiver.derive.pool import DerivePool, Document, unread_article
from archiver.model.likeness import LikenessKind
from archiver.model.page import Article, Discovery
from archiver.query.findable import indexed

PAGE = Document(
    b"<title>Hello</title><article><p>Words to be read, some.</p><img src=/a.png></article>",
    "text/html",
    "",
    "http://example.com/",
)

ICON = b'<svg xmlns="http://www.w3.org/2000/svg"><path d="M0 0h9v9z"/></svg>'


@pytest.fixture
async def pool():
    made = DerivePool(processes=1, timeout=30, memory_bytes=1 << 30, max_requisites=10)
    yield made
    await made.stop()


async def test_a_child_names_requisites_and_reads_articles(pool):
    discovery, article = await pool.discover(PAGE), await pool.extract(PAGE)

    assert [each.url for each in discovery.requisites] == ["http://example.com/a.png"]
    assert article.metadata.title == "Hello"
    assert "Words to be read" in article.text


@pytest.mark.parametrize("text", ["two kites", "two kités"])
async def test_a_text_is_found_by_its_words_whoever_reads_it(pool, text):
    document = Document(text.encode(), "text/plain", "", "http://example.com/name.txt")
    read = await pool.extract(document)

    assert read.words == indexed(text)
    assert not text.isascii() or unread_article(document, Discovery()).words == read.words


async def test_what_is_no_page_is_shown_as_what_it_is(pool):
    for kind, part in (("text/plain", "<pre>"), ("image/png", "<img"), ("application/pdf", "")):
        article = await pool.extract(Document(b"x < y", kind, "", "http://example.com/name.ext"))

        assert part in article.html
        assert article.metadata.title == "name.ext"


async def test_a_child_that_takes_too_long_is_replaced_and_its_page_has_no_article():
    impatient = DerivePool(processes=1, timeout=0.000001, memory_bytes=1 << 30, max_requisites=10)

    assert await impatient.extract(PAGE) == Article()
    assert await impatient.extract(PAGE) == Article()
    await impatient.stop()


async def test_a_picture_has_less_time_than_an_article(pool, monkeypatch):
    monkeypatch.setattr("archiver.derive.pool.DRAW_SECONDS", 0.000001)

    assert await pool.draw(LikenessKind.ICON, ICON, "http://example.com/icon.svg") is None
    assert (await pool.extract(PAGE)).metadata.title == "Hello"
