"""Feeds and lists of feeds whose makers mean harm."""

import pytest

from archiver.errors import InputError
from archiver.formats.outlines import MAX_BYTES, MAX_TITLE
from tests.raw_server import raw_web

RSS = b"<rss><channel><title>t</title><item><link>http://a.example/</link></item></channel></rss>"


def answered(body, *fields, status=b"200 OK"):
    head = [b"HTTP/1.1 " + status, b"Content-Length: %d" % len(body), *fields, b"", b""]
    return b"\r\n".join(head) + body


def outline(*feeds):
    return f"<opml><body>{''.join(feeds)}</body></opml>".encode()


async def test_an_invalid_validator_of_a_feed_is_not_stored(archive):
    for field in (b'ETag: "\x0b\x01"', b"Last-Modified: \x01", b'ETag: "%s"' % (b"x" * 6000)):
        async with raw_web(lambda _, field=field: answered(RSS, field)) as origin:
            followed = await archive.subscriptions.follow(f"{origin}/f")
            again = await archive.subscriptions.check(f"{origin}/f")

        assert (followed.state.etag, followed.state.modified) == ("", ""), field
        assert again.state.problem == "", field


async def test_an_outline_leads_to_no_script_and_its_texts_are_bounded(archive):
    feed = (
        f'<outline xmlUrl="http://127.0.0.1:1/f" htmlUrl="javascript:alert(1)" '
        f'title="{"t" * 9000}" category="{"c" * 9000},{",".join(map(str, range(500)))}"/>'
    )
    await archive.subscriptions.import_outline(outline(feed), "f.opml")

    (followed,) = await archive.subscriptions.all()
    assert followed.subscription.home == ""
    assert len(followed.subscription.title) == MAX_TITLE
    assert (len(followed.subscription.tags), len(followed.subscription.tags[0])) == (100, 100)


async def test_a_list_that_would_be_too_long_to_read_is_refused_and_the_old_one_stays(archive):
    await archive.subscriptions.import_outline(
        outline('<outline xmlUrl="http://127.0.0.1:1/"/>'), "a"
    )
    # Each " takes one byte in what is given and six, twice over, in what is kept.
    title = '"' * 450
    given = outline(
        *(f"<outline xmlUrl='http://127.0.0.1:1/{n}' text='{title}'/>" for n in range(2000))
    )
    assert len(given) < MAX_BYTES

    with pytest.raises(InputError, match="larger than"):
        await archive.subscriptions.import_outline(given, "f.opml")

    assert len(await archive.subscriptions.all()) == 1


async def test_an_address_without_end_is_not_where_a_feed_is_from_now_on(archive):
    long = b"/" + b"x" * 5000

    def answer(target):
        if target == b"/f":
            return answered(b"", b"Location: " + long, status=b"301 Moved")
        return answered(RSS)

    async with raw_web(answer) as origin:
        given = outline(f'<outline xmlUrl="{origin}/f"/>')
        await archive.subscriptions.import_outline(given, "f.opml", everything=True)
        looked = await archive.subscriptions.check(f"{origin}/f")

    assert looked.subscription.url == f"{origin}/f"
    assert looked.state.saved_count == 1
