from datetime import UTC, datetime

from archiver.index import entries, queue, waiting, wishes

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


async def test_what_is_open_is_told_as_the_wishes_it_was(db, wish):
    said = wish("http://a.example/said", title="T", tags=("x", "y"), note="N", source="cli")
    others = [wish(f"http://b.example/{number}") for number in range(4)]
    async with db.write() as conn:
        await wishes.receive(conn, [said], now=NOW, recapture=True)
        await wishes.receive(conn, others, now=NOW, recapture=False)
        await queue.lease(conn, owner="me", count=2, each=1, hosts=queue.Turns(), now=NOW)

    async with db.read() as conn:
        first, after = await waiting.open_wishes(conn, 0, limit=3)
        rest, _ = await waiting.open_wishes(conn, after, limit=3)

    assert first[0] == waiting.OpenWish(said, made_at=NOW, sort_at=NOW, is_urgent=True)
    assert [each.wish for each in first + rest] == [said, *others]


async def test_what_is_in_no_record_yet_is_told(db, wish, keep):
    async with db.write() as conn:
        await wishes.restore(conn, [wish("http://a.example/"), wish("http://b.example/")])
        entry_id, _ = await entries.by_hash(conn, wish("http://a.example/").hash_url)
        await keep(conn, entry_id, "http://a.example/")
        await wishes.amend(conn, [wish("http://a.example/", tags=("t",))])

        said, after = await waiting.unrecorded_wishes(conn, 0, limit=9)

        assert said == [wish("http://a.example/", tags=("t",))]
        assert await waiting.unrecorded_wishes(conn, after, limit=9) == ([], after)
