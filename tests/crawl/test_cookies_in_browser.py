"""User cookies in the browser: sent to their own site only, and never stored."""

import gzip
from io import BytesIO
from zipfile import ZipFile

import pytest
from aiohttp import web

from archiver.app import open_app
from archiver.config import Settings
from archiver.model.feed import source_of
from archiver.services.cookies import CookieSettings
from archiver.services.export_selection import Selected
from tests.conftest import exported
from tests.crawler import quick_rendering
from tests.segments import segments

SECRET = "s3cr3t-of-the-person"
APP = """<!DOCTYPE html><title>App</title><body><p>{name}</p><script>
fetch('{url}').then((answer) => answer.text()).then((text) => document.body.append(text));
</script>"""


def cookie_recorder(received):
    """Return a handler that records cookies and responds with a body that every origin may read."""

    async def answer(request):
        received[request.path] = request.headers.get("Cookie", "")
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


async def exports(runtime):
    """Return an export of the archive as WARC and as WACZ, decompressed."""
    results = [await exported(runtime, form, Selected()) for form in ("warc", "wacz")]
    with ZipFile(BytesIO(results[1])) as package:
        parts = [package.read(each) for each in package.namelist()]
    gzipped = [gzip.decompress(each) for each in (results[0], *parts) if each[:2] == b"\x1f\x8b"]
    return gzipped[0], b"".join((*gzipped[1:], *parts))


async def test_only_the_site_of_a_cookie_receives_it_and_it_is_never_stored(live, settings):
    """Requests by pages of another site, in their frames, or where they lead have no cookies."""
    received = {}

    def app(name):
        url = live.add_handler(f"/{name}.txt", cookie_recorder(received))
        return live.put(f"/{name}", APP.format(name=name, url=url))

    own_page, iframe_page, frame = app("own"), app("brought"), app("framed")
    app("hostile")
    app("led")
    live.put("/framing", f'<!DOCTYPE html><p>Here.</p><iframe src="{frame}"></iframe>')

    async def lead(_):
        return web.Response(status=302, headers={"Location": live.url("/led")})

    live.add_handler("/away", lead)
    elsewhere = live.origin.replace("127.0.0.1", "localhost")
    redirects = [f"{elsewhere}/{name}" for name in ("hostile", "framing", "away")]

    async with open_app(settings) as runtime:
        assert not runtime.crawling.browser_problem
        await runtime.entries.save([iframe_page], source=source_of(f"{elsewhere}/feed"))
        await runtime.entries.save([own_page, *redirects], source="cli")
        await runtime.crawling.work()
        shown = await runtime.entries.snapshot(own_page)
        everything = await exports(runtime)

    warc = b"".join(map(gzip.decompress, segments(settings.data).values()))
    assert "said to whoever asks" in shown.text
    assert SECRET in received.pop("/own.txt")
    foreign_paths = ("/hostile.txt", "/brought.txt", "/framed.txt", "/led.txt")
    assert received == dict.fromkeys(foreign_paths, "")
    for each in (warc, *everything):
        assert b"GET /own.txt HTTP/1.1" in each
        assert b"said to whoever asks" in each
        assert SECRET.encode() not in each
