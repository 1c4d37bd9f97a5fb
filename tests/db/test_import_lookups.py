from archiver.db import captures, segment_rows
from archiver.model.capture import PayloadDigest

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
