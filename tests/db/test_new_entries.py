from dataclasses import replace
from datetime import UTC, datetime, timedelta

from sqlalchemy import func, select

from archiver.db import (
    edit_history,
    entries,
    host_queue,
    imports,
    jobs,
    new_entries,
    queue,
    tags_and_lists,
)
from archiver.db.schema import entry, in_list, job, queue_host
from archiver.model.seed import RevisedSeed, SaveOutcome

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


async def receive(db, *seeds, recapture=False, **options):
    async with db.write() as conn:
        return await new_entries.receive(conn, seeds, now=NOW, recapture=recapture, **options)


async def entry_of(db, seed):
    async with db.read() as conn:
        return await entries.by_hash(conn, seed.hash_url)


async def count(db, table):
    async with db.read() as conn:
        return (await conn.execute(select(func.count()).select_from(table))).scalar()


async def test_each_url_gets_one_entry_and_one_job(db, seed):
    first = await receive(db, seed("http://a.example/"), seed("http://a.example/"))
    second = await receive(db, seed("http://a.example/"))

    assert [each.outcome for each in first + second] == [
        SaveOutcome.ADDED,
        SaveOutcome.MERGED,
        SaveOutcome.MERGED,
    ]
    assert len({each.job_id for each in first + second}) == 1
    assert (await count(db, entry), await count(db, job)) == (1, 1)


async def test_metadata_of_repeated_urls_is_merged(db, seed):
    early = NOW - timedelta(days=900)
    for url, in_one_batch in (("http://a.example/", True), ("http://b.example/", False)):
        one = seed(url, title="Mine", tags=("b", "a"), note="First.\n\nTwice.")
        two = seed(url, title="Other", tags=("c", "a"), note="Again.\n\nTwice.", added_at=early)

        for batch in [(one, two)] if in_one_batch else [(one,), (two,)]:
            await receive(db, *batch)

        _, result = await entry_of(db, one)
        assert result.title == "Mine"
        assert result.annotation.tags == ("a", "b", "c")
        assert result.annotation.note == "First.\n\nTwice.\n\nAgain."
        assert result.annotation.added_at == early


async def test_an_import_adds_metadata_to_captured_entries_without_a_job(db, seed, add_snapshot):
    await receive(db, seed("http://a.example/"))
    entry_id, _ = await entry_of(db, seed("http://a.example/"))
    async with db.write() as conn:
        hosts = await host_queue.due_hosts(conn, (), now=NOW, count=99)
        (lease,) = await queue.lease(conn, owner="me", count=1, per_host=1, hosts=hosts, now=NOW)
        await add_snapshot(conn, entry_id, "http://a.example/")
        await queue.end_jobs(conn, [(lease, "20260301120000", None)], NOW)

    (result,) = await receive(db, seed("http://a.example/", tags=("later",)))
    (again,) = await receive(db, seed("http://a.example/"), recapture=True)

    assert (result.outcome, result.job_id) == (SaveOutcome.KNOWN, None)
    assert (again.outcome, again.job_id is None) == (SaveOutcome.ADDED, False)
    assert (await entry_of(db, seed("http://a.example/")))[1].annotation.tags == ("later",)
    async with db.read() as conn:
        assert entry_id in await edit_history.unrecorded(conn, 10)


async def test_saving_by_hand_prioritises_an_imported_job(db, seed):
    await receive(db, *[seed(f"http://{n}.example/") for n in range(5)])
    await receive(db, seed("http://4.example/"), recapture=True)

    async with db.write() as conn:
        hosts = await host_queue.due_hosts(conn, (), now=NOW, count=99)
        leases = await queue.lease(conn, owner="me", count=1, per_host=1, hosts=hosts, now=NOW)

    assert [lease.entry.url for lease in leases] == ["http://4.example/"]
    assert [lease.priority for lease in leases] == [queue.INTERACTIVE]
    async with db.read() as conn:
        counts = await jobs.queue_counts(conn)
    assert (counts.queued, counts.fetching) == (4, 1)


async def test_the_highest_revision_of_an_annotation_wins_in_any_order(db, seed):
    def revised(url, number):
        tags = (f"t{number}",)
        return RevisedSeed(seed(url, title=f"T{number}", note=f"N{number}", tags=tags), number)

    for n, order in enumerate([(1, 2, 3), (3, 2, 1), (2, 3, 1), (3, 1, 3)]):
        url = f"http://{n}.example/"
        async with db.write() as conn:
            for number in order:
                await new_entries.restore(conn, [revised(url, number)])

        expected = revised(url, 3).seed
        assert (await entry_of(db, expected))[1].annotation == expected.annotation, order
    async with db.read() as conn:
        assert await tags_and_lists.most_used(conn, 9) == [("t3", 4)]


async def test_links_keep_the_order_of_their_file(db, seed):
    urls = [f"http://{host}.example/{number}" for number in range(9) for host in "cab"]
    await receive(db, seed(urls[4]))
    async with db.write() as conn:
        number = await imports.create(
            conn, name="list.txt", form="plain text", path=None, owner="me", now=NOW
        )

    received = await receive(db, *map(seed, urls), seed(urls[0]), import_id=number)

    assert [each.outcome for each in received] == [
        SaveOutcome.KNOWN if url == urls[4] else SaveOutcome.ADDED for url in urls
    ] + [SaveOutcome.MERGED]
    async with db.read() as conn:
        rows = await conn.execute(select(entry.c.url).order_by(entry.c.id))
        assert [*rows.scalars()] == [urls[4], *(url for url in urls if url != urls[4])]
        jobs_of = await conn.execute(
            select(entry.c.url, func.count(job.c.id))
            .join(job, (job.c.entry_id == entry.c.id) & (job.c.host == entry.c.host))
            .group_by(entry.c.url)
        )
        assert dict(jobs_of.all()) == dict.fromkeys(urls, 1)


async def test_list_and_tag_positions_continue_across_batches(db, seed):
    labels = {"tags": ("one",), "folders": ("a list",)}
    seeds = [
        replace(each, annotation=replace(each.annotation, **labels))
        for each in map(seed, [f"http://a.example/{number}" for number in range(8)])
    ]
    await receive(db, seed("http://a.example/3"))

    for batch in (seeds[:2], seeds[2:5], seeds[5:]):
        await receive(db, *batch)

    async with db.read() as conn:
        placed = await conn.execute(
            select(entry.c.url, in_list.c.place)
            .join(entry, entry.c.id == in_list.c.entry_id)
            .order_by(in_list.c.place)
        )
        urls, places = zip(*placed, strict=True)
        assert [*urls] == [each.url for each in seeds]
        assert len({*places}) == len(seeds)
        assert await tags_and_lists.most_used(conn, 9) == [("one", 8)]
        ready = await conn.execute(select(queue_host.c.host))
        assert [*ready.scalars()] == ["a.example"]
