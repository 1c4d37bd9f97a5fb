"""An export file is complete, or there is none and a reason is shown."""

import asyncio
import io
import json

import pytest

from archiver.errors import NotFound
from archiver.model.export_kinds import BY_KEY, EXPORTS
from archiver.model.listing import ListingQuery
from archiver.services.export_files import MAX_STARTS, ExportState
from archiver.services.export_selection import Selected

COUNT = 7
FROM_SEGMENTS = ("markdown", "md", "epub", "html")


@pytest.fixture
async def links(archive):
    rows = [
        {"url_given": f"https://h{n}.example/", "added_at": "2020-01-01T00:00:00Z"}
        for n in range(COUNT)
    ]
    rows[0] |= {"folders": ["F0", "Again", "Once more"], "note": "Mine"}
    data = json.dumps({"archiver": 1, "entries": rows}).encode()
    await archive.imports.read_file(io.BytesIO(data), name="a.json")
    return archive


@pytest.fixture
async def damaged_archive(archive, live):
    """An archive of two pages whose segment lost its second half."""
    for name in ("foxes", "bears"):
        await archive.entries.save([live.article(name)], source="cli")
        await archive.crawling.work()
    (segment,) = (archive.settings.data / "warc").glob("*.warc.gz")
    with segment.open("r+b") as file:
        file.truncate(segment.stat().st_size // 2)
    return archive


def file_names(directory):
    return sorted(each.name for each in directory.iterdir() if each.name != "data")


async def test_an_export_file_is_complete_and_counts_its_entries(links, tmp_path):
    for kind in EXPORTS:
        written = await links.exporting.write(kind, Selected(), tmp_path / "out")

        count = 1 if kind.key == "epub" else COUNT  # a book has no chapters for mere links
        assert (written.size, written.entries) == ((tmp_path / "out").stat().st_size, count), kind
        assert file_names(tmp_path) == ["out"], kind


async def test_a_page_that_cannot_be_read_is_left_out_and_listed(damaged_archive, tmp_path):
    for key in FROM_SEGMENTS:
        written = await damaged_archive.exporting.write(BY_KEY[key], Selected(), tmp_path / "out")

        assert [each.split(": ")[0].rpartition("/")[2] for each in written.damaged] == ["bears"], (
            key
        )
        assert file_names(tmp_path) == ["out"], key


async def test_a_failed_export_leaves_the_old_file_unchanged(links, tmp_path):
    (tmp_path / "out").write_text("old")

    with pytest.raises(NotFound):
        await links.exporting.write(
            BY_KEY["epub"], Selected(ListingQuery("none")), tmp_path / "out"
        )

    assert file_names(tmp_path) == ["out"]
    assert (tmp_path / "out").read_text() == "old"


async def test_a_job_writes_a_file_that_stays_until_it_is_deleted(links):
    jobs = links.export_jobs
    name = await jobs.create(BY_KEY["json"], Selected(ListingQuery("site:h1.example")))
    (waiting,) = await jobs.all()

    await jobs.run_waiting()

    (ready,) = await jobs.all()
    path, _ = await jobs.file(name)
    assert (waiting.state, ready.state, ready.entries) == (
        ExportState.WAITING,
        ExportState.READY,
        1,
    )
    assert len(json.loads(path.read_text())["entries"]) == 1
    await jobs.delete(name)
    assert await jobs.all() == []
    assert [*path.parent.iterdir()] == []
    with pytest.raises(NotFound):
        await jobs.delete(name)


async def test_a_failed_export_has_a_reason_and_the_next_one_runs(damaged_archive):
    jobs = damaged_archive.export_jobs
    await jobs.create(BY_KEY["epub"], Selected(ListingQuery("nothing")))
    await jobs.create(BY_KEY["json"], Selected())

    await jobs.run_waiting()

    results = {each.kind.key: each for each in await jobs.all()}
    assert results["epub"].state is ExportState.FAILED
    assert "no entries match" in results["epub"].problem
    assert results["json"].state is ExportState.READY
    with pytest.raises(NotFound):
        await jobs.file(results["epub"].name)


async def test_a_job_that_ended_the_process_again_and_again_fails(links):
    name = await links.export_jobs.create(BY_KEY["json"], Selected())
    path = links.settings.data / "exports" / f"{name}.wanted"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"starts": MAX_STARTS}))

    await links.export_jobs.run_waiting()

    (job,) = await links.export_jobs.all()
    assert job.state is ExportState.FAILED
    assert "interrupted" in job.problem


async def test_a_job_that_a_shutdown_interrupts_begins_again(links):
    name = await links.export_jobs.create(BY_KEY["json"], Selected())
    part = links.settings.data / "exports" / f"{name}.part"
    for _ in range(MAX_STARTS):
        running = asyncio.create_task(links.export_jobs.run_waiting())
        while not part.exists():  # noqa: ASYNC110 - another task's file; the suite's limit bounds it
            await asyncio.sleep(0)
        running.cancel()
        await asyncio.wait([running])
        assert not part.exists()

    await links.export_jobs.run_waiting()

    (job,) = await links.export_jobs.all()
    assert job.state is ExportState.READY


async def test_partial_files_of_an_interrupted_process_are_removed(links):
    jobs, directory = links.export_jobs, links.settings.data / "exports"
    name = await jobs.create(BY_KEY["json"], Selected())
    for file_name in (f"{name}.part", f".{name}.mark", f".{name}.wanted.new"):
        (directory / file_name).write_text("half")

    working = asyncio.create_task(jobs.work())
    while not (directory / name).exists():  # noqa: ASYNC110 - another task's file; the suite's limit bounds it
        await asyncio.sleep(0)
    working.cancel()
    await asyncio.wait([working])

    assert {each.name for each in directory.iterdir()} == {name, f"{name}.wanted"}
