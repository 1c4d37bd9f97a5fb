"""CDX, Memento and availability clients of other projects work with our server."""

import asyncio
from types import SimpleNamespace

import cdx_toolkit
import cdx_toolkit.myrequests
import pytest
import requests
import wayback
from wayback import _utils

from archiver.services.capture_queries import Cdx, Mementos
from archiver.services.replay import Replay
from archiver.web.routes import ROUTES
from tests.web.test_memento import SITE, TIMES, db, keep

__all__ = ["db"]

COUNT = 162
URLS = [f"http://a.example/{n % 7}" for n in range(COUNT)]
MOMENTS = [f"2024010{1 + n // 60}00{n % 60:02}00" for n in range(COUNT)]
FOUND = sorted(zip(URLS, MOMENTS, strict=True))


@pytest.fixture
async def client(db, serve):
    await keep(db, *zip(URLS, MOMENTS, strict=True))
    return await serve(
        *ROUTES,
        services={
            "replay": Replay(db, None, SimpleNamespace(max_decoded_bytes=1)),
            "cdx": Cdx(db, block=10),
            "mementos": Mementos(db),
        },
    )


@pytest.fixture
def no_client_pauses(monkeypatch):
    """Remove the pauses that clients make between requests to public servers."""
    monkeypatch.setitem(cdx_toolkit.myrequests.retry_info["default"], "minimum_interval", 0)


def place(client, path):
    return f"http://127.0.0.1:{client.port}{path}"


@pytest.mark.usefixtures("no_client_pauses")
async def test_cdx_toolkit_gets_every_row_once_page_by_page(client):
    for path in ("/cdx", "/cdx/search/cdx", "/web/cdx"):
        fetcher = cdx_toolkit.CDXFetcher(source=place(client, path))

        def ask(fetcher=fetcher):
            pages = fetcher.get_size_estimate("a.example/*", as_pages=True, pageSize=3)
            return pages, list(fetcher.iter("a.example/*", pageSize=3))

        pages, rows = await asyncio.to_thread(ask)

        assert [(row["url"], row["timestamp"]) for row in rows] == FOUND, path
        assert pages == (17 if path == "/web/cdx" else 6), path


async def test_the_edgi_wayback_client_gets_every_row_once(client, monkeypatch):
    monkeypatch.setattr(wayback._client, "CDX_SEARCH_URL", place(client, "/cdx/search/cdx"))
    unlimited = _utils.RateLimit(0)

    for limit in (7, 1000):

        def ask(limit=limit):
            session = wayback.WaybackSession(search_calls_per_second=unlimited)
            with wayback.WaybackClient(session) as asking:
                every = list(asking.search("a.example/*", limit=limit))
                last = list(asking.search("a.example/*", limit=-3, fast_latest=True))
                return every, last

        every, last = await asyncio.to_thread(ask)

        assert [(row.original, f"{row.timestamp:%Y%m%d%H%M%S}") for row in every] == FOUND, limit
        assert [row.original for row in last] == [url for url, _ in FOUND[-3:]], limit


async def test_the_availability_api_returns_the_nearest_capture(client, db):
    await keep(db, *((SITE, timestamp) for timestamp in TIMES))

    async def ask(**parameters):
        result = await asyncio.to_thread(
            requests.get, place(client, "/wayback/available"), params=parameters, timeout=30
        )
        return result.json()

    latest = await ask(url=SITE.removeprefix("http://"))
    near = await ask(url=SITE, timestamp="201802")

    assert latest["archived_snapshots"]["closest"]["timestamp"] == TIMES[-1]
    assert near["archived_snapshots"]["closest"] == {
        "status": "200",
        "available": True,
        "url": place(client, f"/web/{TIMES[3]}/{SITE}"),
        "timestamp": TIMES[3],
    }
    assert near["timestamp"] == "201802"
    assert await ask(url="http://none.example/") == {
        "url": "http://none.example/",
        "archived_snapshots": {},
    }
