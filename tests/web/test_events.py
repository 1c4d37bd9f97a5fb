"""The stream, over news that a test tells; whence real ones come is the service's business."""

import asyncio
import json
from datetime import UTC, datetime

import pytest
from aiohttp import web

from archiver.model.capture import HashUrl
from archiver.model.importing import ImportStatus
from archiver.model.job import Job, QueueCounts, State
from archiver.web import events
from archiver.web.keys import LISTENERS

ROUTE = web.get("/api/v1/events", events.events, name="api_events")


def job(state: State, number: int = 1) -> Job:
    return Job(number, HashUrl("0" * 32), "http://a.example/\n", state, title="a\r\nb\u2028c")


IMPORT = ImportStatus(
    3,
    "b.html",
    "netscape",
    datetime(2026, 1, 2, tzinfo=UTC),
    False,
    0,
    0,
    0,
    0,
    0,
    (),
    "",
    QueueCounts(),
)


class News:
    def __init__(self) -> None:
        self.told: asyncio.Queue[object] = asyncio.Queue()
        self.asked: list[dict[str, object]] = []
        self.left = asyncio.Event()

    async def events(self, **asked):
        self.asked.append(asked)
        try:
            while (event := await self.told.get()) is not None:
                yield event
        finally:
            self.left.set()


@pytest.fixture
def news() -> News:
    return News()


@pytest.fixture
async def client(serve, news):
    return await serve(ROUTE, services={"crawling": news})


async def frame(answer) -> bytes:
    return await answer.content.readuntil(b"\n\n")


async def test_news_are_told_as_json_and_then_the_end(client, news):
    news.told.put_nowait(job(State.QUEUED))
    news.told.put_nowait(IMPORT)
    answer = await client.get("/api/v1/events?jobs=1,2")

    first, second = await frame(answer), await frame(answer)
    news.told.put_nowait(None)

    assert answer.headers["Content-Type"] == "text/event-stream; charset=utf-8"
    assert answer.headers["Cache-Control"] == "no-store"
    name, data, *rest = first.split(b"\n")
    assert name == b"event: job"
    assert rest == [b"", b""]
    told = json.loads(data.removeprefix(b"data: "))
    assert (told["state"], told["title"]) == ("queued", "a\r\nb\u2028c")
    assert second.startswith(b'event: import\ndata: {"id":3')
    assert await frame(answer) == b"event: end\ndata: {}\n\n"
    assert await answer.content.read() == b""
    assert news.asked == [{"job_ids": [1, 2], "import_id": None}]


async def test_an_import_or_everything_can_be_followed(client, news):
    news.told.put_nowait(None)
    news.told.put_nowait(None)

    await (await client.get("/api/v1/events?import=3")).read()
    await (await client.get("/api/v1/events")).read()

    assert news.asked == [
        {"job_ids": None, "import_id": 3},
        {"job_ids": None, "import_id": None},
    ]


@pytest.mark.parametrize("query", ["jobs=x", "import=x", "jobs=1&import=1", "jobs=" + "1," * 1001])
async def test_a_wrong_question_is_400(client, query):
    assert (await client.get(f"/api/v1/events?{query}")).status == 400


async def test_silence_is_filled_with_signs_of_life(client, monkeypatch):
    monkeypatch.setattr(events, "_LOOK_SECONDS", 0.001)

    answer = await client.get("/api/v1/events?jobs=1")

    assert await frame(answer) == b": still here\n\n"


async def test_listeners_are_bounded_and_their_places_come_back(
    client, news, monkeypatch, eventually
):
    monkeypatch.setattr(events, "_LOOK_SECONDS", 0.001)
    listeners = client.app[LISTENERS]
    monkeypatch.setattr(listeners, "_most", 1)
    first = await client.get("/api/v1/events?jobs=1")

    refused = await client.get("/api/v1/events?jobs=1")
    first.close()
    await news.left.wait()
    await eventually(lambda: not listeners.count)
    again = await client.get("/api/v1/events?jobs=1")

    assert refused.status == 503
    assert (await refused.json())["error"]["code"] == "too_many_listeners"
    assert again.status == 200


async def test_when_the_service_stops_streams_end_at_once(client, news):
    answer = await client.get("/api/v1/events?jobs=1")

    await client.app.shutdown()

    assert await answer.content.read() == b""
    assert client.app[LISTENERS].count == 0


async def test_head_is_answered_without_listening(client, news):
    answer = await client.head("/api/v1/events?jobs=1")

    assert answer.status == 200
    assert news.asked == []
