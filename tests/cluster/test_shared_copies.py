"""What a person gave one machine, cookies and feeds, is there for the others."""

import asyncio
from dataclasses import replace

import pytest

from archiver.app import open_app
from archiver.errors import InputError
from archiver.net.given_cookies import GivenCookies
from archiver.services.reindexing import reindex
from tests.cluster.commands import ran

FEEDS = [f"https://{name}.example/feed" for name in "abc"]
COOKIES = "a.example\tFALSE\t/\tFALSE\t0\tsession\tsecret\n"


def opml(url):
    line = f'<outline type="rss" text="Feed" xmlUrl="{url}"/>'
    return f'<opml version="2.0"><head/><body>{line}</body></opml>'.encode()


async def followed(archive):
    return [each.subscription.url for each in await archive.subscriptions.all()]


async def test_feeds_that_one_machine_follows_are_followed_by_all(here, there):
    async with open_app(here) as one, open_app(there) as other:
        await one.subscriptions.take_in(opml(FEEDS[0]), "feeds")
        assert await followed(other) == FEEDS[:1]

        await asyncio.gather(
            one.subscriptions.take_in(opml(FEEDS[1]), "feeds"),
            other.subscriptions.take_in(opml(FEEDS[2]), "feeds"),
        )
        await other.subscriptions.unfollow(FEEDS[0])

        assert sorted(await followed(one)) == sorted(await followed(other)) == FEEDS[1:]
    assert (here.data / "feeds.opml").read_bytes() == (there.data / "feeds.opml").read_bytes()


async def test_what_is_refused_changes_nothing_anywhere(here, there):
    async with open_app(here) as one, open_app(there) as other:
        await one.subscriptions.take_in(opml(FEEDS[0]), "feeds")
        with pytest.raises(InputError):
            await other.subscriptions.take_in(b"<opml/>", "feeds")

        assert await followed(one) == await followed(other) == FEEDS[:1]


async def test_a_feed_that_is_due_is_looked_at_by_one_machine(here, there, live):
    url = live.put("/feed", "<rss version='2.0'><channel><title>f</title></channel></rss>")
    async with open_app(here) as one, open_app(there) as other:
        await one.subscriptions.take_in(opml(url), "feeds")
        await one.subscriptions.look(url)
        async with one.subscriptions._db.write() as conn:
            await conn.exec_driver_sql("UPDATE feed SET due_at = 0")

        looked = await asyncio.gather(
            one.subscriptions.look_at_due(), other.subscriptions.look_at_due()
        )

    assert sorted(map(len, looked)) == [0, 1]


async def test_feeds_of_before_are_those_of_all_and_go_along_to_a_folder(here, there):
    here.data.mkdir()
    (here.data / "feeds.opml").write_bytes(opml(FEEDS[0]))
    async with open_app(here) as one, open_app(there) as other:
        assert await followed(one) == await followed(other) == FEEDS[:1]
        await other.subscriptions.take_in(opml(FEEDS[1]), "feeds")

    alone = replace(here, index=None)
    await reindex(alone)

    async with open_app(alone) as archive:
        assert await followed(archive) == FEEDS[:2]


async def test_what_a_machine_had_of_its_own_is_laid_aside_and_what_was_shared_is_not(here, there):
    (there.data / "feeds.opml").write_bytes(opml(FEEDS[1]))
    aside = there.data / "feeds.opml.aside"
    async with open_app(here) as one:
        await one.subscriptions.take_in(opml(FEEDS[0]), "feeds")
        async with open_app(there) as other:
            assert await followed(other) == FEEDS[:1]
        assert aside.read_bytes() == opml(FEEDS[1])

        aside.unlink()
        await one.subscriptions.take_in(opml(FEEDS[2]), "feeds")
        async with open_app(there) as other:
            assert await followed(other) == [FEEDS[0], FEEDS[2]]

    assert not aside.exists()


async def test_cookies_given_to_one_machine_go_with_the_requests_of_another(here, there, tmp_path):
    given = {"ARCHIVER_INDEX": here.index, "ARCHIVER_STORE": here.store}
    path = tmp_path / "given.txt"
    path.write_text(COOKIES)
    code, _ = await ran("cookies", "import", str(path), **given, ARCHIVER_DATA=str(here.data))
    assert code == 0

    async with open_app(there):
        sent = GivenCookies(there.data).field_for("http://a.example/", ("a.example",))
        removed = await ran(
            "cookies", "remove", "a.example", **given, ARCHIVER_DATA=str(there.data)
        )

    assert sent == "session=secret"
    assert removed[0] == 0
    assert (await ran("cookies", "list", **given, ARCHIVER_DATA=str(here.data)))[1] == ""


async def test_who_lists_cookies_waits_for_no_writer_and_changes_no_copy(here, there, tmp_path):
    given = {"ARCHIVER_INDEX": here.index, "ARCHIVER_STORE": here.store}
    path = tmp_path / "given.txt"
    path.write_text(COOKIES)
    await ran("cookies", "import", str(path), **given, ARCHIVER_DATA=str(here.data))
    await ran("list", **given, ARCHIVER_DATA=str(there.data))

    async with open_app(here) as archive, archive.entries._db.write():
        listed = await ran("cookies", "list", **given, ARCHIVER_DATA=str(there.data))

    assert listed == (0, "a.example\t/\tsession\t-\n")
    assert not (there.data / "cookies.txt").exists()
