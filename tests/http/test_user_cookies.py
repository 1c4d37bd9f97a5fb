"""User cookies are sent to their host and never archived."""

import asyncio
import gzip
import stat

import pytest
from aiohttp import web

from archiver.app import open_app
from archiver.config import Settings
from archiver.errors import InputError
from archiver.services.cookies import CookieSettings

SECRET = "s3cr3t-of-the-person"


def cookie(name="session", value=SECRET, domain="127.0.0.1"):
    return f"{domain}\tFALSE\t/\tFALSE\t0\t{name}\t{value}\n".encode()


@pytest.fixture
def keeping(tmp_path):
    return CookieSettings(tmp_path / "data")


@pytest.fixture
def members(live):
    """Run a server with a page for cookie holders; yield the requests it received."""
    requests = {}

    async def answer(request):
        requests[request.path] = request.headers.get("Cookie", "")
        if SECRET not in requests[request.path]:
            raise web.HTTPForbidden
        page = '<title>For members</title><img src="/pixel.png"><p>' + "Welcome back. " * 30
        return web.Response(
            text=page,
            content_type="text/html",
            headers={"Set-Cookie": f"session={SECRET}-renewed; HttpOnly"},
        )

    for path in ("/members", "/pixel.png"):
        live.add_handler(path, answer)
    return requests


def everything_in(directory):
    """Yield each file of a directory except the cookie file, decompressed."""
    for path in directory.rglob("*"):
        if path.is_file() and path.name != "cookies.txt":
            content = path.read_bytes()
            yield path, gzip.decompress(content) if path.suffix == ".gz" else content


async def test_cookies_are_sent_and_appear_in_no_file_or_log(
    start_crawl, live, keeping, members, tmp_path, caplog
):
    await keeping.take(cookie())
    caplog.set_level("DEBUG")

    async with start_crawl() as crawl:
        await crawl.queue(live.url("/members"))
        await crawl.run()
        (job,) = await crawl.jobs()

    assert job.title == "For members"
    assert SECRET in members["/members"]
    assert SECRET in members["/pixel.png"]
    files = dict(everything_in(tmp_path / "data"))
    warc = b"".join(content for path, content in files.items() if path.suffix == ".gz")
    assert b"GET /members HTTP/1.1" in warc
    assert b"Welcome back" in warc
    assert [path for path, content in files.items() if SECRET.encode() in content] == []
    assert SECRET not in caplog.text


async def test_cookie_values_are_readable_only_by_the_owner_of_the_file(keeping, tmp_path):
    await keeping.take(cookie() + cookie("theme", "dark", "other.example"))

    assert [(each.host, each.name) for each in await keeping.list()] == [
        ("127.0.0.1", "session"),
        ("other.example", "theme"),
    ]
    assert SECRET not in repr(await keeping.list())
    assert stat.S_IMODE((tmp_path / "data" / "cookies.txt").stat().st_mode) == 0o600


async def test_removed_cookies_are_not_sent(start_crawl, live, keeping, members):
    await keeping.take(cookie())
    assert await keeping.remove("127.0.0.1") == 1

    async with start_crawl(retries=0) as crawl:
        await crawl.queue(live.url("/members"))
        await crawl.run()

    assert members == {"/members": ""}
    with pytest.raises(InputError, match="No cookies are stored for"):
        await keeping.remove("127.0.0.1")


async def test_changed_cookies_are_used_without_a_restart(keeping, tmp_path):
    url = "http://127.0.0.1/"
    async with open_app(Settings(data=tmp_path / "data")) as archive, asyncio.timeout(60):
        await keeping.take(cookie())
        while not archive.user_cookies.field_for(url, ["127.0.0.1"]).value:  # noqa: ASYNC110 - no event
            await asyncio.sleep(0)
        await keeping.remove("127.0.0.1")
        while archive.user_cookies.field_for(url, ["127.0.0.1"]).value:  # noqa: ASYNC110 - no event
            await asyncio.sleep(0)


@pytest.mark.parametrize("content", [b"", b"id=1; Path=/", b"\xff\xfe\0\0", b"# Netscape\n"])
async def test_a_file_without_cookies_is_refused(keeping, content):
    with pytest.raises(InputError, match="no cookie"):
        await keeping.take(content)
