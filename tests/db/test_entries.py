from datetime import UTC, datetime

import pytest

from archiver.db import edit_history, entries, new_entries
from archiver.db.entries import Filters
from archiver.db.list_order import rows_in_order
from archiver.model.job import State

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


@pytest.fixture
async def filled(db, seed, add_snapshot):
    """Eight entries of the same second: odd ones are tagged, the first four are saved."""
    seeds = [
        seed(f"http://{'ab'[n % 2]}.example/{n}", tags=("odd",) if n % 2 else ()) for n in range(8)
    ]
    async with db.write() as conn:
        await new_entries.receive(conn, seeds, now=NOW, recapture=False)
        for each in seeds[:4]:
            entry_id, _ = await entries.by_hash(conn, each.hash_url)
            await add_snapshot(conn, entry_id, each.url, status=200 if each is seeds[0] else 206)
    return seeds


async def pages(db, filters, limit):
    below, results = None, []
    while True:
        async with db.read() as conn:
            places = await rows_in_order(conn, filters, after=below, limit=limit)
            listed = await entries.by_ids(conn, [each.row for each in places])
        if not places:
            return results
        results.append([listed[each.row] for each in places])
        below = places[-1]


async def test_pagination_shows_each_entry_of_one_second_once(db, filled):
    for limit in (1, 3, 8, 9):
        result = await pages(db, Filters(), limit)

        listed = [each.hash_url for page in result for each in page]
        assert listed == [each.hash_url for each in filled][::-1], limit
        assert all(len(page) == limit for page in result[:-1]), limit


FILTERED = (
    (Filters(tag="odd"), {1, 3, 5, 7}),
    (Filters(tag="none such"), set()),
    (Filters(host="a.example"), {0, 2, 4, 6}),
    (Filters(state=State.SAVED), {0, 1, 2, 3}),
    (Filters(state=State.QUEUED), {4, 5, 6, 7}),
    (Filters(status=206), {1, 2, 3}),
    (Filters(tag="odd", state=State.SAVED), {1, 3}),
    (Filters(host="a.example", status=206), {2}),
)


async def test_filters_can_be_combined(db, filled):
    for filters, expected in FILTERED:
        listed = [each.url for page in await pages(db, filters, 3) for each in page]

        assert sorted(listed) == sorted(filled[n].url for n in expected), filters


async def test_an_annotation_is_pending_until_its_record_is_written(db, filled, seed):
    async with db.write() as conn:
        entry_id, _ = await entries.by_hash(conn, filled[0].hash_url)
        revisions = []
        for tag in ("old", "new"):
            seeds = [seed(filled[0].url, tags=(tag,)), seed(filled[7].url, tags=(tag,))]
            await new_entries.receive(conn, seeds, now=NOW, recapture=False)
            result = await edit_history.unrecorded(conn, 9)
            revisions.append((await entries.with_revisions(conn, result))[entry_id].revision)

            assert result == [entry_id], "the other entry waits for its first visit"

        await edit_history.mark_recorded(conn, {entry_id: revisions[0]})
        assert await edit_history.unrecorded(conn, 9) == [entry_id], "it was changed meanwhile"
        await edit_history.mark_recorded(conn, {entry_id: revisions[1]})
        assert await edit_history.unrecorded(conn, 9) == []
