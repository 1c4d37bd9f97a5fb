"""Slow and dead hosts delay only each other."""

import asyncio

from archiver.crawl.frontier import Frontier
from archiver.model.job import State


async def hang(live, path):
    """Add a page that never responds; return its URL."""

    async def wait(_request):
        await live.closing.wait()

    return live.answer(path, wait)


async def test_a_slow_visit_releases_its_slot_for_the_next(crawling, live):
    """With one slot, and one visit that never ends, the others are still captured."""
    stuck = await hang(live, "/stuck")
    others = [live.article(f"page{n}").replace("127.0.0.1", "localhost") for n in range(3)]
    async with crawling(concurrency=1, allow_networks="127.0.0.0/8,::1/128") as crawl:
        await crawl.queue(stuck, *others)
        running = asyncio.create_task(crawl.run())
        for n in range(3):
            await live.asked_for(f"/page{n}")
        live.closing.set()
        await running

        saved = {each.url for each in await crawl.jobs() if each.state is State.SAVED}
    assert saved >= set(others)


async def leased(crawl, delay=0.0):
    frontier = Frontier(crawl.context.db, owner="me", room=100, each=4, delay=delay)
    return frontier, await frontier.lease()


async def test_a_host_gets_one_request_until_it_responds_and_then_more(crawl, live):
    await crawl.queue(*[live.article(f"page{n}") for n in range(9)])

    frontier, first = await leased(crawl)
    nothing = await frontier.lease()
    surplus = frontier.finished(first[0], answered=True)
    more = await frontier.lease()
    begun = [await frontier.next() for _ in range(5)]

    assert (len(first), nothing, surplus, len(more)) == (1, [], [], 8)
    assert begun == [*first, *more[:4]]
    assert frontier.held == 9


async def test_leases_of_a_host_that_stopped_responding_are_released(crawl, live):
    await crawl.queue(*[live.article(f"page{n}") for n in range(9)])
    frontier, first = await leased(crawl)
    frontier.finished(first[0], answered=True)
    held = [*await frontier.lease(), *await frontier.lease()]
    under_way = [await frontier.next() for _ in range(5)][1:]

    surplus = frontier.finished(under_way[0], answered=False)

    assert len(held) == 8
    assert {each.job_id for each in surplus} == {
        each.job_id for each in held if each not in under_way
    }


async def test_a_slow_host_uses_the_queue_for_slow_hosts(crawl, live):
    await crawl.queue(*[live.article(f"page{n}") for n in range(9)])
    frontier, first = await leased(crawl)
    await frontier.next()

    frontier.finished(first[0], answered=True, was_slow=True)
    await frontier.lease()
    slow = await frontier.next_slow()
    frontier.finished(slow, answered=True)
    await frontier.lease()

    assert (await frontier.next()).entry.host == slow.entry.host


async def test_a_slow_host_gets_one_request_at_a_time_while_many_hosts_are_slow(crawl, live):
    await crawl.queue(*[live.article(f"page{n}") for n in range(9)])
    frontier, first = await leased(crawl)
    frontier.finished(first[0], answered=True, was_slow=True, crowded=True)

    assert len(await frontier.lease()) == 1
    assert not frontier.has_answered(first[0].entry.host)


async def test_the_politeness_delay_is_waited_before_a_worker_is_taken(crawl, live):
    delay = 0.05
    await crawl.queue(*[live.article(f"page{n}") for n in range(9)])
    frontier, first = await leased(crawl, delay=delay)
    loop = asyncio.get_running_loop()
    await frontier.next()
    begun = [loop.time()]
    frontier.finished(first[0], answered=True)
    await frontier.lease()

    for _ in range(3):
        await frontier.next()
        begun.append(loop.time())

    assert begun[-1] - begun[1] >= 2 * delay - 0.01
