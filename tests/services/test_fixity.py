from contextlib import AsyncExitStack

import pytest

from archiver.model.annotation import AnnotationChange
from archiver.services import fixity
from tests.conftest import filled_by
from tests.index_access import execute_sql
from tests.segments import change_segment, segments, storage_of


@filled_by
async def fill(archive, live):
    """Save two articles that share a style sheet and a payload twice."""
    head = '<link rel="stylesheet" href="/site.css">'
    live.put("/site.css", "p { color: #123 }", kind="text/css")
    for _ in range(2):
        urls = [live.article(name, head=head) for name in ("foxes", "bears")]
        await archive.entries.save(urls, tags=("animals",), source="cli")
        await archive.crawling.work()


@pytest.fixture
async def filled(prepared, settings):
    await prepared.copy(fill, settings.data)
    return settings


@pytest.fixture
def findings(open_archive):
    async def verify():
        async with open_archive() as archive:
            return [finding async for finding in archive.fixity.verify()]

    return verify


@pytest.fixture
def change_index(settings):
    async def execute(*entry_records):
        await execute_sql(settings.data, *entry_records)

    return execute


def segment(settings):
    """Return its name and content."""
    ((name, content),) = segments(settings.data).items()
    return name, content


@pytest.mark.parametrize("share", [0.0, 0.7])
async def test_a_single_changed_byte_is_found_anywhere(filled, findings, share):
    name, _ = segment(filled)

    def damage(content):
        content[int(share * (len(content) - 1))] ^= 0x55

    change_segment(filled.data, name, damage)

    assert any(name in finding.where for finding in await findings())


async def test_other_files_among_segments_are_noted_but_no_error(filled, findings):
    name, _ = segment(filled)
    beside = {f"{name}.torn": b"half", "wget.warc.gz": b"garbage", "notes.txt": b"notes"}
    for other, content in beside.items():
        (filled.data / "warc" / other).write_bytes(content)

    results = await findings()

    assert {each.where for each in results} == beside.keys()
    assert not any(each.is_wrong for each in results)


async def test_a_missing_segment_is_found(filled, findings):
    name, _ = segment(filled)
    storage_of(filled.data).remove(name)

    results = await findings()

    assert (results[0].where, "file is missing" in results[0].problem) == (name, True)


async def test_a_segment_that_was_cut_is_found(filled, findings):
    def cut(content):
        del content[-200:]

    change_segment(filled.data, segment(filled)[0], cut)

    assert any("shorter than" in finding.problem for finding in await findings())


async def test_rows_that_differ_from_their_records_are_found(filled, findings, change_index):
    changes = (
        "status = 404",
        "payload_digest = x'00'",
        "timestamp = 20200101000000",
        "length = length + 1",
        "is_revisit = 1 - is_revisit",
    )
    await change_index(
        *(f"UPDATE capture SET {each} WHERE id = {n}" for n, each in enumerate(changes, 1))
    )

    problems = [each.problem for each in await findings()]

    assert problems.count("It does not match its index row.") == len(changes)


async def test_a_record_without_a_row_and_a_row_without_a_record_are_found(
    filled, findings, change_index
):
    await change_index('UPDATE capture SET "offset" = "offset" + 1 WHERE id = 1')

    assert {each.problem for each in await findings()} >= {
        "The index has no row for it.",
        "The index refers to a record that is not there.",
    }


async def test_a_row_at_an_offset_without_a_record_is_found(
    filled, findings, change_index, monkeypatch
):
    monkeypatch.setattr(fixity, "CHUNK", 200)
    name, content = segment(filled)
    end = len(content)
    copied = "url, surt, timestamp, status, media_type, payload_digest, payload_length, length"
    for place in (1, end - 1):
        await change_index(
            f'INSERT INTO capture (id, {copied}, "offset", segment_id, record_id, is_revisit)'
            f" SELECT {place + 100}, {copied}, {place}, segment_id, 'urn:uuid:{place}', is_revisit"
            " FROM capture WHERE id = 1"
        )

    results = await findings()

    assert {each.where for each in results} == {
        f"{name} at byte {place:,}" for place in (1, end - 1)
    }


@pytest.mark.parametrize(
    "changes",
    [
        {
            "UPDATE entry SET given_title = 'Other' WHERE id = 1": "Its title in the index differ",
            "UPDATE entry SET added_at = 1 WHERE id = 2": "Its date in the index",
        },
        {
            "UPDATE entry SET note = 'Other', is_read = 1 WHERE id = 1": "Its note, read in the",
            "DELETE FROM entry_tag WHERE entry_id = 2": "Its tags in the index",
        },
        {"UPDATE tag SET name = 'other', \"key\" = 'other'": "Its tags in the index"},
        {
            "UPDATE entry SET revision = revision - 1 WHERE id = 1": "an older version",
            "UPDATE entry SET revision = 9 WHERE id = 2": "No intact record has its title",
        },
        {
            "UPDATE snapshot SET title = 'Other' WHERE id = 1": "Its page, title or summary",
            "UPDATE snapshot SET deleted_at = 1 WHERE id = 2": "The index lacks this snapshot",
        },
        {"UPDATE entry SET deleted_at = 1 WHERE id = 1": "The index lacks this entry"},
    ],
)
async def test_index_content_that_differs_from_its_records_is_found(
    filled, findings, change_index, changes
):
    await change_index(*changes)

    results = await findings()

    for problem in changes.values():
        assert any(problem in each.problem and each.is_wrong for each in results), (
            problem,
            results,
        )
    assert all("archiver reindex" in each.problem for each in results)


async def test_an_archive_in_use_has_no_findings(open_archive, live):
    foxes, bears, hares, moles = (
        live.article(each) for each in ("foxes", "bears", "hares", "moles")
    )
    async with open_archive() as archive:
        await archive.entries.save([foxes, bears, hares], tags=("Old", "x"), source="cli")
        await archive.entries.save([live.url("/missing")], source="cli")
        await archive.crawling.work()
        await archive.editing.change(
            [foxes, hares], AnnotationChange(title="T", note="n", with_folders=("L",))
        )
        await archive.editing.rename_tag("old", "OLD")
        await archive.crawling.write_pending_records()
        await archive.entries.save([foxes], tags=("again",), source="cli")
        await archive.crawling.work()
        await archive.deleting.entries([bears])
        again = (await archive.entries.get(foxes)).snapshots[0]
        await archive.deleting.snapshot(foxes, again.timestamp)
        await archive.entries.save([moles, bears], source="cli")
        await archive.editing.change([hares], AnnotationChange(is_starred=True))

        assert [each async for each in archive.fixity.verify()] == []


async def test_a_snapshot_that_points_at_another_record_is_found(filled, findings, change_index):
    await change_index(
        'UPDATE snapshot SET metadata_offset = (SELECT "offset" FROM capture WHERE id = 1),'
        " metadata_segment_id = 1 WHERE id = 1"
    )

    (finding,) = await findings()

    assert "There is no" in finding.problem


async def save(archive, url):
    await archive.entries.save([url], source="cli")
    await archive.crawling.work()


@pytest.fixture
async def findings_during_save(settings, open_archive, live):
    """Return the findings while another process saves a page, and then may exit."""
    notes = settings.data / "warc" / "notes.txt"

    async def verify(*, ends=False, change=None):
        async with open_archive() as reader, AsyncExitStack() as stack:
            writer = await stack.enter_async_context(open_archive())
            await save(writer, live.article("owls"))
            notes.write_text("It is told of first: segments were listed then, and none is read.")
            verifying = reader.fixity.verify()
            results = [await anext(verifying)]
            await save(writer, live.article("ravens"))
            if ends:
                await stack.aclose()
            if change:
                await change()
            return results + [each async for each in verifying]

    return verify


async def test_records_added_during_a_verification_are_no_problem(findings_during_save):
    assert [each.where for each in await findings_during_save(ends=True)] == ["notes.txt"]


async def test_a_partial_record_of_a_running_process_is_no_problem(settings, findings_during_save):
    async def write_half():
        path = next((settings.data / "warc").glob("*.warc.gz"))
        record = path.read_bytes()[:100]
        with path.open("ab") as file:
            file.write(record)

    assert [each.where for each in await findings_during_save(change=write_half)] == ["notes.txt"]
