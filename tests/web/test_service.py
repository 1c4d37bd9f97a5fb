"""The whole service: entries saved by the API are available in every interface."""

import json
import re
from collections.abc import AsyncIterator
from urllib.parse import urlsplit

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer, unused_port
from yarl import URL

from archiver.app import open_app
from archiver.config import Settings
from archiver.web.app import build_app

PAGE = """<!DOCTYPE html><html lang="en"><title>A page of words</title>
<link rel="stylesheet" href="/style.css"><article><h1>A page of words</h1>
<p>{}</p><img src="/picture.png?a=1&amp;b=2" alt=""></article>"""
WORDS = "The heron stands in the shallow water and waits, as it has done every morning. " * 8


async def page(_request: web.Request) -> web.Response:
    return web.Response(text=PAGE.format(WORDS), content_type="text/html")


async def style(_request: web.Request) -> web.Response:
    return web.Response(text="h1 { background: url(/picture.png) }", content_type="text/css")


async def picture(_request: web.Request) -> web.Response:
    return web.Response(body=b"\x89PNG\r\n\x1a\n" + b"0" * 100, content_type="image/png")


@pytest.fixture
async def site() -> AsyncIterator[str]:
    app = web.Application()
    for path, handler in (("/page", page), ("/style.css", style), ("/picture.png", picture)):
        app.router.add_get(path, handler)
    async with TestServer(app) as server:
        yield f"http://127.0.0.1:{server.port}"


@pytest.fixture
async def runtime(settings):
    async with open_app(settings, serve=True) as runtime:
        yield runtime


async def save(client: TestClient, *urls: str) -> dict:
    """Save URLs and wait until the event stream reports the end of all jobs."""
    answer = await client.post("/api/v1/entries", json={"urls": list(urls), "tags": ["birds"]})
    assert answer.status == 202
    saved = await answer.json()
    ids = ",".join(str(each["job_id"]) for each in saved["accepted"])
    events = await (await client.get(f"/api/v1/events?jobs={ids}")).text()
    assert events.endswith("event: end\ndata: {}\n\n")
    states = [
        json.loads(line[6:]) for line in events.splitlines() if line.startswith('data: {"id"')
    ]
    assert {each["state"] for each in states[-len(urls) :]} == {"saved"}, states
    return saved


async def get(client: TestClient, target: str, **options):
    return await client.session.get(
        URL(f"http://127.0.0.1:{client.port}{target}", encoded=True), **options
    )


async def test_a_saved_url_is_available_on_every_interface(client, site):
    saved = await save(client, f"{site}/page")
    hash_url = saved["accepted"][0]["hash_url"]

    entry = await (await client.get(f"/api/v1/entries/{hash_url}")).json()
    timestamp = entry["entry"]["latest"]
    snapshot = await (
        await client.get(f"/api/v1/entries/{hash_url}/snapshots/{timestamp[:8]}")
    ).json()
    document = await (await client.get("/api/v1/entries", params={"q": "heron"})).json()
    tagged = await (await client.get("/api/v1/entries?tag=birds&limit=1")).json()

    assert entry["entry"]["title"] == "A page of words"
    assert "heron" in snapshot["article"]
    assert {urlsplit(each["url"]).path for each in snapshot["requisites"]} >= {
        "/style.css",
        "/picture.png",
    }
    assert [each["entry"]["hash_url"] for each in document["items"]] == [hash_url]
    assert [each["entry"]["hash_url"] for each in tagged["items"]] == [hash_url]

    for path in ("/", "/snapshots", "/snapshots?q=heron", f"/{hash_url}/", "/import"):
        answer = await client.get(path)
        assert (answer.status, answer.content_type) == (200, "text/html"), path
    shown = await client.get(f"/{hash_url}/{timestamp}/")
    assert (shown.status, shown.content_type) == (200, "text/html")
    markdown = await client.get(f"/{hash_url}/index.md")
    assert markdown.headers["Content-Type"] == "text/markdown; charset=utf-8"
    assert f"hash_url: {hash_url}" in await markdown.text()
    await is_replayed_under_every_form_of_its_address(client, site)
    await is_downloaded_alone_and_in_a_list(client, hash_url)


async def is_replayed_under_every_form_of_its_address(client, site):
    latest = await get(client, f"/web/{site}/page", allow_redirects=False)
    exact = latest.headers["Location"]
    timestamp = exact.split("/")[2]
    page = await get(client, exact)
    raw = await get(client, exact.replace(timestamp, f"{timestamp}id_"))
    year = await get(client, f"/web/{timestamp[:4]}/{site}/page", allow_redirects=False)
    picture = await get(client, f"/web/{timestamp}im_/{site}/picture.png?a=1&b=2")
    answer = await get(client, f"/web/20000101000000cs_/{site}/style.css")
    every = await get(client, f"/web/*/{site}/page")
    absent = await get(client, f"/web/{site}/none")
    nothing = await get(client, f"/web/{timestamp}im_/{site}/none.png")

    assert latest.status == year.status == 302
    assert year.headers["Location"] == exact
    assert page.status == 200
    assert f"/web/{timestamp}cs_/{site}/style.css" in await page.text()
    assert page.headers["Content-Security-Policy"].startswith("sandbox; default-src 'none';")
    assert await raw.text() == PAGE.format(WORDS)
    assert (await picture.read()).startswith(b"\x89PNG")
    assert picture.headers["Content-Type"] == "image/png"
    assert answer.headers["Content-Location"].endswith(f"cs_/{site}/style.css")
    assert "/web/" in await answer.text()
    assert (every.status, every.content_type) == (200, "text/html")
    assert timestamp in await every.text()
    assert (absent.status, absent.content_type) == (404, "text/html")
    assert (nothing.status, await nothing.read()) == (404, b"")


async def is_downloaded_alone_and_in_a_list(client, key):
    for form in ("warc.gz", "wacz"):
        for name, query in ((key, ""), ("archive", ""), ("archive", "?tag=birds")):
            answer = await client.get(f"/export/{name}.{form}{query}")
            assert answer.status == 200, form
            assert "attachment" in answer.headers["Content-Disposition"], form
            assert (await answer.read())[:2] in (b"\x1f\x8b", b"PK"), form
        nothing = await client.get(f"/export/archive.{form}?tag=none")
        assert nothing.status == 404, form


@pytest.fixture
async def split_service(tmp_path) -> AsyncIterator[TestClient]:
    """A service at 127.0.0.1 whose archived pages are at localhost."""
    port = unused_port()
    settings = Settings(
        data=tmp_path / "data",
        allow_networks=("127.0.0.0/8",),
        host_delay=0,
        replay_origin=f"http://localhost:{port}",
    )
    async with open_app(settings, serve=True) as runtime:
        server = TestServer(build_app(runtime), skip_url_asserts=True, port=port)
        async with TestClient(server) as client:
            yield client


async def test_the_replay_origin_serves_only_archived_pages(split_service, site):
    key = (await save(split_service, f"{site}/page"))["accepted"][0]["hash_url"]
    replay_origin = f"http://localhost:{split_service.port}"
    timestamp = (await (await split_service.get(f"/api/v1/entries/{key}")).json())["entry"][
        "latest"
    ]

    shown = await split_service.get(f"/{key}/{timestamp}/")
    frame = re.search(r'<iframe class="replay"[^>]* src="([^"]+)"', await shown.text())[1]
    answer = await get(split_service, f"/web/{timestamp}/{site}/page", allow_redirects=False)
    replayed = await split_service.session.get(URL(frame, encoded=True))
    refused = [
        await split_service.session.get(f"{replay_origin}{path}")
        for path in ("/", "/snapshots", "/cdx")
    ]

    assert frame.startswith(f"{replay_origin}/web/~")
    assert f"frame-src 'self' {replay_origin}/web/;" in shown.headers["Content-Security-Policy"]
    assert answer.headers["Location"] == f"{replay_origin}/web/{timestamp}/{site}/page"
    assert (replayed.status, replayed.content_type) == (200, "text/html")
    assert f"img-src {replay_origin}/web/ data:" in replayed.headers["Content-Security-Policy"]
    assert [each.status for each in refused] == [404, 404, 404]
