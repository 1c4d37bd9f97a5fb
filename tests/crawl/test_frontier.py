"""A host gets few requests until it responds."""

import asyncio

from archiver.crawl.frontier import Frontier


async def leased(crawl, delay=0.0):
    frontier = Frontier(
        crawl.context.db, owner="me", room=100, per_host=4, delay_of=lambda _: delay
    )
    return frontier, await frontier.lease()


async def test_a_host_gets_one_request_until_it_responds_and_then_more(crawl, live):
    await crawl.queue(*[live.article(f"page{n}") for n in range(9)])

    frontier, leases = await leased(crawl)
    more = await frontier.lease()
    first = await frontier.next()
    surplus = frontier.finished(first, responded=True)
    further = [await frontier.next() for _ in range(4)]

    assert (len(leases), more, surplus) == (9, [], [])
    assert [first, *further] == leases[:5]
    assert frontier.lease_count == 9


async def test_leases_of_a_host_that_stopped_responding_are_released(crawl, live):
    await crawl.queue(*[live.article(f"page{n}") for n in range(9)])
    frontier, leases = await leased(crawl)
    frontier.finished(await frontier.next(), responded=True)
    running_jobs = [await frontier.next() for _ in range(4)]

    surplus = frontier.finished(running_jobs[0], responded=False)

    assert surplus == leases[5:]


async def test_the_politeness_delay_is_waited_before_a_worker_is_taken(crawl, live):
    delay = 0.05
    await crawl.queue(*[live.article(f"page{n}") for n in range(9)])
    frontier, _ = await leased(crawl, delay=delay)
    loop = asyncio.get_running_loop()
    first = await frontier.next()
    start_times = [loop.time()]
    frontier.finished(first, responded=True)

    for _ in range(3):
        await frontier.next()
        start_times.append(loop.time())

    assert start_times[-1] - start_times[1] >= 2 * delay - 0.01


async def test_some_waiting_leases_are_taken_back_and_the_others_start(crawl, live):
    await crawl.queue(*[live.article(f"page{n}") for n in range(9)])
    frontier, leases = await leased(crawl)
    leases.remove(first := await frontier.next())
    frontier.finished(first, responded=True)
    unwanted = {*leases[::2]}

    returned = frontier.take_waiting(unwanted.__contains__)
    started = [await frontier.next() for _ in leases[1::2]]

    assert (len(leases), {*returned}, {*started}) == (8, unwanted, {*leases} - unwanted)
    assert frontier.unfinished == len(started)
