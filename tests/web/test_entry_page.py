"""The page of an entry: its content and its actions."""

import re
import zipfile
from html import unescape
from io import BytesIO

import pytest
from sqlalchemy import text

from archiver.http.urls import hash_url
from archiver.model.listing import ListingQuery
from tests.conftest import filled_by, saved_url
from tests.web.conftest import page_of

MILL = "The mill stood by the river and ground what the valley grew each year. " * 5


@filled_by
async def fill(runtime, live):
    urls = [live.article("foxes"), live.article("bears"), live.article("owls")]
    body = (
        f"<h2>One</h2><p>A <a href='{urls[0]}'>kept</a> page.</p><h2>Two</h2><p>x</p><h3>Three</h3>"
    )
    head = '<meta property="article:published_time" content="2024-03-05T23:30:00+02:00">'
    article = f"<article>{body}<p>{MILL}</p>"
    urls.append(live.put("/wide", f"<!DOCTYPE html><title>wide</title>{head}{article}"))
    picture = "<figure><img src=/hero.png alt=wheel width=900><figcaption>The wheel</figcaption>"
    story = f"<div class=story><h2>Beginnings</h2>{f'<p>{MILL}</p>' * 4}</div>"
    header = f"<header><h1>The mill</h1>{picture}</figure></header>"
    urls.append(live.put("/mill", f"<title>The mill</title>{header}{story}"))
    await runtime.entries.save(urls, source="web")
    await runtime.crawling.work()


@pytest.fixture
def path_of(settings):
    """Return the path of an entry."""
    return lambda name: f"/{hash_url(saved_url(settings, f'/{name}'))}/"


async def send(client, path, *fields, page):
    async with client.post(path, data=fields) as answer:
        return answer.status, answer.url.path_qs, await answer.text()


async def test_an_article_of_an_older_version_can_be_extracted_again(client, runtime, path_of):
    path = path_of("foxes")
    assert "Extract again" not in await page_of(client, path)
    async with runtime.articles._context.db.write() as conn:
        await conn.execute(text("UPDATE snapshot SET extractor = '1'"))
    assert "Extract again" in await page_of(client, path)

    status, location, page = await send(client, f"{path}read-again", page=path)

    assert (status, location, "Extract again" in page) == (200, path, False)
    assert "lost in time" in page


async def test_an_entry_links_to_its_neighbours_in_the_list(client):
    listed = await page_of(client, "/snapshots?q=clever&sort=title")
    paths = [unescape(each) for each in re.findall(r'<h3>\s*<a href="([^"]+)"', listed)]
    assert [path.partition("?")[2] for path in paths] == [
        "in=q%3Dclever%26sort%3Dtitle#found" for _ in range(3)
    ]

    middle = await page_of(client, paths[1])

    beside = re.findall(r'<a class="[^"]+" (rel="\w+")[^>]*href="([^"]+)"', middle)
    assert [unescape(path) for _, path in beside] == [paths[0], paths[2]]
    assert "/snapshots?q=clever&amp;sort=title" in middle
    assert middle.count("<mark") == 6
    assert middle.count('<mark id="found">clever</mark>') == 1
    assert 'rel="next"' not in await page_of(client, paths[1].partition("?")[0])
    assert (await client.get(paths[1].partition("?")[0] + "?in=q%3Dcolour:red")).status == 200


async def test_a_page_with_a_token_and_request_data_is_not_compressed(client, path_of):
    path = path_of("foxes")
    codings = [
        (await client.get(each, headers={"Accept-Encoding": "gzip"})).headers.get(
            "Content-Encoding"
        )
        for each in (path, f"{path}?in=q%3Dclever", "/snapshots?q=clever")
    ]

    assert codings == ["gzip", None, "gzip"]


async def test_an_article_has_readable_links_headings_and_dates(client, path_of):
    page = await page_of(client, path_of("wide"))

    assert f'<a class="archived-link" href="{path_of("foxes")}"' in page
    assert [*re.findall(r'<li class="depth-(\d)"><a href="#(h-\d)">(\w+)', page)] == [
        ("0", "h-1", "One"),
        ("0", "h-2", "Two"),
        ("1", "h-3", "Three"),
    ]
    assert 'title="Published ' in page
    assert ">5 Mar 2024<" in page


async def test_an_article_is_exported_as_page_text_and_book(client, path_of):
    key = path_of("foxes").strip("/")
    shown = await page_of(client, f"/{key}/")
    kinds = {
        "html": ("text/html", b"<!DOCTYPE"),
        "epub": ("application/epub+zip", b"PK"),
        "md": ("text/markdown", b"---\ntitle: foxes"),
        "markdown.zip": ("application/zip", b"PK"),
    }
    for form, (kind, begins) in kinds.items():
        (path,) = re.findall(rf'href="(/export/{key}.{form}\?at=\d+)"', shown)
        for paths in (path, f"/export/archive.{form}?q=foxes"):
            answer = await client.get(paths)
            assert (answer.status, answer.content_type) == (200, kind)
            named = "foxes" if paths == path else r"archive-\d{8}"
            disposition = answer.headers["Content-Disposition"]
            assert re.match(rf'attachment; filename="{named}\.{re.escape(form)}";', disposition)
            assert (await answer.read()).startswith(begins)
    assert (await client.get("/export/archive.epub?q=nothing")).status == 404


async def test_the_title_of_an_article_is_shown_once(client, runtime, path_of):
    key = path_of("mill").strip("/")

    for path in (f"/{key}/", f"/{key}/index.md", f"/export/{key}.html", f"/export/{key}.md"):
        shown = await page_of(client, path)
        body = shown[shown.rindex("</h1>") :] if "</h1>" in shown else shown
        assert body.count("The wheel") == 1, path
        assert body.index("wheel") < body.index("Beginnings") < body.index(MILL.strip()), path
    async with client.get(f"/export/{key}.epub") as answer:
        book = zipfile.ZipFile(BytesIO(await answer.read()))
        chapter = book.read("EPUB/chapter-00001.xhtml").decode()
    assert chapter.count("The mill</h") == 1
    assert chapter.index("The wheel</figcaption>") < chapter.index("Beginnings</h2>")
    listing = await runtime.search.listing(ListingQuery(q="wheel"))
    assert [each.entry.hash_url for each in listing.items] == [key]
