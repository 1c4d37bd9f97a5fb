from types import SimpleNamespace

import pytest
from aiohttp import web

from archiver.errors import IndexUnavailable
from archiver.model.job import QueueCounts
from archiver.web import health

ROUTES = (
    web.get("/healthz", health.healthz, name="healthz"),
    web.get("/metrics", health.metrics, name="metrics"),
)


class Index:
    """Says what the services say, while it is well."""

    well = True

    async def counts(self) -> QueueCounts:
        if not self.well:
            raise IndexUnavailable("The disk is full.")
        return QueueCounts()

    async def overview(self):
        return SimpleNamespace(entries=3, snapshots=5, warc_bytes=7, queue=QueueCounts(1, 2, 3, 4))


@pytest.fixture
def index() -> Index:
    return Index()


@pytest.fixture
async def client(serve, index):
    return await serve(*ROUTES, services={"captures": index, "search": index})


async def test_healthz_says_ok(client):
    answer = await client.get("/healthz")

    assert (answer.status, await answer.text()) == (200, "ok\n")


async def test_healthz_says_503_and_no_more_when_the_index_does_not_answer(client, index):
    index.well = False

    answer = await client.get("/healthz")

    assert answer.status == 503
    assert "disk" not in await answer.text()


async def test_metrics_are_what_prometheus_reads(client):
    answer = await client.get("/metrics")
    text = await answer.text()

    assert answer.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
    for line in (
        "archiver_entries 3.0",
        "archiver_snapshots 5.0",
        "archiver_warc_bytes 7.0",
        'archiver_jobs{state="queued"} 1.0',
        'archiver_jobs{state="failed"} 4.0',
        "archiver_event_listeners 0.0",
    ):
        assert line in text.splitlines()
    assert "process_resident_memory_bytes" in text
