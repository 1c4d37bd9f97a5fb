"""A host gets few leases until it responds."""

import asyncio

from archiver.crawl.frontier import Frontier


async def leased(crawl, delay=0.0):
    frontier = Frontier(
        crawl.context.db, owner="me", room=100, per_host=4, delay_of=lambda _: delay
    )
    return frontier, await frontier.lease()


async def test_a_host_gets_one_request_until_it_responds_and_then_more(crawl, live):
    await crawl.queue(*[live.article(f"page{n}") for n in range(9)])

    frontier, first = await leased(crawl)
    nothing = await frontier.lease()
    surplus = frontier.finished(first[0], responded=True)
    further = await frontier.lease()
    leases = [await frontier.next() for _ in range(5)]

    assert (len(first), nothing, surplus, len(further)) == (1, [], [], 8)
    assert leases == [*first, *further[:4]]
    assert frontier.lease_count == 9


async def test_leases_of_a_host_that_stopped_responding_are_released(crawl, live):
    await crawl.queue(*[live.article(f"page{n}") for n in range(9)])
    frontier, first = await leased(crawl)
    frontier.finished(first[0], responded=True)
    leases = [*await frontier.lease(), *await frontier.lease()]
    running_jobs = [await frontier.next() for _ in range(5)][1:]

    surplus = frontier.finished(running_jobs[0], responded=False)

    assert len(leases) == 8
    assert {each.job_id for each in surplus} == {
        each.job_id for each in leases if each not in running_jobs
    }


async def test_the_politeness_delay_is_waited_before_a_worker_is_taken(crawl, live):
    delay = 0.05
    await crawl.queue(*[live.article(f"page{n}") for n in range(9)])
    frontier, first = await leased(crawl, delay=delay)
    loop = asyncio.get_running_loop()
    await frontier.next()
    start_times = [loop.time()]
    frontier.finished(first[0], responded=True)
    await frontier.lease()

    for _ in range(3):
        await frontier.next()
        start_times.append(loop.time())

    assert start_times[-1] - start_times[1] >= 2 * delay - 0.01


async def test_some_waiting_leases_are_taken_back_and_the_others_start(crawl, live):
    await crawl.queue(*[live.article(f"page{n}") for n in range(9)])
    frontier, _ = await leased(crawl)
    frontier.finished(await frontier.next(), responded=True)
    leases = await frontier.lease()
    unwanted = {*leases[::2]}

    returned = frontier.take_waiting(unwanted.__contains__)
    started = [await frontier.next() for _ in leases[1::2]]

    assert (len(leases), {*returned}, {*started}) == (8, unwanted, {*leases} - unwanted)
    assert frontier.unfinished == len(started)
