"""TimeGate, TimeMaps and CDX over a real index behave as RFC 7089 and common clients expect."""

from types import SimpleNamespace

import pytest
from yarl import URL

from archiver.db import captures, segment_rows
from archiver.db.engine import Database
from archiver.model.capture import Capture, Location, PayloadDigest, RecordId, Timestamp
from archiver.services.capture_queries import PAGE as INDEX_PAGE
from archiver.services.capture_queries import Cdx, Mementos
from archiver.services.replay import Replay
from archiver.web.routes import ROUTES

SITE = "http://a.example/page?b=1&a=2"
TIMES = [f"20{year}0601120000" for year in range(15, 25)]
HTTP_2018 = "Fri, 01 Jun 2018 12:00:00 GMT"


def capture(url: str, timestamp: str, number: int) -> Capture:
    return Capture(
        url=url,
        timestamp=Timestamp(timestamp),
        status=200,
        media_type="text/html",
        payload_digest=PayloadDigest(f"sha256:{number:064x}"),
        payload_length=1,
        record_id=RecordId(f"urn:uuid:{number}"),
        location=Location("a.warc.gz", number, 1),
    )


@pytest.fixture
async def db(tmp_path):
    opened = await Database.open(tmp_path / "archive.sqlite3")
    yield opened
    await opened.close()


@pytest.fixture
async def client(db, serve):
    await keep(db, *((SITE, timestamp) for timestamp in TIMES))
    return await serve(*ROUTES, services=services(db))


def services(db):
    return {
        "replay": Replay(db, None, SimpleNamespace(max_decoded_bytes=1)),
        "cdx": Cdx(db),
        "mementos": Mementos(db),
    }


async def keep(db, *pairs):
    async with db.write() as conn:
        await segment_rows.set_indexed_with_ids(conn, {"a.warc.gz": 1 << 20})
        start = len(await captures.between(conn, "a.warc.gz", 0, 1 << 40))
        rows = [capture(url, at, start + n) for n, (url, at) in enumerate(pairs)]
        await captures.insert_all(conn, rows)


async def get(client, target, **options):
    options = {"allow_redirects": False} | options
    return await client.session.get(
        URL(f"http://127.0.0.1:{client.port}{target}", encoded=True), **options
    )


async def test_a_timegate_redirects_to_the_nearest_memento(client):
    answer = await get(client, f"/timegate/{SITE}", headers={"Accept-Datetime": HTTP_2018})

    assert answer.status == 302
    assert answer.headers["Location"].endswith(f"/web/20180601120000/{SITE}")
    assert answer.headers["Vary"] == "Accept-Datetime"
    assert "Memento-Datetime" not in answer.headers
    links = answer.links
    assert str(links["original"]["url"]) == SITE
    assert {"timemap", "timegate", "first memento", "last memento"} <= {*links}
    assert {"prev memento", "next memento"} <= {*links}
    assert links["memento"]["datetime"] == HTTP_2018


async def test_a_link_format_timemap_lists_mementos_in_order(client):
    answer = await get(client, f"/timemap/link/{SITE}")
    text = await answer.text()

    assert answer.headers["Content-Type"].startswith("application/link-format")
    lines = text.strip().split(",\n")
    assert lines[0] == f'<{SITE}>; rel="original"'
    assert 'rel="self"' in lines[1]
    mementos = [line for line in lines if "memento" in line]
    assert [line.split("/web/")[1][:14] for line in mementos] == TIMES
    assert 'rel="first memento"; datetime="Mon, 01 Jun 2015 12:00:00 GMT"' in mementos[0]
    assert 'rel="last memento"' in mementos[-1]


async def test_behind_tls_every_uri_is_https(client):
    secure = {"X-Forwarded-Proto": "https"}

    answer = await (await get(client, f"/timemap/json/{SITE}", headers=secure)).json()

    uris = [answer["self"], answer["timegate_uri"], *(e["uri"] for e in answer["mementos"]["list"])]
    assert all(each.startswith("https://127.0.0.1:") for each in uris)


async def test_a_timemap_of_several_index_pages_is_complete(client, db):
    url, many = "http://many.example/", 2 * INDEX_PAGE + 7
    await keep(db, *((url, f"2024010100{n // 60:02}{n % 60:02}") for n in range(many)))

    answer = await (await get(client, f"/timemap/json/{url}")).json()

    moments = [each["datetime"] for each in answer["mementos"]["list"]]
    assert len(moments) == many
    assert moments == sorted(set(moments))


async def test_cdx_and_memento_need_the_password(db, serve):
    client = await serve(*ROUTES, services=services(db), password="correct horse")

    for target in (f"/timegate/{SITE}", f"/timemap/link/{SITE}", "/cdx?url=a.example"):
        answer = await get(client, target)
        assert answer.status == 401, target
