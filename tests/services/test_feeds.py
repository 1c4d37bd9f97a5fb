"""Followed feeds, with a real archive and a real server."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from aiohttp import web

from archiver.errors import ConfigurationError, InputError, NotFound
from archiver.formats.outlines import MAX_BYTES, MAX_TITLE
from archiver.model.listing import ListingQuery
from archiver.services.reindex import reindex
from archiver.services.user_files import FEEDS as NAME
from tests.raw_server import raw_web

MODULE = "http://purl.org/rss/1.0/modules/content/"
YESTERDAY = datetime.now(UTC) - timedelta(days=1)


class Feed:
    """A feed whose content the test sets, and the requests for it."""

    def __init__(self, live):
        self.live = live
        self.url = live.add_handler("/feed.xml", self._answer)
        self.items = {}
        self.headers = {}
        self.status = 200
        self.content = ""
        self.requests = []

    def post(self, name, *, at=None):
        self.items[self.live.article(name)] = at or datetime.now(UTC) + timedelta(seconds=2)
        return self.live.url(f"/{name}")

    async def _answer(self, request):
        self.requests.append(request.headers)
        items = "".join(
            f"<item><title>Post</title><link>{url}</link><category>theirs</category>"
            f"<pubDate>{format_datetime(at)}</pubDate>{self.content}</item>"
            for url, at in self.items.items()
        )
        channel = f"<channel><title>A &amp; B</title>{items}</channel>"
        body = f"<rss version='2.0' xmlns:content='{MODULE}'>{channel}</rss>"
        return web.Response(
            text=body, status=self.status, headers=self.headers, content_type="application/rss+xml"
        )


@pytest.fixture
def feed(live):
    return Feed(live)


async def listed(archive):
    listing = await archive.search.listing(ListingQuery())
    return {each.entry.url: each.entry for each in listing.items}


async def test_new_items_of_a_feed_are_captured_with_its_tags(archive, feed):
    feed.post("old", at=YESTERDAY)
    await archive.subscriptions.follow(feed.url, ["paper"])
    new = feed.post("new")
    await archive.subscriptions.check(feed.url)
    await archive.crawling.work()

    result = await listed(archive)
    assert [*result] == [new]
    assert result[new].snapshot_count == 1
    assert result[new].annotation.tags == ("paper",)
    assert result[new].annotation.source == f"feed:{feed.url}"


async def check_article(archive, feed):
    """Check a feed in which a new item has an article; return the entry and the article."""
    feed.post("old", at=YESTERDAY)
    await archive.subscriptions.follow(feed.url)
    feed.content = "<content:encoded>&lt;p>Kites need wind.&lt;/p></content:encoded>"
    url = feed.live.url("/new")
    feed.items[url] = datetime.now(UTC) + timedelta(seconds=2)
    await archive.subscriptions.check(feed.url)
    await archive.crawling.work()
    entry = (await listed(archive))[url]
    first = await archive.entries.snapshot(url, entry.annotation.saved_at.strftime("%Y%m%d%H%M%S"))
    return entry, first.text


async def test_an_article_in_a_feed_is_kept_if_its_page_cannot_be_fetched(archive, feed):
    entry, article = await check_article(archive, feed)
    assert entry.failure
    assert entry.snapshot_count == 1
    assert "Kites need wind." in article


async def test_a_page_is_captured_besides_its_article_in_a_feed(archive, feed):
    feed.live.article("new")
    entry, article = await check_article(archive, feed)
    assert not entry.failure
    assert entry.snapshot_count == 2
    assert "Kites need wind." in article


async def test_deleted_items_of_a_feed_are_not_saved_again(archive, feed):
    url = feed.post("new")
    await archive.subscriptions.follow(feed.url, everything=True)
    await archive.deleting.entries([url])
    async with archive.subscriptions._db.write() as conn:
        await conn.exec_driver_sql("DELETE FROM feed_item")
    await archive.subscriptions.check(feed.url)
    assert not await listed(archive)


async def test_a_feed_that_did_not_change_is_not_sent_again(archive, feed):
    feed.headers = {"ETag": '"1"', "Last-Modified": format_datetime(YESTERDAY, usegmt=True)}
    await archive.subscriptions.follow(feed.url)
    feed.status = 304
    followed = await archive.subscriptions.check(feed.url)
    assert feed.requests[-1]["If-None-Match"] == '"1"'
    assert feed.requests[-1]["If-Modified-Since"] == feed.headers["Last-Modified"]
    assert followed.state.problem == ""
    assert followed.state.etag == '"1"'


async def test_the_feed_that_a_page_names_is_followed(archive, feed, live):
    link = '<link rel="alternate" type="application/rss+xml" href="/feed.xml">'
    page = live.article("home", head=link)
    followed = await archive.subscriptions.follow(page)
    assert followed.subscription.url == feed.url
    assert followed.subscription.title == "A & B"
    assert followed.subscription.home == page


async def test_a_page_without_a_feed_cannot_be_followed(archive, live):
    page = live.article("home", body='<a href="/a">a</a>' * 20)
    with pytest.raises(InputError, match=r"No feed found at .*\.$"):
        await archive.subscriptions.follow(page)
    assert not await archive.subscriptions.all()
    assert not await listed(archive)


async def test_a_failing_feed_is_checked_less_often_and_has_a_reason(archive, feed):
    await archive.subscriptions.follow(feed.url)
    feed.status = 500
    waits = []
    for _ in range(3):
        state = (await archive.subscriptions.check(feed.url)).state
        waits.append((state.due_at - state.checked_at).total_seconds())
    assert waits[1] == 2 * waits[0]
    assert waits[2] == 4 * waits[0]
    assert "500" in state.problem
    feed.status = 200
    state = (await archive.subscriptions.check(feed.url)).state
    assert (state.failures, state.problem) == (0, "")


async def test_a_server_that_asks_to_be_left_alone_is(archive, feed):
    await archive.subscriptions.follow(feed.url)
    feed.status, feed.headers = 503, {"Retry-After": "7200"}
    state = (await archive.subscriptions.check(feed.url)).state
    assert (state.due_at - state.checked_at).total_seconds() == 7200


async def test_a_permanently_gone_feed_is_not_checked_again(archive, feed):
    await archive.subscriptions.follow(feed.url)
    feed.status = 410
    state = (await archive.subscriptions.check(feed.url)).state
    assert state.is_gone
    request_count = len(feed.requests)
    await archive.subscriptions.check_all()
    await archive.subscriptions.check_due()
    assert len(feed.requests) == request_count


async def test_a_feed_that_moved_for_good_is_followed_where_it_is_now(archive, feed, live):
    async def moved(_):
        raise web.HTTPMovedPermanently(feed.url)

    before = live.put("/before.xml", "<rss><channel></channel></rss>", kind="application/rss+xml")
    await archive.subscriptions.follow(before)
    live.add_handler("/before.xml", moved)
    await archive.subscriptions.check(before)
    assert [each.subscription.url for each in await archive.subscriptions.all()] == [feed.url]
    with pytest.raises(NotFound):
        await archive.subscriptions.check(before)


async def test_opml_of_another_reader_is_imported_and_exported(archive, feed):
    outline = (
        '<opml version="1.0"><body><outline text="News"><outline type="rss" text="Paper"'
        f' xmlUrl="{feed.url}" htmlUrl="https://a.example/" category="x,y"/></outline>'
        '<outline text="No feed" xmlUrl="javascript:alert(1)"/></body></opml>'
    )
    assert await archive.subscriptions.import_outline(outline.encode(), "f.opml") == 1
    assert await archive.subscriptions.import_outline(outline.encode(), "f.opml") == 0
    (followed,) = await archive.subscriptions.all()
    assert followed.subscription.tags == ("x", "y", "News")
    opml = await archive.subscriptions.export_opml()
    await archive.subscriptions.unfollow(feed.url)
    assert await archive.subscriptions.import_outline(opml, "back.opml") == 1
    assert (await archive.subscriptions.all())[0].subscription == followed.subscription


async def test_an_unreadable_feed_list_is_not_overwritten(archive, feed):
    path = archive.settings.data / NAME
    path.write_text("<html>")
    with pytest.raises(ConfigurationError, match=NAME):
        await archive.subscriptions.follow(feed.url)
    assert path.read_text() == "<html>"


async def test_feeds_and_their_known_items_survive_a_reindex(open_archive, feed):
    feed.post("old", at=YESTERDAY)
    async with open_archive() as archive:
        before = await archive.subscriptions.follow(feed.url, ["paper"])
        settings = archive.settings
    await reindex(settings)
    async with open_archive() as archive:
        assert await archive.subscriptions.all() == [before]
        await archive.subscriptions.check(feed.url)
        assert not await listed(archive)


async def test_a_guard_stands_before_feeds_as_before_pages(archive):
    with pytest.raises(InputError, match="Private networks"):
        await archive.subscriptions.follow("http://169.254.169.254/feed.xml")


RSS = b"<rss><channel><title>t</title><item><link>http://a.example/</link></item></channel></rss>"


def answered(body, *fields, status=b"200 OK"):
    head = [b"HTTP/1.1 " + status, b"Content-Length: %d" % len(body), *fields, b"", b""]
    return b"\r\n".join(head) + body


def outline(*feeds):
    return f"<opml><body>{''.join(feeds)}</body></opml>".encode()


async def test_an_invalid_validator_of_a_feed_is_not_stored(archive):
    for field in (b'ETag: "\x0b\x01"', b"Last-Modified: \x01", b'ETag: "%s"' % (b"x" * 6000)):
        async with raw_web(lambda _, field=field: answered(RSS, field)) as origin:
            followed = await archive.subscriptions.follow(f"{origin}/f")
            again = await archive.subscriptions.check(f"{origin}/f")

        assert (followed.state.etag, followed.state.modified) == ("", ""), field
        assert again.state.problem == "", field


async def test_an_outline_leads_to_no_script_and_its_texts_are_bounded(archive):
    feed = (
        f'<outline xmlUrl="http://127.0.0.1:1/f" htmlUrl="javascript:alert(1)" '
        f'title="{"t" * 9000}" category="{"c" * 9000},{",".join(map(str, range(500)))}"/>'
    )
    await archive.subscriptions.import_outline(outline(feed), "f.opml")

    (followed,) = await archive.subscriptions.all()
    assert followed.subscription.home == ""
    assert len(followed.subscription.title) == MAX_TITLE
    assert (len(followed.subscription.tags), len(followed.subscription.tags[0])) == (100, 100)


async def test_a_list_that_would_be_too_long_to_read_is_refused_and_the_old_one_stays(archive):
    await archive.subscriptions.import_outline(
        outline('<outline xmlUrl="http://127.0.0.1:1/"/>'), "a"
    )
    # Each quote takes one byte in the title, and twelve in the stored file.
    title = '"' * 450
    opml = outline(
        *(f"<outline xmlUrl='http://127.0.0.1:1/{n}' text='{title}'/>" for n in range(2000))
    )
    assert len(opml) < MAX_BYTES

    with pytest.raises(InputError, match="larger than"):
        await archive.subscriptions.import_outline(opml, "f.opml")

    assert len(await archive.subscriptions.all()) == 1


async def test_an_address_without_end_is_not_where_a_feed_is_from_now_on(archive):
    long = b"/" + b"x" * 5000

    def answer(target):
        if target == b"/f":
            return answered(b"", b"Location: " + long, status=b"301 Moved")
        return answered(RSS)

    async with raw_web(answer) as origin:
        opml = outline(f'<outline xmlUrl="{origin}/f"/>')
        await archive.subscriptions.import_outline(opml, "f.opml", everything=True)
        looked = await archive.subscriptions.check(f"{origin}/f")

    assert looked.subscription.url == f"{origin}/f"
    assert looked.state.saved_count == 1
