"""User cookies are sent with pages that the user requested, not where other sites lead."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from aiohttp import web

from archiver.app import open_app
from archiver.config import Settings
from archiver.crawl.requisites import Requisites
from archiver.http.timestamps import http_date
from archiver.model.feed import source_of
from archiver.model.requisite import Requisite, RequisiteKind
from archiver.services.cookies import CookieSettings
from tests.conftest import SENTENCE

SECRET = "s3cr3t-of-the-person"
PIXEL = "image/png"


class Members:
    """A site with a user cookie, which records the cookies that each path received."""

    def __init__(self, live):
        self.live = live
        self.requests = {}

    def __call__(self, path, body="", *, kind="text/html", **headers):
        text = SENTENCE.format(name=path) * 6 + body if kind == "text/html" else body

        async def answer(request):
            self.requests[path] = SECRET in request.headers.get("Cookie", "")
            return web.Response(text=text, content_type=kind, headers=headers)

        return self.live.add_handler(path, answer)

    @property
    def known(self):
        """Return the paths that were requested with the cookie."""
        return {path for path, is_known in self.requests.items() if is_known}


@pytest.fixture
def members(live):
    return Members(live)


@pytest.fixture
def foreign_url(live):
    """Return the URL of a path at a site without a cookie."""
    return lambda path: live.origin.replace("127.0.0.1", "localhost") + path


@pytest.fixture
def redirect(live):
    """Add a path that redirects; return its URL at the site with the cookie."""

    def put(path, target):
        async def answer(_):
            return web.Response(status=302, headers={"Location": target})

        return live.add_handler(path, answer)

    return put


@pytest.fixture
async def settings(tmp_path):
    """Settings of an archive with a cookie for one of two sites."""
    settings = Settings(data=tmp_path / "data", allow_networks="127.0.0.0/8", host_delay=0)
    cookie = f"127.0.0.1\tFALSE\t/\tFALSE\t0\ts\t{SECRET}\n"
    await CookieSettings(settings.data).take(cookie.encode())
    return settings


@pytest.fixture
async def archive(settings):
    async with open_app(settings) as opened:
        yield opened


async def saved(archive, *urls, source="web"):
    await archive.entries.save(urls, source=source)
    await archive.crawling.work()


def feed_of(*pages):
    at = datetime.now(UTC) + timedelta(seconds=2)
    items = "".join(
        f"<item><link>{each}</link><pubDate>{http_date(at)}</pubDate></item>" for each in pages
    )
    return f"<rss version='2.0'><channel><title>A</title>{items}</channel></rss>"


async def test_a_page_in_a_feed_of_another_site_gets_no_cookies(
    archive, live, members, foreign_url
):
    page = members("/leave", '<img src="/seen.png">')
    members("/seen.png", kind=PIXEL)
    live.put("/theirs.xml", feed_of(page), kind="application/rss+xml")
    await archive.subscriptions.follow(foreign_url("/theirs.xml"), everything=True)
    await archive.crawling.work()

    assert members.requests == {"/leave": False, "/seen.png": False}


async def test_a_page_in_a_feed_of_its_own_site_gets_cookies(archive, live, members):
    page = members("/story")
    live.put("/own.xml", feed_of(page), kind="application/rss+xml")
    await archive.subscriptions.follow(live.url("/own.xml"), everything=True)
    await archive.crawling.work()

    assert members.known == {"/story"}


async def test_a_feed_item_gets_cookies_only_after_the_user_saves_it(archive, members, foreign_url):
    page = members("/story", '<img src="/lost.png">')
    await saved(archive, page, source=source_of(foreign_url("/theirs.xml")))
    assert await archive.recaptures.gaps() == (1, 0)
    await archive.crawling.work()
    assert not members.known

    await saved(archive, page)

    assert members.known == {"/story"}
    assert (await archive.entries.get(page)).entry.annotation.source == "web"


async def test_a_redirect_through_another_site_is_followed_without_cookies(
    archive, live, members, redirect, foreign_url
):
    target, back = members("/target"), members("/back")
    redirect("/away", target)
    redirect("/round", back)
    through = redirect("/there", foreign_url("/round"))
    own_redirect = redirect("/own", members("/mine"))

    await saved(archive, foreign_url("/away"), through, own_redirect)

    assert members.requests == {"/target": False, "/back": False, "/mine": True}


async def test_resources_named_by_another_site_get_no_cookies(
    archive, live, members, redirect, foreign_url
):
    pixels = {name: members(f"/{name}.png", kind=PIXEL) for name in ("led", "styled", "framed")}
    redirect("/led", pixels["led"])
    live.put("/a.css", f"p {{ background: url({pixels['styled']}) }}", kind="text/css")
    live.put("/frame", f'<img src="{pixels["framed"]}">')
    members("/own.png", kind=PIXEL)
    page = members(
        "/page",
        f'<img src="{foreign_url("/led")}"><link rel=stylesheet href="{foreign_url("/a.css")}">'
        f'<iframe src="{foreign_url("/frame")}"></iframe><img src="/own.png">',
    )

    await saved(archive, page)

    unknown = dict.fromkeys(["/led.png", "/styled.png", "/framed.png"], False)
    assert members.requests == {"/page": True, "/own.png": True, **unknown}


async def test_pages_that_the_user_did_not_request_get_no_cookies(
    settings, start_crawl, members, live
):
    sheet = members("/a.css", "@import '/b.css'", kind="text/css")
    members("/b.css", kind="text/css")
    async with start_crawl() as crawl, crawl.recording():
        style = Requisite(sheet, RequisiteKind.STYLE)
        await Requisites(crawl.context).fetch_all(live.url("/page"), (style,))

    assert members.requests == {"/a.css": False, "/b.css": False}


async def test_public_archives_get_no_user_cookies(live, members, redirect, settings):
    settings = replace(settings, rescue=live.url("/web/"))
    missing_page = "http://localhost:9/gone"
    moment = {"Memento-Datetime": "Mon, 01 Jun 2015 00:00:00 GMT"}
    members("/shot", f'<img src="{live.url("/shot.png")}">', **moment)
    members("/shot.png", kind=PIXEL, **moment)

    async def gate(request):
        members.requests["gate"] = SECRET in request.headers.get("Cookie", "")
        return web.Response(status=302, headers={"Location": "/shot"})

    live.add_handler(f"/web/{missing_page}", gate)
    async with open_app(settings) as opened:
        await opened.entries.save([missing_page], source="web")
        await opened.recovery.rescue([missing_page])
        await opened.crawling.work()

    assert members.requests == {"gate": False, "/shot": False, "/shot.png": False}
