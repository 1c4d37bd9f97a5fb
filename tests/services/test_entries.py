import pytest

from archiver.errors import InputError, InvalidUrl, NotFound
from archiver.model.job import State
from archiver.model.seed import SaveOutcome
from archiver.services.entries import MAX_URLS


async def save(archive, *urls, **more):
    result = await archive.entries.save(urls, source="cli", **more)
    await archive.crawling.work()
    return result


async def test_each_url_is_accepted_or_rejected_with_a_sentence(archive):
    urls = [" http://a.example/ ", "", "ftp://a.example/", "http://a.example/#part", "nonsense"]
    result = await archive.entries.save(urls, tags=("x",), source="web")

    assert [each.outcome for each in result.accepted] == [SaveOutcome.ADDED, SaveOutcome.MERGED]
    assert [each.given for each in result.rejected] == ["ftp://a.example/", "nonsense"]
    assert all(each.reason.endswith(".") for each in result.rejected)
    detail = await archive.entries.get("http://a.example/")
    assert (detail.entry.annotation.tags, detail.entry.annotation.source) == (("x",), "web")
    assert detail.job.state is State.QUEUED


async def test_no_url_and_too_many_are_refused(archive):
    for urls in ([], ["", "  "], ["http://a.example/"] * (MAX_URLS + 1)):
        with pytest.raises(InputError):
            await archive.entries.save(urls, source="web")


async def test_an_entry_is_found_by_its_url_and_by_its_name(archive, live):
    (received,) = (await save(archive, live.article("foxes"))).accepted

    by_url = await archive.entries.get(live.url("/foxes#part"))
    by_name = await archive.entries.get(received.hash_url)

    assert by_url == by_name
    assert (by_url.entry.title, by_url.entry.state) == ("foxes", State.SAVED)
    assert by_url.job.id == received.job_id


async def test_unknown_entries_and_snapshots_are_not_found(archive, live):
    await archive.entries.save([live.url("/foxes")], source="cli")

    with pytest.raises(InvalidUrl, match="No entry found for “nonsense”"):
        await archive.entries.get("nonsense")
    with pytest.raises(NotFound, match="not in the archive"):
        await archive.entries.get("0" * 32)
    with pytest.raises(InvalidUrl):
        await archive.entries.get("nonsense")
    with pytest.raises(NotFound, match="no snapshot yet"):
        await archive.entries.snapshot(live.url("/foxes"))


async def test_the_snapshot_nearest_to_a_moment_is_shown_with_its_neighbours(archive, live):
    for _ in range(2):
        await save(archive, live.article("foxes"))
    newer, older = (await archive.entries.get(live.url("/foxes"))).snapshots

    first = await archive.entries.snapshot(live.url("/foxes"), "2001")
    last = await archive.entries.snapshot(live.url("/foxes"))

    assert first.snapshot.timestamp == older.timestamp
    assert (first.earlier, first.later) == (None, newer.timestamp)
    assert last.snapshot.timestamp == newer.timestamp
    assert (last.earlier, last.later) == (older.timestamp, None)
    assert "This is what the page called foxes" in first.article
    assert first.article == last.article
