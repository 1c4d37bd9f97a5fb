"""Pages are processed in worker processes, which may die without harm."""

import asyncio
from dataclasses import replace

import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.msgpack import Decoder

from archiver.model.page import Article, Discovery
from archiver.model.rendering import NewRendition, RenditionKind
from archiver.model.requisite import Requisite, RequisiteKind
from archiver.pages import worker_pool
from archiver.pages.worker_messages import (
    PREFIX,
    READY,
    Document,
    pack,
)
from archiver.pages.worker_pool import WorkerPool, unread_article
from archiver.search.search_document import index_words
from tests.children_in_threads import SERVE_FUNCTIONS

PAGE = Document(
    b"<title>Hello</title><article><p>Words to be read, some.</p><img src=/a.png></article>",
    "text/html",
    "",
    "http://example.com/",
)

ICON = b'<svg xmlns="http://www.w3.org/2000/svg"><path d="M0 0h9v9z"/></svg>'


@pytest.fixture
async def pool():
    pool = WorkerPool(processes=1, timeout=30, memory_bytes=1 << 30, max_requisites=10)
    yield pool
    await pool.stop()


async def test_one_request_gives_the_same_as_two(pool):
    linked = replace(PAGE, link_header='<http://example.com/own>; rel="canonical"')

    discovery, article = await pool.inspect_and_extract(linked)

    assert [each.url for each in discovery.requisites] == ["http://example.com/a.png"]
    assert "Words to be read" in article.text
    assert (article.metadata.title, article.metadata.canonical) == (
        "Hello",
        "http://example.com/own",
    )
    assert discovery == await pool.discover(linked)
    assert article == await pool.extract(linked)

    for body in (
        b"<div id=root></div><script src=/app.js></script>",  # needs a browser
        b"<article><p>Words to be read, some.</p></article><a rel=next href='?page=2'>Next</a>",
    ):
        page = replace(PAGE, payload=body, url="http://example.com/essay")
        discovery, article = await pool.inspect_and_extract(page)
        assert discovery == await pool.discover(page) != Discovery()
        assert article is None


@pytest.mark.real_children
async def test_resources_are_found_if_the_article_cannot_be_extracted(pool_of):
    pool = pool_of(1, backlog=3600)
    await pool.discover(PAGE)
    [lost] = page_workers()
    lost.kill()

    discovery, article = await pool.inspect_and_extract(PAGE)

    assert [each.url for each in discovery.requisites] == ["http://example.com/a.png"]
    assert article == Article(is_failed=True)


async def test_every_type_of_document_has_an_article(pool):
    for text in ("two kites", "two kit\u00e9s"):
        document = Document(text.encode(), "text/plain", "", "http://example.com/name.txt")
        article = await pool.extract(document)
        assert article.words == index_words(text)
        assert not text.isascii() or unread_article(document, Discovery()).words == article.words

    for kind, part in (("text/plain", "<pre>"), ("image/png", "<img"), ("application/pdf", "")):
        article = await pool.extract(Document(b"x < y", kind, "", "http://example.com/name.ext"))
        assert part in article.html
        assert article.metadata.title == "name.ext"


@pytest.mark.real_children
async def test_a_worker_that_times_out_is_replaced():
    impatient = WorkerPool(processes=1, timeout=0.000001, memory_bytes=1 << 30, max_requisites=10)

    assert await impatient.extract(PAGE) == Article(is_failed=True)
    assert await impatient.extract(PAGE) == Article(is_failed=True)
    await impatient.stop()


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"nonsense",
        pack(("text instead of an article", ""))[PREFIX.size :],
        b"\x92\x81\xa1x" + b"\x91" * 100_000,  # an unknown field that is nested too deeply
    ],
    ids=["empty", "nonsense", "another type", "too deep"],
)
async def test_a_worker_that_sends_an_invalid_message_is_replaced(pool, monkeypatch, answer):
    def serve_answer(source, sink, *_):
        sink.write(READY + PREFIX.pack(len(answer)) + answer)
        sink.flush()
        source.read()

    with monkeypatch.context() as taken_over:
        taken_over.setitem(SERVE_FUNCTIONS, "archiver.pages.worker", serve_answer)
        assert await pool.extract(PAGE) == Article(is_failed=True)

    assert (await pool.extract(PAGE)).metadata.title == "Hello"


async def test_a_picture_has_less_time_than_an_article(pool, monkeypatch):
    monkeypatch.setattr("archiver.pages.worker_pool.DRAW_SECONDS", 0.000001)

    assert await pool.draw(RenditionKind.ICON, ICON, "http://example.com/icon.svg") is None
    assert (await pool.extract(PAGE)).metadata.title == "Hello"


@pytest.fixture
async def pool_of():
    """Return a pool of this size with a timeout for the busiest machine."""
    pools = []

    def make(processes, backlog):
        pool = WorkerPool(
            processes=processes,
            timeout=3600,
            memory_bytes=1 << 30,
            max_requisites=10,
            backlog=backlog,
        )
        pools.append(pool)
        return pool

    yield make
    for each in pools:
        await each.stop()


@pytest.mark.real_children
async def test_a_running_worker_is_used_before_another_is_started(pool_of):
    pool = pool_of(3, backlog=3600)

    results = await asyncio.gather(*(pool.discover(PAGE) for _ in range(12)))

    assert all(len(each.requisites) == 1 for each in results)
    assert len(page_workers()) == 1


@pytest.mark.real_children
async def test_another_worker_is_started_if_the_queue_persists(pool_of):
    pool = pool_of(2, backlog=0)
    await pool.discover(PAGE)
    [busy] = page_workers()
    busy.suspend()

    tasks = [asyncio.create_task(pool.discover(PAGE)) for _ in range(2)]
    done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    busy.resume()

    assert len(done) == 1
    assert all(len(each.requisites) == 1 for each in await asyncio.gather(*tasks))
    assert len(page_workers()) == 2


@pytest.mark.real_children
async def test_a_lost_worker_is_replaced(pool_of):
    pool = pool_of(1, backlog=3600)
    await pool.discover(PAGE)
    [lost] = page_workers()
    lost.kill()

    results = [await pool.discover(PAGE) for _ in range(3)]

    assert sorted(len(each.requisites) for each in results) == [0, 1, 1]


def page_workers():
    """Return the page workers of this process."""
    module = "archiver.pages.worker"
    return [each for each in psutil.Process().children() if module in each.cmdline()]


@pytest.mark.real_children
async def test_a_worker_that_holds_much_memory_is_replaced(pool, monkeypatch):
    await pool.extract(PAGE)
    (before,) = [
        each for each in psutil.Process().children() if "archiver.pages.worker" in each.cmdline()
    ]
    monkeypatch.setattr(worker_pool, "MAX_IDLE_BYTES", 0)
    monkeypatch.setattr(worker_pool, "TASKS_PER_CHECK", 1)

    await pool.extract(PAGE)

    assert not psutil.pid_exists(before.pid)
    assert "Words" in (await pool.extract(PAGE)).text


@given(st.none() | st.builds(NewRendition, st.sampled_from(RenditionKind), st.text(), st.binary()))
def test_a_drawn_image_arrives_unchanged(drawn):
    message = pack(drawn)

    assert Decoder(NewRendition | None).decode(message[PREFIX.size :]) == drawn


@given(
    st.builds(
        Discovery,
        st.lists(
            st.builds(Requisite, st.text(), st.sampled_from(RequisiteKind), st.integers(0, 99))
        ).map(tuple),
        feed=st.text(),
        icons=st.lists(st.text()).map(tuple),
        covers=st.lists(st.text()).map(tuple),
    )
)
def test_references_of_a_page_arrive_unchanged(expected):
    message = pack(expected)

    assert Decoder(Discovery).decode(message[PREFIX.size :]) == expected
