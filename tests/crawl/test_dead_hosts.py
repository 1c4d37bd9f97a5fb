"""A host that does not respond costs a few timeouts; its other pages wait until it does."""

import pytest
from aiohttp import web

from archiver.crawl import pipeline
from archiver.crawl.context import DEAD_AFTER, WAITS_AFTER, DeadHosts
from archiver.model.job import State

MANY = 12


def test_consecutive_timeouts_mark_a_host_as_dead_for_a_while():
    now = [0.0]
    dead = DeadHosts(lambda: now[0])

    for _ in range(DEAD_AFTER):
        assert not dead.is_dead("a")
        dead.timed_out("a")
    assert (dead.is_dead("a"), dead.is_dead("b")) == (True, False)
    dead.responded("a")
    assert not dead.is_dead("a")
    for _ in range(DEAD_AFTER):
        dead.timed_out("a")
    now[0] += 10_000
    assert not dead.is_dead("a")


@pytest.fixture(autouse=True)
def _without_delay_of_retries(monkeypatch):
    monkeypatch.setattr(pipeline, "RETRY_SECONDS", 0)


@pytest.fixture
def add_silent_path(live):
    """Add a path that never gets a response; return its URL."""

    async def respond(request):
        await live.closing.wait()
        raise ConnectionResetError

    return lambda path: live.add_handler(path, respond)


async def test_pages_of_a_dead_host_that_were_not_tried_wait(start_crawl, live, add_silent_path):
    paths = [f"/{number}" for number in range(2 * WAITS_AFTER)]
    urls = [add_silent_path(path) for path in paths]
    async with start_crawl(read_timeout=0.1, retries=0, retry_delay=0) as crawl:
        await crawl.queue(*urls, recapture=False)
        await crawl.run()
        jobs = await crawl.jobs()
        counts = [sum(live.requests[path] for path in paths)]

        live.put("/back", "<p>Back again")
        for number in range(len(paths)):
            live.put(f"/{number}", "<p>Back again")
        await crawl.queue(live.url("/back"))
        await crawl.run()
        later = await crawl.jobs()

    tried = {each.url for each in jobs if each.attempts}
    untried = [each for each in jobs if each.url not in tried]
    assert counts == [WAITS_AFTER]
    assert untried
    assert {each.state for each in untried} == {State.QUEUED}
    assert {each.state for each in jobs if each.state is not State.QUEUED} <= {State.FAILED}
    waited = {each.url for each in untried}
    assert {each.state for each in later if each.url in waited} == {State.SAVED}


async def test_good_pages_of_a_host_whose_first_pages_hang_are_saved(
    start_crawl, live, add_silent_path
):
    hanging = [add_silent_path(f"/{number}") for number in range(DEAD_AFTER + 1)]
    good = [live.article(f"good-{number}") for number in range(MANY)]
    async with start_crawl(read_timeout=0.1, retries=0, retry_delay=0) as crawl:
        await crawl.queue(*hanging, *good, recapture=False)
        await crawl.run()
        jobs = await crawl.jobs()

    assert {each.state for each in jobs if each.url in good} == {State.SAVED}


async def test_a_host_that_recovers_before_the_end_is_captured(start_crawl, live):
    requests = []

    async def seldom(request):
        requests.append(request.path)
        if len(requests) <= DEAD_AFTER:
            await live.closing.wait()
        return web.Response(text="<p>back again", content_type="text/html")

    urls = [live.add_handler(f"/{number}", seldom) for number in range(MANY)]
    async with start_crawl(read_timeout=0.2, retries=2, retry_delay=0) as crawl:
        await crawl.queue(*urls, recapture=False)
        await crawl.run()
        jobs = await crawl.jobs()

    assert {each.state for each in jobs} == {State.SAVED}
