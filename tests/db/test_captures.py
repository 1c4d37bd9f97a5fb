from datetime import UTC, datetime, timedelta

import pytest

from archiver.db import captures, segment_rows
from archiver.db.entries import MAX_ALIASES, aliases_of
from archiver.http.timestamps import to_timestamp

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
URL = "http://a.example/page"


def at(seconds):
    return to_timestamp(NOW + timedelta(seconds=seconds))


@pytest.fixture
def index(db, capture):
    """Index captures."""

    async def insert(*expected):
        async with db.write() as conn:
            names = {each.location.segment for each in expected}
            await segment_rows.set_indexed_with_ids(conn, dict.fromkeys(names, 10**6))
            return await captures.insert_all(conn, expected)

    return insert


async def nearest(db, url, seconds, **options):
    async with db.read() as conn:
        return await captures.nearest(conn, url, at(seconds), **options)


async def test_a_capture_is_returned_as_inserted(db, capture, index):
    stored = capture(
        URL, status=301, redirect_to="http://b.example/", is_revisit=True, ip="192.0.2.1"
    )
    await index(stored)

    assert await nearest(db, URL, 0) == stored


async def test_the_nearest_capture_is_found_and_the_earlier_of_two_equally_near(db, capture, index):
    await index(*[capture(URL, seconds) for seconds in (0, 10, 30)])

    for moment, expected in {-50: 0, 0: 0, 4: 0, 5: 0, 6: 10, 10: 10, 29: 30, 99: 30}.items():
        assert (await nearest(db, URL, moment)).timestamp == at(expected), moment


async def test_an_equivalent_url_is_used_if_the_exact_url_has_no_capture(db, capture, index):
    await index(capture("https://b.example/page", redirect_to="http://b.example/page", status=301))
    assert await nearest(db, "http://b.example/page", 0) is None, "it could redirect forever"

    await index(capture("https://www.a.example/page", 0))
    assert (await nearest(db, URL, 0)).url == "https://www.a.example/page"
    assert await nearest(db, URL, 0, exact_only=True) is None

    await index(capture(URL, -500))
    assert (await nearest(db, URL, 0)).url == URL


async def test_the_newest_capture_of_each_url_since_a_moment(db, capture, index):
    old, new = capture("http://old.example/", -10), capture(URL, 20)
    await index(old, capture(URL, 10), new, capture("https://a.example/page", 30))

    async with db.read() as conn:
        assert await captures.recent_of(conn, [URL, old.url], at(0)) == {URL: new}


async def test_the_first_response_that_holds_a_payload_is_its_original(db, capture, index):
    first = capture(URL)
    again = capture(URL, 5, payload_digest=first.payload_digest, is_revisit=True)
    double = capture(URL, 9, payload_digest=first.payload_digest)
    await index(again, first, double)

    async with db.read() as conn:
        assert await captures.original_of(conn, first.payload_digest) == first
        assert await captures.original_of(conn, capture(URL).payload_digest) is None


async def test_records_that_share_an_id_have_a_row_each(db, capture, index):
    one, two, three = (capture(URL, after, record_id="urn:uuid:same") for after in (0, 1, 2))
    await index(one, two)
    await index(three)

    async with db.read() as conn:
        rows = await captures.of_records(conn, [(URL, "urn:uuid:same")])

    assert rows == {(URL, "urn:uuid:same"): [(1, one), (2, two), (3, three)]}


async def test_aliases_on_the_same_host_come_first(db, capture):
    elsewhere = [f"http://ads{n:03}.example/go" for n in range(3 * MAX_ALIASES)]
    same_host = ["http://a.example/short", "http://www.a.example/page", "https://a.example/page"]
    leading = [*elsewhere, same_host[0]]
    async with db.write() as conn:
        await segment_rows.set_indexed_with_ids(conn, {capture(URL).location.segment: 1 << 30})
        await captures.insert_all(conn, [capture(each, redirect_to=URL) for each in leading])
        await captures.insert_all(conn, [capture(each) for each in (URL, *same_host[1:])])

        aliases = await aliases_of(conn, URL)

    assert aliases == [*same_host, *elsewhere][:MAX_ALIASES]
