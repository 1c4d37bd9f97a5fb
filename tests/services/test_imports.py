import asyncio
from io import BytesIO

import pytest
from sqlalchemy import text

from archiver.errors import UnreadableFile
from archiver.formats import import_process
from archiver.model.imports import ImportPhase
from archiver.model.listing import ListingQuery
from archiver.services import imports

MANY = 600


@pytest.fixture(autouse=True)
def _small_batches(monkeypatch):
    monkeypatch.setattr(import_process, "BATCH", 100)


def links(count):
    return "\n".join(f"http://a.example/{number}" for number in range(count)).encode()


async def finished(archive, number):
    """Return the status of an import once it was read."""
    async for status in archive.change_stream.one_import(number):
        if not status.is_unread:
            return status
    raise AssertionError("the import never ended")


@pytest.fixture
def upload(tmp_path):
    path = tmp_path / "upload"
    path.write_bytes(links(MANY))
    return path


async def test_the_changes_of_an_import_that_does_not_exist_end_immediately(archive):
    assert [each async for each in archive.change_stream.one_import(7)] == []


async def test_an_import_that_missed_links_does_not_report_success(archive):
    rows = b'[{"href": "http://a.example/", "description": "A", "extended": "", "toread": "no"}'
    whole = await archive.imports.read_file(BytesIO(rows + b"]"), name="whole.json")
    cut = await archive.imports.read_file(BytesIO(rows + b', {"href": "http://b'), name="cut.json")

    assert (whole.phase, whole.error) == (ImportPhase.CAPTURING, "")
    assert "could not be read" in cut.error
    assert (cut.read, cut.known, cut.rejected) == (2, 1, 1)
    assert not cut.has_nothing_new
    report = b"".join([each async for each in archive.import_reports.csv(cut.id)]).decode()
    assert "2,unusable," in report


async def test_a_file_without_links_is_refused_and_leaves_nothing(archive, tmp_path):
    for content in (b"", b"\n\n  \n", b"no link at all", b"%PDF-1.7\n\0\0\0"):
        with pytest.raises(UnreadableFile):
            await archive.imports.read_file(BytesIO(content), name="file")
        folder = tmp_path / "kept"
        folder.write_bytes(content)
        with pytest.raises(UnreadableFile):
            await archive.imports.start(folder, name="file")

        assert not folder.exists(), content
        assert await archive.import_statuses.recent() == [], content


async def test_an_upload_is_read_in_the_background_and_then_removed(archive, upload):
    import_id = await archive.imports.start(upload, name="links.txt")
    status = await finished(archive, import_id.id)
    await archive.imports.stop()

    assert import_id.reading
    assert (status.added, status.error) == (MANY, "")
    assert not upload.exists()


async def test_a_stopped_import_continues_at_its_position_after_a_restart(open_archive, upload):
    async with open_archive() as archive:
        import_id = await archive.imports.start(upload, name="links.txt")
        await archive.imports.stop()
        half = await archive.imports.status(import_id.id)
    async with open_archive() as archive:
        await archive.imports.resume()
        status = await finished(archive, import_id.id)
        await archive.imports.stop()
        (newest,) = (await archive.search.listing(ListingQuery(limit=1))).items

    assert (half.reading, half.paused) == (False, True)
    assert half.read < MANY
    assert (status.read, status.added, status.merged) == (MANY, MANY, 0)
    assert newest.entry.annotation.source == "import:links.txt"


async def test_an_upload_outlives_an_index_that_refuses_for_a_while(
    archive, upload, monkeypatch, caplog
):
    monkeypatch.setattr(imports, "REST_SECONDS", 0.01)
    async with archive.imports._db.write() as conn:
        pages = (await conn.execute(text("PRAGMA page_count"))).scalar()
        await conn.execute(text(f"PRAGMA max_page_count = {pages + 4}"))
    import_id = await archive.imports.start(upload, name="links.txt")
    while not caplog.records:  # noqa: ASYNC110 - nothing else tells; the suite's time limit bounds it
        await asyncio.sleep(0.01)
    async with archive.imports._db.write() as conn:
        await conn.execute(text("PRAGMA max_page_count = 1000000"))

    status = await finished(archive, import_id.id)
    await archive.imports.stop()

    assert (status.read, status.added, status.merged, status.error) == (MANY, MANY, 0, "")
