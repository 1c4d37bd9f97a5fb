import asyncio
from datetime import UTC, datetime, timedelta

from aiohttp import web
from sqlalchemy import select

from archiver.db import entries, jobs, queue, snapshots
from archiver.db.schema import attempt, job
from archiver.model.failure import FailureKind
from archiver.model.job import State


async def counts(crawl):
    async with crawl.context.db.read() as conn:
        return await jobs.queue_counts(conn)


async def attempts(crawl):
    async with crawl.context.db.read() as conn:
        return list((await conn.execute(select(attempt.c.failure))).scalars())


async def test_a_crawl_runs_until_the_queue_is_empty(crawl, live):
    await crawl.queue(*[live.article(f"page{number}") for number in range(20)])

    await crawl.run()

    jobs = await crawl.jobs()
    assert [each.state for each in jobs] == [State.SAVED] * 20
    assert {each.title for each in jobs} == {f"page{number}" for number in range(20)}
    assert all(live.requests[f"/page{number}"] == 1 for number in range(20))


async def test_a_host_that_responded_gets_more_pages_before_the_first_is_complete(crawl, live):
    async def style_sheet(_):
        await live.wait_for_request("/second")
        return web.Response(text="p {}", content_type="text/css")

    live.add_handler("/site.css", style_sheet)
    first = live.article("first", head='<link rel="stylesheet" href="/site.css">')
    await crawl.queue(first, live.article("second"))

    await crawl.run()

    assert [each.state for each in await crawl.jobs()] == [State.SAVED] * 2


async def test_resources_in_link_headers_and_of_framed_svgs_are_archived(crawl, live):
    dot = live.put("/dot.png", "x", kind="image/png")
    drawing = f"<svg xmlns='http://www.w3.org/2000/svg'><image href='{dot}'/></svg>"
    live.put("/drawing.svg", drawing, kind="image/svg+xml")
    live.put("/site.css", "p { background: url(back.png) }", kind="text/css")
    live.put("/back.png", "x", kind="image/png")
    page = live.put(
        "/page", "<object data=drawing.svg>", headers={"Link": "</site.css>; rel=stylesheet"}
    )
    await crawl.queue(page)

    await crawl.run()

    needed = ("/dot.png", "/drawing.svg", "/site.css", "/back.png")
    assert [live.requests[path] for path in needed] == [1, 1, 1, 1]


async def test_progress_is_reported_at_the_start_and_the_end(crawl, live):
    await crawl.queue(live.article("foxes"), live.url("/missing"))

    await crawl.run()

    reported = {(each.url, each.state) for each in crawl.changed_jobs}
    assert reported == {
        (live.url("/foxes"), State.FETCHING),
        (live.url("/foxes"), State.SAVED),
        (live.url("/missing"), State.FETCHING),
        (live.url("/missing"), State.FAILED),
    }


async def test_temporary_failures_are_retried_and_each_attempt_is_recorded(start_crawl, live):
    async def flaky(request):
        if live.requests[request.path] <= 2:
            raise web.HTTPBadGateway
        return web.Response(text="<title>At last</title>", content_type="text/html")

    async with start_crawl(retries=2) as crawl:
        await crawl.queue(live.add_handler("/flaky", flaky))
        await crawl.run()

        (job,) = await crawl.jobs()
        assert (job.state, job.attempts, job.title) == (State.SAVED, 3, "At last")
        assert len(await attempts(crawl)) == 2


async def test_too_many_failures_fail_the_entry_with_the_last_reason(start_crawl, live):
    live.put("/broken", "no", status=503)

    async with start_crawl(retries=1) as crawl:
        await crawl.queue(live.url("/broken"))
        await crawl.run()

        (job,) = await crawl.jobs()
        assert (job.state, job.attempts) == (State.FAILED, 2)
        assert (job.failure.kind, job.failure.status) == (FailureKind.HTTP_STATUS, 503)
        assert len(await attempts(crawl)) == 2
        assert live.requests["/broken"] == 2


async def test_a_page_is_not_retried_before_its_retry_after(start_crawl, live):
    live.put("/busy", "later", status=429, headers={"Retry-After": "1000"})
    started = datetime.now(UTC).replace(microsecond=0)

    async with start_crawl(retries=3) as crawl:
        (number,) = await crawl.queue(live.url("/busy"))
        working = asyncio.create_task(crawl.run())
        while not await attempts(crawl):  # noqa: ASYNC110 - a row of another task
            await asyncio.sleep(0.01)
        working.cancel()
        await asyncio.wait([working])

        async with crawl.context.db.read() as conn:
            (job,) = await jobs.by_ids(conn, [number])
        assert (job.state, job.attempts) == (State.QUEUED, 1)
        assert job.not_before >= started + timedelta(seconds=1000)


async def test_a_paused_host_does_not_delay_others_and_costs_no_attempt(start_crawl, live):
    other = live.url("/foxes").replace("127.0.0.1", "localhost")
    live.article("foxes")
    async with start_crawl(concurrency=2, allow_networks="127.0.0.0/8 ::1/128") as crawl:
        resting = await crawl.queue(*[live.article(f"page{number}") for number in range(6)])
        crawl.context.throttle.pause(live.origin.removeprefix("http://"), 1000)
        (free,) = await crawl.queue(other)
        working = asyncio.create_task(crawl.run())
        while (await counts(crawl)).saved < 1:  # noqa: ASYNC110 - a row of another task
            await asyncio.sleep(0.01)
        working.cancel()
        await asyncio.wait([working])

        jobs = {each.id: each for each in await crawl.jobs()}
        assert jobs[free].state is State.SAVED
        assert {(jobs[n].state, jobs[n].attempts) for n in resting} == {(State.QUEUED, 0)}


async def test_stopping_releases_every_lease(start_crawl, live):
    async def forever(_):
        await live.closing.wait()

    async with start_crawl() as crawl:
        await crawl.queue(live.article("first"))
        await crawl.run()
        await crawl.queue(live.add_handler("/slow", forever), live.add_handler("/slower", forever))
        working = asyncio.create_task(crawl.run())
        await live.wait_for_request("/slow")
        await live.wait_for_request("/slower")
        working.cancel()
        await asyncio.wait([working])

        now = await counts(crawl)
        assert (now.queued, now.fetching) == (2, 0)
        async with crawl.context.db.read() as conn:
            owners = (await conn.execute(select(job.c.owner))).scalars().all()
        assert owners == [None, None, None]


async def test_an_interrupted_visit_continues_with_stored_resources(start_crawl, live):
    entered = asyncio.Event()

    async def stuck(_):
        entered.set()
        await live.closing.wait()

    live.add_handler("/site.css", stuck)
    head = '<link rel="stylesheet" href="/site.css">'
    live.put("/start", status=302, headers={"Location": "/foxes"})
    async with start_crawl() as crawl:
        live.article("foxes", head=head)
        await crawl.queue(live.url("/start"))
        working = asyncio.create_task(crawl.run())
        await entered.wait()
        working.cancel()
        await asyncio.wait([working])

    live.put("/site.css", "p {}", kind="text/css")
    async with start_crawl() as crawl:
        await crawl.run()

        (job,) = await crawl.jobs()
        async with crawl.context.db.read() as conn:
            entry_id, _ = await entries.by_hash(conn, job.hash_url)
            (row,) = await snapshots.of_entry(conn, entry_id, limit=9)
    assert (live.requests["/start"], live.requests["/foxes"]) == (1, 1)
    assert row.snapshot.timestamp == job.timestamp
    assert (row.snapshot.final_url, row.snapshot.title) == (live.url("/foxes"), "foxes")


async def test_a_crawl_can_be_limited_to_some_jobs(crawl, live):
    _, job_id = await crawl.queue(live.article("foxes"), live.article("bears"))
    only = type(crawl.pipeline)(crawl.context, only=[job_id])

    await only.run(until_empty=True)

    assert [each.state for each in await crawl.jobs()] == [State.QUEUED, State.SAVED]


async def test_a_page_is_captured_again_on_request(crawl, live):
    await crawl.queue(live.article("foxes"))
    await crawl.run()
    await crawl.queue(live.url("/foxes"), recapture=False)
    await crawl.queue(live.url("/foxes"), recapture=True)
    await crawl.run()

    first, second = await crawl.jobs()
    assert live.requests["/foxes"] == 2
    assert second.timestamp > first.timestamp
    async with crawl.context.db.read() as conn:
        assert await queue.next_due(conn) is None
