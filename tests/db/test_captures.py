from datetime import UTC, datetime, timedelta

import pytest

from archiver.db import captures, segment_rows
from archiver.db.entries import MAX_ALIASES, aliases_of
from archiver.http.timestamps import to_timestamp
from archiver.model.capture import Location, PayloadDigest

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
URL = "http://a.example/page"


def at(seconds):
    return to_timestamp(NOW + timedelta(seconds=seconds))


@pytest.fixture
def index(db, capture):
    """Index captures."""

    async def insert(*found):
        async with db.write() as conn:
            names = {each.location.segment for each in found}
            await segment_rows.set_indexed_with_ids(conn, dict.fromkeys(names, 10**6))
            return await captures.insert_all(conn, found)

    return insert


async def nearest(db, url, seconds, **how):
    async with db.read() as conn:
        return await captures.nearest(conn, url, at(seconds), **how)


async def test_a_capture_is_returned_as_inserted(db, capture, index):
    kept = capture(
        URL, status=301, redirect_to="http://b.example/", is_revisit=True, ip="192.0.2.1"
    )
    await index(kept)

    assert await nearest(db, URL, 0) == kept


async def test_the_nearest_capture_is_found_and_the_earlier_of_two_equally_near(db, capture, index):
    await index(*[capture(URL, seconds) for seconds in (0, 10, 30)])

    for wanted, expected in {-50: 0, 0: 0, 4: 0, 5: 0, 6: 10, 10: 10, 29: 30, 99: 30}.items():
        assert (await nearest(db, URL, wanted)).timestamp == at(expected), wanted


async def test_distance_is_measured_in_time_and_not_in_digits(db, capture, index):
    midnight = datetime(2026, 3, 1, tzinfo=UTC) - NOW
    await index(capture(URL, -1), capture(URL, 3600), capture("http://c.example/"))

    for wanted in (1500, midnight.total_seconds()):
        assert (await nearest(db, URL, wanted)).timestamp == at(-1)


async def test_an_equivalent_url_is_used_if_the_exact_url_has_no_capture(db, capture, index):
    await index(capture("https://b.example/page", redirect_to="http://b.example/page", status=301))
    assert await nearest(db, "http://b.example/page", 0) is None, "it could redirect forever"

    await index(capture("https://www.a.example/page", 0))
    assert (await nearest(db, URL, 0)).url == "https://www.a.example/page"
    assert await nearest(db, URL, 0, exact_only=True) is None

    await index(capture(URL, -500))
    assert (await nearest(db, URL, 0)).url == URL


async def test_the_newest_captures_of_a_url_are_listed_oldest_first(db, capture, index):
    await index(*[capture(URL, seconds) for seconds in (20, 0, 10)])

    async with db.read() as conn:
        for limit, expected in ((9, [0, 10, 20]), (2, [10, 20]), (1, [20])):
            found = await captures.of_url(conn, URL, limit=limit)
            assert [each.timestamp for each in found] == [at(each) for each in expected]


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


async def test_an_original_without_chunk_framing_goes_before_one_with(db, capture, index):
    chunked = capture(URL, is_chunked=True)
    plain = capture("http://b.example/", payload_digest=chunked.payload_digest)
    await index(chunked, plain)

    async with db.read() as conn:
        assert await captures.original_of(conn, chunked.payload_digest) == plain
        here = (URL, chunked.payload_digest)
        elsewhere = ("http://c.example/", chunked.payload_digest)
        assert await captures.originals_of_urls(conn, [here, elsewhere]) == {here: chunked}


async def test_captures_are_found_by_their_record_ids(db, capture, index):
    one, two = capture(URL), capture("http://b.example/")
    rows = await index(one, two)

    async with db.read() as conn:
        wanted = [(each.url, each.record_id) for each in (one, two)]
        assert await captures.of_records(conn, wanted) == {
            (each.url, each.record_id): [(rows[each.record_id], each)] for each in (one, two)
        }


async def test_records_that_share_an_id_have_a_row_each(db, capture, index):
    one, two, three = (capture(URL, after, record_id="urn:uuid:same") for after in (0, 1, 2))
    await index(one, two)
    await index(three)

    async with db.read() as conn:
        found = await captures.of_records(conn, [(URL, "urn:uuid:same")])

    assert found == {(URL, "urn:uuid:same"): [(1, one), (2, two), (3, three)]}


async def test_captures_are_found_by_offsets_in_a_segment(db, capture, index):
    kept = [capture(URL, location=Location("s.warc.gz", offset, 9)) for offset in (0, 10, 20, 30)]
    await index(*kept, capture(URL))

    async with db.read() as conn:
        found = await captures.between(conn, "s.warc.gz", 10, 20)

    assert found == {10: kept[1], 20: kept[2]}


async def test_aliases_on_the_same_host_come_first(db, capture):
    elsewhere = [f"http://ads{n:03}.example/go" for n in range(3 * MAX_ALIASES)]
    own = ["http://a.example/short", "http://www.a.example/page", "https://a.example/page"]
    leading = [*elsewhere, own[0]]
    async with db.write() as conn:
        await segment_rows.set_indexed_with_ids(conn, {capture(URL).location.segment: 1 << 30})
        await captures.insert_all(conn, [capture(each, redirect_to=URL) for each in leading])
        await captures.insert_all(conn, [capture(each) for each in (URL, *own[1:])])

        told = await aliases_of(conn, URL)

    assert told == [*own, *elsewhere][:MAX_ALIASES]


DIGEST = PayloadDigest("sha256:" + "ab" * 32)


async def test_the_record_ids_of_all_captures_are_read_in_batches(db, capture, monkeypatch):
    monkeypatch.setattr(captures, "BATCH", 2)
    kept = [capture(f"http://a.example/{n}") for n in range(3)]
    async with db.write() as conn:
        await segment_rows.set_indexed_with_ids(conn, {kept[0].location.segment: 10**6})
        await captures.insert_all(conn, kept)

        assert await captures.register_record_ids(conn)
        assert not await captures.register_record_ids(conn)

        ids = [each.record_id for each in kept]
        assert await captures.used_record_ids(conn, [*ids, "urn:uuid:other"]) == set(ids)
        await captures.insert_all(conn, [later := capture("http://a.example/later")])
        assert await captures.used_record_ids(conn, [later.record_id]) == set()
        await captures.register_record_ids(conn)
        assert await captures.used_record_ids(conn, [later.record_id]) == {later.record_id}


async def test_a_payload_is_found_by_the_digest_in_a_foreign_record(db):
    async with db.write() as conn:
        for _ in range(2):
            await captures.register_stated_digests(conn, {"sha1:" + "0" * 40: DIGEST})

        found = await captures.by_stated_digest(conn, ["sha1:" + "0" * 40, "md5:" + "1" * 32])

    assert found == {"sha1:" + "0" * 40: DIGEST}
