"""Exported articles contain the pictures archived at their time."""

import io
import re
import zipfile
from base64 import b64decode, b64encode
from dataclasses import replace

import pytest
from aiohttp import web

from archiver.app import open_app
from archiver.errors import InputError, NotFound
from archiver.http.urls import hash_url
from archiver.model.export_kinds import BY_KEY
from archiver.model.listing import ListingQuery
from archiver.services import book_exports
from archiver.services.export_selection import Report, Selected
from archiver.services.exports import TITLE, export_title
from tests.conftest import filled_by, saved_url

PNG = b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJg"
    "gg=="
)
WORDS = "<p>What the page says is long enough, it seems, to be the article that it is. " * 9


@filled_by
async def fill(archive, live):
    """Save two pages, one with a picture behind a redirect."""

    async def picture(_):
        return web.Response(body=PNG, content_type="image/png")

    async def moved(_):
        raise web.HTTPFound("/real.png")

    live.add_handler("/real.png", picture)
    live.add_handler("/moved.png", moved)
    body = '<img src="/moved.png" alt="red kite"><img src="/gone.png" alt="lost">'
    urls = [
        live.put("/one", f"<title>One &amp; only</title><article>{WORDS}{body}</article>"),
        live.put("/two", f"<title>Two</title><article>{WORDS}</article>"),
    ]
    await archive.entries.save(urls, tags=("t",), source="web", note="")
    await archive.crawling.work()


@pytest.fixture
async def saved_urls(prepared, settings):
    await prepared.copy(fill, settings.data)
    return [saved_url(settings, path) for path in ("/one", "/two")]


@pytest.fixture
async def storage(settings, saved_urls):
    async with open_app(settings, reads_only=True) as app:
        books = book_exports.Books(app.db, app.store)
        yield books


async def whole(pieces):
    return b"".join([each async for each in pieces])


async def test_one_page_holds_all_that_it_shows(storage, saved_urls):
    selection = Selected(hash_url=hash_url(saved_urls[0]))
    page = (await whole(storage.html(await storage.begin(selection), Report(), title=""))).decode()

    assert f'src="data:image/png;base64,{b64encode(PNG).decode()}" alt="red kite"' in page
    assert "[lost]" in page
    assert "<title>One &amp; only</title>" in page
    assert re.findall(r"(?:src|srcset|poster)=\"(?!data:)", page) == []
    assert "default-src 'none'" in page


async def test_a_book_has_the_chosen_title_and_no_empty_chapters(saved_urls, archive):
    await archive.entries.save(["http://127.0.0.1:1/never"], tags=("t",), source="web")
    chosen = Selected(ListingQuery(tag="t"), title="  Kites and\nwinds ")
    report = Report()
    pieces = await archive.exporting.begin(BY_KEY["epub"], chosen, name="x.epub", report=report)
    book = zipfile.ZipFile(io.BytesIO(await whole(pieces)))

    assert b"<dc:title>Kites and winds</dc:title>" in book.read("EPUB/package.opf")
    assert len([each for each in book.namelist() if "chapter-" in each]) == len(saved_urls)
    assert report.entries == len(saved_urls)
    unprintable = replace(chosen, title="\0\ufffe", query=ListingQuery(tag="t"))
    assert export_title(unprintable) == TITLE
    links_only = Selected(ListingQuery("is:waiting"))
    with pytest.raises(NotFound, match="no articles or notes"):
        await whole(await archive.exporting.begin(BY_KEY["epub"], links_only, name="x.epub"))


async def test_an_empty_or_too_large_selection_is_refused(storage, monkeypatch):
    monkeypatch.setattr(book_exports, "MAX_ARTICLES", 1)
    with pytest.raises(InputError, match="Narrow it down"):
        await storage.begin(Selected())
    with pytest.raises(NotFound):
        await storage.begin(Selected(ListingQuery(tag="none")))


async def test_images_over_the_size_limit_are_left_out(storage, saved_urls, monkeypatch):
    monkeypatch.setattr(book_exports, "MAX_ARTICLE_BYTES", len(PNG) - 1)
    selection = Selected(hash_url=hash_url(saved_urls[0]))

    page = await whole(storage.html(await storage.begin(selection), Report(), title=""))

    assert b"[red kite]" in page
