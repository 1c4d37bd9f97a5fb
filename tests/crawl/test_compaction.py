"""Maintenance by a crawling process: segments to compact, scores to compute."""

import pytest
from sqlalchemy import select, text

from archiver.crawl.compaction import why_not_uploadable
from archiver.crawl.derived_rows import score_pending
from archiver.db.schema import entry, snapshot
from archiver.warc.locks import RunLock
from archiver.warc.segment_storage import SegmentStorage
from archiver.warc.segments import SegmentStore
from tests.stored_records import ALL_KINDS, records


@pytest.fixture
def store(tmp_path):
    lock = RunLock(tmp_path / "run")
    opened = SegmentStore(
        SegmentStorage(tmp_path / "warc"), lock=lock, segment_bytes=1 << 30, software="x"
    )
    yield opened
    opened.close()
    lock.release()


def test_a_segment_can_be_compacted_once_its_writer_has_closed_it(store):
    def why():
        indexed = {each.name: each.size for each in found}
        return why_not_uploadable(found[0], found, indexed, store)

    store.append(records(*ALL_KINDS))
    found = store.storage.survey().segments
    while_open = why()
    store.close()
    closed = why()
    store.append(records(*ALL_KINDS))
    since = why()

    assert while_open == "It is being written by a running process."
    assert (closed, since) == ("", "")


def test_a_segment_just_created_is_not_compacted_before_its_writer_opens_it(store):
    store.append(records(*ALL_KINDS))
    store.close()
    (first,) = store.storage.survey().segments
    made = store.directory / first.name.replace("-00001.", "-00002.")
    made.touch()
    found = store.storage.survey().segments

    whys = [why_not_uploadable(each, found, {first.name: first.size}, store) for each in found]

    assert whys == ["", "It is being written by a running process."]


async def test_a_missing_score_is_computed_from_the_record(crawl, live):
    incomplete = live.article("torn", head="<link rel=stylesheet href=/never.css>")
    for url in (live.article("whole"), incomplete, incomplete):
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
