"""Compression of responses, and responses that are not compressed."""

import gzip
import random
import re
from collections.abc import AsyncIterator
from io import BytesIO
from pathlib import Path

import pytest
from aiohttp import ClientSession
from aiohttp.test_utils import TestClient
from yarl import URL

from archiver.app import open_app
from archiver.config import Settings
from archiver.http.urls import hash_url
from archiver.web.app_keys import STATIC
from tests.prepared_archives import Prepared, import_warc
from tests.warcs import Warc
from tests.web.conftest import client_of

PAGE = "http://a.example/page"
MOMENT = "20200102030405"
ARTICLE = "<title>herons</title><p>" + "<p>The heron stands in the shallow water and waits. " * 60
UNPACK = {"gzip": gzip.decompress, None: bytes}
TEXTS = [
    "/", "/snapshots", f"/{hash_url(PAGE)}/index.md", f"/{hash_url(PAGE)}/{MOMENT}/",
    f"/web/*/{PAGE}", f"/web/{MOMENT}/{PAGE}", "/metrics", "/cdx?url=a.example/*",
    f"/timemap/link/{PAGE}", "/api/v1/entries", "/nothing-here",
]  # fmt: skip


def archived() -> bytes:
    warc = Warc()
    warc.response(PAGE, ARTICLE.encode(), "text/html")
    warc.response("http://a.example/data.csv", b"a,b,c\n" * 500, "text/csv")
    for number in range(20):
        warc.response(f"http://a.example/{number}", b"<title>%d</title>Words" % number, "text/html")
    for second in range(10, 30):
        warc.response(PAGE, ARTICLE.encode(), "text/html", at=f"2020-01-02T03:05:{second}Z")
    return warc.bytes


async def keep_all(data: Path) -> None:
    async with open_app(Settings(data=data)) as runtime:
        await import_warc(runtime, archived())


async def started(prepared: Prepared, data: Path, **more: object) -> AsyncIterator[TestClient]:
    await prepared.copy(keep_all, data)
    async with open_app(Settings(data=data, **more)) as runtime, client_of(runtime) as client:
        yield client


@pytest.fixture
async def client(prepared, tmp_path) -> AsyncIterator[TestClient]:
    async for each in started(prepared, tmp_path / "data"):
        yield each


async def ask(client, target: str, accept: str | None = None, method: str = "GET", **more: str):
    """Return the response, and its body as sent on the wire."""
    headers = {name.replace("_", "-"): value for name, value in more.items()}
    headers["Accept-Encoding"] = accept or "identity"
    url = URL(f"http://127.0.0.1:{client.port}{target}", encoded=True)
    async with (
        ClientSession(auto_decompress=False) as session,
        session.request(method, url, headers=headers, allow_redirects=False) as answer,
    ):
        return answer, await answer.read()


def without_what_changes(body: bytes) -> bytes:
    """Return the parts that are equal in two responses to one request."""
    unsigned = re.sub(rb"/~[A-Za-z0-9._-]+/|data-banner=\"[0-9a-f]+\"", b"/", body)
    return b"" if unsigned.startswith(b"# HELP") else unsigned


async def test_own_text_is_compressed_if_the_client_accepts_gzip(client):
    for target in TEXTS:
        plain, whole = await ask(client, target)
        answer, body = await ask(client, target, "gzip")

        assert len(whole) > 1024, target
        assert (answer.status, answer.headers.get("Content-Encoding")) == (plain.status, "gzip")
        assert len(body) < len(whole), target
        unpacked = gzip.decompress(body)
        assert without_what_changes(unpacked) == without_what_changes(whole), target
        assert "Content-Encoding" not in plain.headers
        for each in (plain, answer):
            assert "Accept-Encoding" in each.headers["Vary"], target
            assert each.headers["Content-Type"] == plain.headers["Content-Type"]


async def test_small_compressed_and_stored_bodies_are_not_compressed(client):
    stored = [f"/web/{MOMENT}id_/{PAGE}", f"/web/{MOMENT}/http://a.example/data.csv"]
    for target in ["/healthz", "/export/archive.warc.gz", "/export/archive.wacz", *stored]:
        answer, _ = await ask(client, target, "br, gzip")

        assert answer.status == 200
        assert "Content-Encoding" not in answer.headers, target

    part, body = await ask(client, stored[1], "br, gzip", Range="bytes=0-1999")
    assert (part.status, len(body)) == (206, 2000)
    assert "Content-Encoding" not in part.headers


@pytest.mark.parametrize("accepted", ["gzip;q=0", "br, gzip; q=0.0, identity", "identity"])
async def test_nothing_is_compressed_for_a_client_that_refuses_gzip(client, accepted):
    answer, _ = await ask(client, TEXTS[0], accepted)

    assert answer.status == 200
    assert "Content-Encoding" not in answer.headers


async def test_an_event_stream_is_not_compressed(client):
    answer, body = await ask(client, "/api/v1/events?jobs=999", "br, gzip")

    assert "Content-Encoding" not in answer.headers
    assert body.endswith(b"event: end\ndata: {}\n\n")


async def test_each_coding_has_its_own_entity_tag(client):
    url = client.app[STATIC].url("pages.css")
    tags, bodies = {}, set()
    for coding in ("identity", "gzip"):
        answer, body = await ask(client, url, coding)
        tags[coding] = answer.headers["ETag"]
        bodies.add(UNPACK[answer.headers.get("Content-Encoding")](body))

    assert (len(set(tags.values())), len(bodies)) == (2, 1)
    for coding, tag in tags.items():
        for validator in (tag, f"W/{tag}", f'"other", {tag}', "*"):
            answer, body = await ask(client, url, coding, If_None_Match=validator)
            assert (answer.status, body) == (304, b""), (coding, validator)
            assert answer.headers["ETag"] == tag
            assert "Accept-Encoding" in answer.headers["Vary"]
        other_tags = ", ".join(each for each in tags.values() if each != tag)
        answer, _ = await ask(client, url, coding, If_None_Match=other_tags)
        assert answer.status == 200


async def test_responses_to_other_sites_are_not_compressed(client):
    for site in ("cross-site", "same-site", "anything"):
        for target in TEXTS if site == "cross-site" else TEXTS[1:2]:
            answer, _ = await ask(client, target, "br, gzip", Sec_Fetch_Site=site)

            is_replayed = target.startswith("/web/2")
            assert ("Content-Encoding" in answer.headers) is is_replayed, target
        for ours in ("same-origin", "none"):
            answer, _ = await ask(client, "/snapshots?q=heron", "br, gzip", Sec_Fetch_Site=ours)
            assert answer.headers["Content-Encoding"] == "gzip", site


MARK = "q7x9w2z4k8"


async def test_no_request_data_is_in_a_page_with_an_access_token(prepared, tmp_path):
    """The part whose length could reveal a permission is fixed before the permission is made."""
    async for client in started(prepared, tmp_path / "data", password="heron"):
        with_permission = 0
        for target in TEXTS:
            more = "&".join(f"{name}={MARK}" for name in ("q", "tag", "at", "next", "after", "x"))
            url = target + ("&" if "?" in target else "?") + more
            for each in (url, target):
                _, body = await ask(
                    client, each, Authorization="Bearer heron", User_Agent=MARK, Cookie=f"a={MARK}",
                    Referer=f"http://{MARK}/", Accept_Language=MARK, X_Forwarded_Host=MARK,
                )  # fmt: skip
                if b"/web/~" in body:
                    with_permission += 1
                    assert MARK.encode() not in body, each
        assert with_permission > 0


MAX_FIRST_VISIT = 60_000
"""Bytes of a full list and everything that it loads, for a browser with an empty cache."""


def long_links() -> bytes:
    """Return links with long titles and notes, and with several tags each."""
    pick = random.Random(1)
    words = ["".join(pick.choices("etaoinshrdlucmfw", k=pick.randint(2, 9))) for _ in range(2000)]
    rows = ["url,title,note,tags"]
    for _ in range(60):
        path = "-".join(pick.choices(words, k=5))
        title, note = (" ".join(pick.choices(words, k=count)) for count in (12, 60))
        tags = " ".join(pick.choices(words[:40], k=5))
        rows.append(f"https://{pick.choice(words)}.example/{path},{title},{note},{tags}")
    return "\n".join(rows).encode()


async def test_the_first_visit_of_a_full_list_transfers_at_most_60_kb(runtime):
    await runtime.imports.read_file(BytesIO(long_links()), name="links.csv")
    sizes = {}
    async with client_of(runtime) as client:
        for path in ("/snapshots", "/snapshots?view=dense"):
            _, packed = await ask(client, path, "gzip")
            page = gzip.decompress(packed).decode()
            parts = set(re.findall(r'(?:src|href)="(/static/[^"#]+)', page))
            file_sizes = [len((await ask(client, each, "gzip"))[1]) for each in parts]
            sizes[path] = len(packed), sum(file_sizes)
            assert page.count("<h3>") == 50, path

    assert {path: sum(both) for path, both in sizes.items() if sum(both) > MAX_FIRST_VISIT} == {}
