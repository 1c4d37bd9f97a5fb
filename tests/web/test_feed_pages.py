"""Following feeds on the page and through the API."""

from io import BytesIO

import pytest
from aiohttp import FormData

from archiver.services.feeds import MAX_SHOWN

OUTLINE = '<opml version="2.0"><body><outline text="Mine" xmlUrl="{url}"/></body></opml>'
FEED = (
    "<rss version='2.0'><channel><title>The &lt;b&gt; Paper</title>"
    "<item><link>http://a.example/1</link></item></channel></rss>"
)


@pytest.fixture
def feed(live):
    return live.put("/feed.xml", FEED, kind="application/rss+xml")


async def send(client, **fields):
    file = fields.pop("file", None)
    form = FormData(fields)
    if file:
        form.add_field("file", BytesIO(file), filename="f.opml")
    async with client.post("/feeds", data=form) as answer:
        return await answer.text()


async def test_a_feed_is_followed_checked_and_unfollowed_on_the_page(client, feed):
    assert "No feeds yet" in await (await client.get("/feeds")).text()
    page = await send(client, do="follow", url=feed, tags="a, b", everything="1")
    assert "The &lt;b&gt; Paper" in page
    assert "<bdi>http://a.example/1</bdi>" in page, "the newest entries"
    assert "1 unread" in page
    assert "1 feed added" in page
    listed = await (await client.get("/snapshots", params={"q": f'feed:"{feed}" is:unread'})).text()
    assert "<title>Unread from The &lt;b&gt; Paper · archiver</title>" in listed
    assert "<bdi>http://a.example/1</bdi>" in listed
    assert "Feed checked." in await send(client, do="check", url=feed)
    assert "No feeds yet" in await send(client, do="unfollow", url=feed)


async def test_a_url_without_a_feed_is_rejected_and_stays_in_the_form(client, live):
    page = live.article("foxes")
    shown = await send(client, do="follow", url=page)
    assert "No feed found" in shown
    assert f'value="{page}"' in shown


async def test_an_opml_file_is_imported_and_exported(client, feed):
    further = "".join(f'<outline xmlUrl="http://a.example/{n}"/>' for n in range(MAX_SHOWN))
    outline = OUTLINE.format(url=feed).replace("</body>", f"{further}</body>")
    page = await send(client, do="take-in", file=outline.encode())
    assert "51 feeds added" in page
    assert "Not checked yet" in page
    answer = await client.get("/feeds.opml")
    assert feed in await answer.text()


async def test_the_api_follows_lists_and_unfollows_feeds(client, feed):
    answer = await client.post("/api/v1/feeds", json={"url": feed, "tags": ["a"]})
    assert answer.status == 201
    (listed,) = await (await client.get("/api/v1/feeds")).json()
    assert listed["subscription"]["tags"] == ["a"]
    assert listed["state"]["problem"] == ""
    assert await (await client.delete("/api/v1/feeds", params={"url": feed})).json() == []
    assert (await client.delete("/api/v1/feeds", params={"url": feed})).status == 404
