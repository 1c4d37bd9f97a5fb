"""A host that does not respond costs a few timeouts, however many of its pages are queued."""

import asyncio

from aiohttp import web

from archiver.crawl import recorder
from archiver.crawl.context import FEW, DeadHosts
from archiver.model.failure import FailureKind
from archiver.model.job import State

MANY = 12


def test_consecutive_timeouts_mark_a_host_dead_until_it_responds_or_the_mark_expires():
    now = [0.0]
    dead = DeadHosts(lambda: now[0])

    assert [dead.timed_out("a") for _ in range(FEW + 1)] == [False] * (FEW - 1) + [True, False]
    assert (dead.is_dead("a"), dead.is_dead("b")) == (True, False)
    dead.answered("a")
    assert not dead.is_dead("a")
    for _ in range(FEW):
        dead.timed_out("a")
    now[0] += 10_000
    assert not dead.is_dead("a")


async def test_other_pages_of_a_dead_host_fail_with_its_reason_after_one_last_try(crawling, live):
    async def never(request):
        await live.closing.wait()
        raise ConnectionResetError

    paths = [f"/{number}" for number in range(MANY)]
    dead = [live.answer(path, never) for path in paths]
    async with crawling(read_timeout=0.2, retries=2, retry_delay=0) as crawl:
        await crawl.queue(*dead, recapture=False)
        await crawl.run()
        jobs = await crawl.jobs()

    assert {(each.state, each.failure.kind) for each in jobs} == {
        (State.FAILED, FailureKind.TIMEOUT)
    }
    assert sum(live.asked[path] for path in paths) == FEW + 1
    assert sum("times in a row" in each.failure.message for each in jobs) == MANY - 1
    assert all(each.attempts <= 3 for each in jobs)


async def test_pages_that_timed_out_earlier_are_tried_last(crawling, live, monkeypatch):
    monkeypatch.setattr(recorder, "GATHER_SECONDS", 0.5)

    async def never(request):
        await live.closing.wait()
        raise ConnectionResetError

    paths = [f"/{number}" for number in range(MANY)]
    dead = [live.answer(path, never) for path in paths]
    async with crawling(read_timeout=0.2, retries=2, retry_delay=0) as crawl, asyncio.timeout(600):
        await crawl.queue(*dead, recapture=False)
        await crawl.run()

    assert sum(live.asked[path] for path in paths) == FEW + 1


async def test_a_host_that_recovers_before_the_end_is_captured(crawling, live):
    asked = []

    async def seldom(request):
        asked.append(request.path)
        if len(asked) <= FEW:
            await live.closing.wait()
        return web.Response(text="<p>back again", content_type="text/html")

    urls = [live.answer(f"/{number}", seldom) for number in range(MANY)]
    async with crawling(read_timeout=0.2, retries=2, retry_delay=0) as crawl:
        await crawl.queue(*urls, recapture=False)
        await crawl.run()
        jobs = await crawl.jobs()

    assert {each.state for each in jobs} == {State.SAVED}
