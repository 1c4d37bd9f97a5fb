"""A page offered by another site is shown, and saved only by the user."""

import re
from datetime import UTC, datetime
from html import unescape
from urllib.parse import urlencode

import pytest
from yarl import URL

from archiver.app import open_app
from archiver.config import Settings
from archiver.db import host_queue, queue
from archiver.http.urls import hash_url
from archiver.web.app_keys import RUNTIME
from tests.web.conftest import client_of


@pytest.fixture
def settings(saved_archive):
    return saved_archive.settings


async def offered(client, **query):
    answer = await client.get(f"/save?{urlencode(query)}")
    return answer.status, await answer.text()


async def test_opening_the_save_page_saves_nothing(client):
    status, page = await offered(client, url="http://b.example/", title='A "b"', tags="x, y")

    assert status == 200
    assert 'value="http://b.example/"' in page
    assert 'placeholder="A &#34;b&#34;"' in page
    assert 'value="x, y"' in page
    assert (await client.get(f"/{hash_url('http://b.example/')}/")).status == 404


async def test_the_checkbox_requests_a_browser(client):
    home = await (await client.get("/")).text()
    ((name, value),) = re.findall(r'type="checkbox" name="(render)" value="([^"]+)"', home)
    ticked = {name: value}
    for url, tick in (("http://b.example/", ticked), ("http://c.example/", {})):
        await client.post("/add", data={"url": url} | tick)

    async with client.server.app[RUNTIME].entries._db.write() as conn:
        now = datetime.now(UTC)
        hosts = await host_queue.due_hosts(conn, (), now=now, count=99)
        leases = await queue.lease(conn, owner="me", count=2, per_host=1, hosts=hosts, now=now)
    assert {each.entry.url: each.render for each in leases} == {
        "http://b.example/": True,
        "http://c.example/": False,
    }


async def test_the_bookmarklet_window_saves_with_tags_and_lists(client):
    url, settings = "http://b.example/", await (await client.get("/settings")).text()
    (key,) = re.findall(r"/save\?key=([^&]+)&", settings)
    for sent_key, is_sent in ((key, True), ("x", False), ("", False)):
        _, page = await offered(client, key=sent_key, url=url)
        assert ('data-sends="now"' in page) is is_sent

    sent = {"window": "1", "url": url}
    page = await (await client.post("/add", data=sent)).text()
    assert ">Saved</h1>" in page
    assert "Already saved" not in page
    ((action,),) = [re.findall(r'action="(/[0-9a-f]{32}/edit)"', page)]
    await client.post(action, data={"tags": "a, b", "folders": "Bears", "note": "n"})

    entry = (await client.server.app[RUNTIME].entries.get(url)).entry.annotation
    assert (entry.tags, entry.folders, entry.note) == (("a", "b"), ("Bears",), "n")


async def test_the_bookmarklet_does_not_capture_a_saved_page_again(client, saved_archive):
    page = await (
        await client.post("/add", data={"window": "1", "url": saved_archive.url("/foxes")})
    ).text()

    assert "Already saved</h1>" in page
    assert "Capture again" in page


async def test_every_list_has_a_feed(client, saved_archive):
    for form, kind in (("atom", "application/atom+xml"), ("json", "application/feed+json")):
        answer = await client.get(f"/feed.{form}?q=foxes")
        nothing = await (await client.get(f"/feed.{form}?q=unicorns")).text()
        refused = await client.get(f"/feed.{form}?q=colour:red")

        assert (answer.status, answer.content_type, refused.status) == (200, kind, 400), form
        assert saved_archive.url("/foxes") in await answer.text(), form
        assert saved_archive.url("/foxes") not in nothing, form


async def test_a_signed_in_user_reaches_the_save_page_from_another_site(tmp_path):
    """The session cookie is not sent then; the displayed step continues within this site."""
    settings = Settings(data=tmp_path / "locked", password="a good pass phrase")
    path = "/save?url=http://b.example/%22"
    async with open_app(settings) as runtime, client_of(runtime) as client:
        from_elsewhere = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Dest": "document"}
        step = await client.get(URL(path, encoded=True), headers=from_elsewhere)
        body = await step.text()
        within = {"Sec-Fetch-Site": "same-origin", "Sec-Fetch-Dest": "document"}
        response = await client.get(URL(path, encoded=True), headers=within, allow_redirects=False)

    assert step.status == 200
    assert f'content="0; url={path}"' in unescape(body)
    assert (response.status, response.headers["Location"][:12]) == (303, "/login?next=")
