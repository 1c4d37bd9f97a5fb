"""Other addresses of a page, limited in number."""

from archiver.db import captures, segment_rows
from archiver.db.entries import MAX_ALIASES, aliases_of

URL = "http://a.example/page"


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
