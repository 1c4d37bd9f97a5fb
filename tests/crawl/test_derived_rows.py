"""Snapshots without a quality score get one from their records."""

from sqlalchemy import select, text

from archiver.crawl.derived_rows import score_pending
from archiver.db.schema import entry, snapshot


async def test_a_missing_score_is_computed_from_the_record(crawl, live):
    torn = live.article("torn", head="<link rel=stylesheet href=/never.css>")
    for url in (live.article("whole"), torn, torn):
        await crawl.queue(url)
        await crawl.run()
    db, store = crawl.context.db, crawl.context.store

    async def scores():
        async with db.read() as conn:
            rows = await conn.execute(select(snapshot.c.score).order_by(snapshot.c.id))
            kept = await conn.execute(select(entry.c.score).order_by(entry.c.id))
            return [*rows.scalars()], [*kept.scalars()]

    before = await scores()
    async with db.write() as conn:
        for table in ("snapshot", "entry"):
            await conn.execute(text(f"UPDATE {table} SET score = NULL"))

    assert await score_pending(db, store) == 3

    assert await scores() == before
    assert before[1] == [100, 91]
    assert await score_pending(db, store) == 0
