"""Exports as a tree of Markdown for note-taking programs, with pictures and links."""

import io
import re
import zipfile

import pytest
import yaml
from aiohttp import web

from archiver.app import open_app
from archiver.errors import NotFound
from archiver.http.urls import hash_url
from archiver.model.annotation import AnnotationChange
from archiver.model.export_kinds import BY_KEY
from archiver.model.listing import ListingQuery
from archiver.services.export_selection import Selected
from tests.conftest import filled_by, saved_url
from tests.services.test_books import PNG


@filled_by
async def fill(archive, live):
    async def picture(_):
        return web.Response(body=PNG, content_type="image/png")

    live.add_handler("/kite.png", picture)
    words = (
        f'<p>See <a href="{live.url("/owls")}#nests">the owls</a>, <a href="{live.url("/gone")}">'
        'those</a> and [[them]].</p><p><img src="/kite.png" alt="red kite"></p>'
    )
    urls = [live.url("/kites"), live.article("owls"), live.url("/missing")]
    live.put(
        "/kites",
        f"<!DOCTYPE html><title>kites</title><body><article><h1>kites</h1>{words}"
        + "<p>The kite is a bird of which much was written, in books and in letters.</p>" * 8
        + "</article>",
    )
    await archive.entries.save(urls, tags=("t",), source="cli")
    await archive.crawling.work()
    await archive.editing.change(urls[:1], AnnotationChange(is_starred=True))


@pytest.fixture
async def saved_urls(prepared, settings):
    await prepared.copy(fill, settings.data)
    return [saved_url(settings, path) for path in ("/kites", "/owls", "/missing")]


@pytest.fixture
async def tree(settings, saved_urls):
    async with open_app(settings, reads_only=True) as app:
        exporting = app.exporting
        yield exporting


async def written(tree, directory, selection=None):
    return await tree.write_tree(selection or Selected(), directory, lambda *_: None)


def parts(path):
    _, front, body = path.read_text().split("---\n", 2)
    return yaml.safe_load(front), body


async def test_an_entry_is_a_folder_with_its_article_and_its_pictures(tree, saved_urls, tmp_path):
    for _ in range(2):  # replaces the existing file
        assert (await written(tree, tmp_path / "tree")).entries == 3

    kites, owls, missing = (hash_url(url) for url in saved_urls)
    front, body = parts(tmp_path / "tree" / kites / "index.md")
    assert {each.name for each in (tmp_path / "tree").iterdir()} == {kites, owls, missing}
    assert list(front)[:3] == ["title", "url", "hash_url"]
    assert (front["hash_url"], front["starred"], front["tags"]) == (kites, True, ["t"])
    assert f"[the owls](../{owls}/index.md#nests)" in body
    assert f"[those]({saved_urls[1].replace('owls', 'gone')})" in body
    assert r"\[\[them\]\]" in body
    (picture,) = re.findall(r"!\[red kite\]\((.*?)\)", body)
    assert (tmp_path / "tree" / kites / picture).read_bytes() == PNG
    assert parts(tmp_path / "tree" / missing / "index.md")[1].strip() == ""


async def test_the_same_tree_is_sent_as_a_zip(tree, tmp_path):
    await written(tree, tmp_path / "tree")

    pieces = await tree.begin(BY_KEY["markdown"], Selected(), name="x")
    packed = zipfile.ZipFile(io.BytesIO(b"".join([piece async for piece in pieces])))

    files = [each for each in (tmp_path / "tree").rglob("*") if each.is_file()]
    assert {*packed.namelist()} == {str(each.relative_to(tmp_path / "tree")) for each in files}
    assert all(packed.read(str(e.relative_to(tmp_path / "tree"))) == e.read_bytes() for e in files)
    with pytest.raises(NotFound):
        await written(tree, tmp_path, Selected(ListingQuery(tag="none")))


async def test_an_exported_entry_has_front_matter_and_several_entries_have_headings(
    saved_urls, archive
):
    async def text(selection):
        pieces = await archive.exporting.begin(BY_KEY["md"], selection, name="x")
        return b"".join([piece async for piece in pieces]).decode()

    alone = await text(Selected(hash_url=hash_url(saved_urls[0])))
    _, front, body = alone.split("---\n", 2)
    both = await text(Selected(ListingQuery("is:unread -is:failed")))

    assert yaml.safe_load(front)["title"] == "kites"
    assert body.startswith("\n# kites\n\nSee [the owls](")
    assert f"![red kite]({saved_urls[0].replace('/kites', '/kite.png')})" in body
    assert re.findall(r"^(# .*|---)$", both, re.MULTILINE) == ["# kites", "---", "# owls"]
    assert f"]({saved_urls[1]})" in both.split("# owls")[1][:300]
