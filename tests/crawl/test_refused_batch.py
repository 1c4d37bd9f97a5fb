"""If the index refuses a batch after its records were written, no page is visited again."""

import asyncio
import logging

import pytest
from sqlalchemy import text

from archiver.crawl import dispatcher
from archiver.crawl.recorder import MAX_TRIES
from archiver.db import captures, segment_rows
from archiver.model.job import State
from archiver.warc.segment_inventory import survey


@pytest.fixture(autouse=True)
def _soon(monkeypatch):
    monkeypatch.setattr(dispatcher, "FAILURE_SECONDS", 0.05)


async def state_of(crawl, live):
    async with crawl.context.db.read() as conn:
        captures_by_name = {
            name: await captures.of_url(conn, live.url(f"/{name}"), limit=9) for name in NAMES
        }
        count = await conn.execute(text("SELECT count(*) FROM snapshot"))
        return {name: len(result) for name, result in captures_by_name.items()}, count.scalar()


NAMES = ("foxes", "geese")
REFUSALS = {
    "the index is full": (
        "PRAGMA max_page_count = {}",
        "PRAGMA max_page_count = 1000000",
    ),
    "a row is refused": (
        "CREATE TRIGGER no BEFORE INSERT ON snapshot BEGIN SELECT raise(ABORT, 'no'); END",
        "DROP TRIGGER no",
    ),
}


@pytest.mark.parametrize(("refuse", "accept"), REFUSALS.values(), ids=REFUSALS)
async def test_written_records_are_indexed_later_without_another_visit(
    crawl, live, caplog, refuse, accept
):
    many = " ".join(f"word{number}" for number in range(40_000))
    await crawl.queue(*[live.article(name, body=f"<p>{many}") for name in NAMES])
    async with crawl.context.db.write() as conn:
        pages = (await conn.exec_driver_sql("PRAGMA page_count")).scalar()
        await conn.exec_driver_sql(refuse.format(pages + 20))

    running = asyncio.create_task(crawl.run())
    while "writing a batch failed" not in caplog.text:  # noqa: ASYNC110 - only the log shows it
        await asyncio.sleep(0.001)
    async with crawl.context.db.write() as conn:
        await conn.exec_driver_sql(accept)
    await running

    assert [each.state for each in await crawl.jobs()] == [State.SAVED, State.SAVED]
    assert await state_of(crawl, live) == ({"foxes": 1, "geese": 1}, 2)
    assert {name: live.requests[f"/{name}"] for name in NAMES} == {"foxes": 1, "geese": 1}
    async with crawl.context.db.read() as conn:
        written = {each.name: each.size for each in survey(crawl.context.store.directory).segments}
        assert await segment_rows.indexed_sizes(conn) == written


async def test_records_that_are_always_refused_do_not_delay_others(crawl, live, caplog):
    caplog.set_level(logging.INFO, dispatcher.__name__)
    await crawl.queue(live.article("foxes"), live.article("geese"))
    async with crawl.context.db.write() as conn:
        await conn.exec_driver_sql(
            "CREATE TRIGGER no BEFORE INSERT ON snapshot WHEN NEW.final_url LIKE '%/foxes'"
            " BEGIN SELECT raise(ABORT, 'no'); END"
        )

    running = asyncio.create_task(crawl.run())
    while caplog.text.count("records were not indexed") < MAX_TRIES:  # noqa: ASYNC110 - only the log shows it
        await asyncio.sleep(0.001)
    async with crawl.context.db.write() as conn:
        await conn.exec_driver_sql("DROP TRIGGER no")
    await running
    messages = [each.getMessage() for each in caplog.records if each.name == dispatcher.__name__]

    assert messages == [
        "the index rejected a write; pausing",
        "the index is available again; continuing",
    ]
    assert [each.state for each in await crawl.jobs()] == [State.SAVED, State.SAVED]
