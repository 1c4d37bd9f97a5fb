"""User cookies in the browser: sent to their own site only, and never stored."""

import gzip
from contextlib import aclosing
from functools import partial
from io import BytesIO
from zipfile import ZipFile

import pytest
from aiohttp import web

from archiver.app import open_app
from archiver.config import Settings
from archiver.model.feed import source_of
from archiver.services.cookies import CookieSettings
from archiver.services.export_selection import Selected
from tests.crawler import quick_rendering
from tests.segments import segments

SECRET = "s3cr3t-of-the-person"
APP = """<!DOCTYPE html><title>App</title><body><p>{name}</p><script>
fetch('{url}').then((answer) => answer.text()).then((text) => document.body.append(text));
</script>"""


def cookie_recorder(asked):
    """Return a handler that records cookies and responds with a body that every origin may read."""

    async def answer(request):
        asked[request.path] = request.headers.get("Cookie", "")
        return web.Response(
            text="This is said to whoever asks. " * 9,
            headers={"Access-Control-Allow-Origin": "*", "Set-Cookie": f"s={SECRET}-renewed"},
        )

    return answer


@pytest.fixture
async def settings(tmp_path):
    """Settings of an archive with a user cookie that renders every page, quickly."""
    settings = Settings(
        data=tmp_path / "data",
        allow_networks="127.0.0.0/8",
        host_delay=0,
        render="always",
        browser_pages=4,
        host_concurrency=8,
    )
    cookie = f"127.0.0.1\tFALSE\t/\tFALSE\t0\ts\t{SECRET}\n"
    await CookieSettings(settings.data).take(cookie.encode())
    with quick_rendering():
        yield settings


async def exported(runtime):
    """Return an export of the archive as WARC and as WACZ, decompressed."""
    packages = runtime.packages
    found = []
    for make in (partial(packages.warc, name="all.warc.gz"), partial(packages.wacz, title="All")):
        async with aclosing(make(await packages.begin(Selected()))) as body:
            found.append(b"".join([piece async for piece in body]))
    with ZipFile(BytesIO(found[1])) as package:
        parts = [package.read(each) for each in package.namelist()]
    gzipped = [gzip.decompress(each) for each in (found[0], *parts) if each[:2] == b"\x1f\x8b"]
    return gzipped[0], b"".join((*gzipped[1:], *parts))


async def test_cookies_are_sent_with_requests_by_their_own_site_only(live, settings):
    asked = {}
    mine, theirs = (
        live.add_handler(f"/{name}.txt", cookie_recorder(asked)) for name in ("mine", "theirs")
    )
    own = live.put("/own", APP.format(name="own", url=mine))
    live.put("/hostile", APP.format(name="hostile", url=theirs))
    hostile = live.origin.replace("127.0.0.1", "localhost") + "/hostile"

    async with open_app(settings) as runtime:
        assert not runtime.crawling.browser_problem
        await runtime.entries.save([own, hostile], source="cli")
        await runtime.crawling.work()
        shown = await runtime.entries.snapshot(own)
        everything = await exported(runtime)

    warc = b"".join(map(gzip.decompress, segments(settings.data).values()))
    assert "said to whoever asks" in shown.text
    assert SECRET in asked["/mine.txt"]
    assert asked["/theirs.txt"] == ""
    for each in (warc, *everything):
        assert b"GET /mine.txt HTTP/1.1" in each
        assert b"said to whoever asks" in each
        assert SECRET.encode() not in each


async def test_pages_that_another_site_leads_to_send_no_cookies(live, settings):
    asked = {}
    paths = ("brought", "framed", "led")
    urls = {name: live.add_handler(f"/{name}.txt", cookie_recorder(asked)) for name in paths}
    brought = live.put("/brought", APP.format(name="brought", url=urls["brought"]))
    frame = live.put("/frame", APP.format(name="frame", url=urls["framed"]))
    live.put("/hostile", f'<!DOCTYPE html><p>Here.</p><iframe src="{frame}"></iframe>')
    live.put("/app", APP.format(name="app", url=urls["led"]))

    async def lead(_):
        return web.Response(status=302, headers={"Location": live.url("/app")})

    live.add_handler("/away", lead)
    elsewhere = live.origin.replace("127.0.0.1", "localhost")

    async with open_app(settings) as runtime:
        await runtime.entries.save([brought], source=source_of(f"{elsewhere}/feed"))
        await runtime.entries.save([f"{elsewhere}/hostile", f"{elsewhere}/away"], source="cli")
        await runtime.crawling.work()

    assert asked == dict.fromkeys(["/brought.txt", "/framed.txt", "/led.txt"], "")
