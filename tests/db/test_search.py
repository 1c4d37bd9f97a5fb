from datetime import UTC, datetime

import pytest

from archiver.db import entries, new_entries
from archiver.db.entries import Filters
from archiver.model.job import State

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


@pytest.fixture
async def filled(db, seed, keep):
    """Entry ids of five saved pages, in order of saving."""
    said = [seed(f"http://{'ab'[n % 2]}.example/{n}", tags=("t",) * (n < 2)) for n in range(5)]
    ids = []
    async with db.write() as conn:
        await new_entries.receive(conn, said, now=NOW, recapture=False)
        for number, each in enumerate(said):
            ids.append((await entries.by_hash(conn, each.hash_url))[0])
            words = (f"Page {number}", "Über naïve Wombats" if number else "badgers")
            await keep(conn, ids[-1], each.url, words=words)
    return ids


async def test_matches_come_newest_first_and_can_be_paginated(find, filled):
    first = await find("wombats", count=3)
    second = await find("wombats", beyond=first[-1][0], count=3)

    assert [entry_id for _, entry_id in first + second] == filled[:0:-1]


async def test_search_ignores_accents_and_case_in_title_and_text(find, filled):
    for q in ("uber", "ÜBER", "naive", "wombat*", '"naive wombats"', "page"):
        assert filled[1] in [entry_id for _, entry_id in await find(q)], q


async def test_searches_take_the_same_filters_as_lists(find, filled):
    for filters, expected in (
        (Filters(host="a.example"), {2, 4}),
        (Filters(state=State.FAILED), set()),
        (Filters(status=200, host="b.example"), {1, 3}),
    ):
        found = {entry_id for _, entry_id in await find("wombats", filters)}

        assert found == {filled[n] for n in expected}, filters


async def test_an_older_version_of_a_page_is_not_found(db, find, filled, keep):
    async with db.write() as conn:
        await keep(conn, filled[0], "http://a.example/0", 60, ("Page 0", "foxes"))

    assert await find("badgers") == []
    assert [entry_id for _, entry_id in await find("foxes")] == [filled[0]]
