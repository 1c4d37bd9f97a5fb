"""Behind a proxy that serves the archive under a path, every address leads below that path."""

import json
import re
from dataclasses import replace
from urllib.parse import urljoin, urlsplit

import pytest
from aiohttp.test_utils import TestClient, TestServer
from lxml import html

from archiver.web.app import build_app
from archiver.web.client_limits import ServerLimits
from archiver.web.server import BoundedRunner

BASE = "/archive"
PASSWORD = "a password that is long"
LINKS = ("href", "src", "action", "data", "poster", "formaction")
DOCUMENT = {"Sec-Fetch-Dest": "document", "Sec-Fetch-Site": "same-origin"}
MOST = 30


class Server(TestServer):
    """The server of the service, with a base path."""

    async def _make_runner(self, **_: object) -> BoundedRunner:
        return BoundedRunner(self.app, ServerLimits(), base_path=BASE)


@pytest.fixture
def settings(saved_archive):
    return replace(saved_archive.settings, base_path=f"{BASE}/", password=PASSWORD)


@pytest.fixture
async def client(runtime):
    server = Server(build_app(runtime), skip_url_asserts=True)
    async with TestClient(server) as client:
        yield client


async def sign_in(client):
    sent = {"password": PASSWORD, "next": "/snapshots"}
    return await client.post("/login", data=sent, allow_redirects=False)


def addresses(text):
    """Return all addresses that a page refers to."""
    for element in html.fromstring(text).iter():
        yield from (element.get(name) for name in LINKS if element.get(name))
        if element.get("http-equiv", "").lower() == "refresh":
            yield element.get("content").partition("url=")[2]


async def test_login_and_cookies_use_the_base_path(client):
    for path in ("/", f"{BASE}/", BASE):  # a proxy removes it, or passes it on
        response = await client.get(path, headers=DOCUMENT, allow_redirects=False)
        assert response.headers["Location"] == f"{BASE}/login?next=/"
    answer = await sign_in(client)
    assert answer.headers["Location"] == f"{BASE}/snapshots"
    assert answer.cookies["archiver_session"]["path"] == f"{BASE}/"
    back = {"Referer": f"http://127.0.0.1:{client.port}{BASE}/tags"}
    chosen = await client.post("/language", data={}, headers=back, allow_redirects=False)
    assert chosen.headers["Location"] == f"{BASE}/tags"


async def test_every_link_is_below_the_base_path(client, saved_archive):
    client.session.cookie_jar.update_cookies({})
    answer = await sign_in(client)
    session = {"Cookie": f"archiver_session={answer.cookies['archiver_session'].value}"}
    todo = [f"{BASE}/", f"{BASE}/web/{saved_archive.url('/foxes')}", f"{BASE}/nothing"]
    known, checked = {*todo}, 0
    while todo and checked < MOST:
        page, checked = todo.pop(0), checked + 1
        answer = await client.get(page, headers=DOCUMENT | session, allow_redirects=False)
        results = [answer.headers.get("Location"), answer.headers.get("Content-Location")]
        if answer.content_type == "text/html" and (text := await answer.text()):
            results += addresses(text)
        results += re.findall(r"<(/[^>]*)>", answer.headers.get("Link", ""))
        for each in filter(None, results):
            whole = urlsplit(urljoin(f"http://here{page}", each))
            if whole.netloc != "here" or whole.scheme != "http":
                continue
            assert whole.path.startswith(f"{BASE}/"), (page, each)
            assert not whole.path.startswith(f"{BASE}{BASE}"), (page, each)
            path = whole._replace(scheme="", netloc="", fragment="").geturl()
            if path not in known and "/logout" not in path:
                known.add(path)
                todo.append(path)
    assert checked > 20


async def test_machine_readable_files_use_the_base_path(client, saved_archive):
    headers = {"Authorization": f"Bearer {PASSWORD}"}
    for path in (
        "/manifest.webmanifest",
        "/feed.json",
        "/api/v1/entries",
        "/timemap/json/{}",
        "/feed.atom",
    ):
        answer = await client.get(path.format(saved_archive.url("/foxes")), headers=headers)
        text = await answer.text()
        origin = f"http://127.0.0.1:{client.port}"

        results = [each.removeprefix(origin) for each in re.findall(rf"{origin}[^\s\"<>]*", text)]
        if answer.content_type != "application/atom+xml":
            results += re.findall(r'"(/[^"]*)"', text)

        assert results or path == "/api/v1/entries", path
        assert all(each.startswith(f"{BASE}/") for each in results), results


async def test_the_openapi_document_names_the_base_path(client):
    headers = {"Authorization": f"Bearer {PASSWORD}"}
    answer = await client.get("/api/v1/openapi.json", headers=headers)
    assert json.loads(await answer.text())["servers"] == [{"url": BASE}]


async def test_an_archived_url_is_unchanged_below_the_base_path(client, raw):
    target = "/web/20240101000000/http://a.example/x//y/%2F..%2f?"
    _, text = await raw(client, f"{BASE}{target}", "Host: localhost", "Sec-Fetch-Dest: document")
    assert "http://a.example/x//y/%2F..%2f?" in text
