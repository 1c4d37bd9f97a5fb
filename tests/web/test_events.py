"""The event stream reports changes of all processes."""

import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest

from archiver.db import new_entries
from archiver.db.engine import Database
from archiver.http.urls import hash_url, host
from archiver.model.annotation import Annotation
from archiver.model.seed import Seed
from archiver.web import events
from archiver.web.app_keys import LISTENERS, RUNTIME

TITLE = "a\r\nb\u2028c"


@pytest.fixture(autouse=True)
def _often(monkeypatch):
    monkeypatch.setattr("archiver.services.crawling.POLL_SECONDS", 0.01)


@pytest.fixture
async def other(client, settings) -> AsyncIterator[Database]:
    """The index, opened a second time."""
    db = await Database.open(settings.data / "archive.sqlite3")
    yield db
    await db.close()


async def queue(db: Database, *urls: str, now: datetime | None = None) -> list[int]:
    """Queue URLs at a given time; return the ids of their jobs."""
    now = now or datetime.now(UTC)
    seeds = [Seed(hash_url(u), u, host(u), Annotation(u, now, title=TITLE)) for u in urls]
    async with db.write() as conn:
        received = await new_entries.receive(conn, seeds, now=now, recapture=True)
    return [each.job_id for each in received]


async def frame(answer) -> dict[str, str]:
    """Return the next event, by its fields."""
    lines = (await answer.content.readuntil(b"\n\n")).decode().removesuffix("\n\n").split("\n")
    return dict(line.split(": ", 1) for line in lines)


async def job(answer) -> dict:
    event = await frame(answer)
    assert event["event"] == "job"
    return json.loads(event["data"])


async def test_job_events_report_state_changes_and_the_end(client, live):
    url = live.article("heron")
    runtime = client.app[RUNTIME]
    (saved,) = (await runtime.entries.save([url], source="cli")).accepted
    answer = await client.get(f"/api/v1/events?jobs={saved.job_id},99")

    first = await job(answer)
    await runtime.crawling.work()
    text = await answer.text()

    assert answer.headers["Content-Type"] == "text/event-stream; charset=utf-8"
    assert answer.headers["Cache-Control"] == "no-store"
    assert (first["id"], first["url"], first["state"]) == (saved.job_id, url, "queued")
    *_, last, end, nothing = text.split("\n\n")
    assert json.loads(last.removeprefix("event: job\ndata: "))["state"] == "saved"
    assert (end, nothing) == ("event: end\ndata: {}", "")


async def test_a_client_that_reconnects_misses_no_event(client, other, monkeypatch):
    monkeypatch.setattr("archiver.services.crawling.MAX_CHANGES", 2)
    answer = await client.get("/api/v1/events")
    await queue(other, "http://a.example/", "http://b.example/")
    await frame(answer)
    last = (await frame(answer))["id"]
    answer.close()

    slow = datetime.now(UTC) - timedelta(hours=1)
    for n in range(5):
        await queue(other, f"http://{n}.example/", now=slow)
    again = await client.get("/api/v1/events", headers={"Last-Event-ID": last})

    assert (await frame(again)) == {"id": last}
    assert [(await job(again))["url"] for _ in range(6)] == [
        "http://b.example/",
        *(f"http://{n}.example/" for n in range(5)),
    ]


async def test_the_number_of_listeners_is_limited(client, monkeypatch, eventually):
    monkeypatch.setattr(events, "_POLL_SECONDS", 0.001)
    listeners = client.app[LISTENERS]
    monkeypatch.setattr(listeners, "_most", 1)
    first = await client.get("/api/v1/events")

    refused = await client.get("/api/v1/events")
    first.close()
    await eventually(lambda: not listeners.count)
    again = await client.get("/api/v1/events")

    assert refused.status == 503
    assert (await refused.json())["error"]["code"] == "too_many_listeners"
    assert again.status == 200


async def test_event_streams_end_when_the_service_stops(client):
    answer = await client.get("/api/v1/events")
    await frame(answer)

    await client.app.shutdown()

    assert await answer.content.read() == b""
    assert client.app[LISTENERS].count == 0
