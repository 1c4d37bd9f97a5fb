"""Every row of a file has one result, which a dry run predicts; reports are stored."""

import csv
import gzip
import io
import json
from contextlib import aclosing

from archiver.model.imports import Choices, FoldersAs
from archiver.services.reindex import reindex
from tests.index_access import remove_index
from tests.segments import segments

TABLE = (
    "url,title,folder,added,mood\n"
    "http://a.example/1,One,Food/Soups,2020-09-13T12:26:40Z,good\n"
    "http://a.example/1#part,Uno,Food,2019-09-13T12:26:40Z,\n"
    "javascript:alert(1),Bad,,,\n"
    ",No address,,,\n"
    "http://a.example/2,=Two,,,\n"
)


async def whole(pieces):
    async with aclosing(pieces) as all_of_them:
        return b"".join([piece async for piece in all_of_them]).decode()


async def imported(archive, text=TABLE, **options):
    return await archive.imports.read_file(io.BytesIO(text.encode()), name="x.csv", **options)


async def test_a_report_has_the_result_of_every_row(archive):
    status = await imported(archive)

    rows = json.loads(await whole(archive.import_reports.json(status.id)))

    assert [(each["row"], each["outcome"], each["url"]) for each in rows] == [
        (1, "added", "http://a.example/1"),
        (2, "merged", "http://a.example/1#part"),
        (3, "unusable", "javascript:alert(1)"),
        (4, "unusable", "No address"),
        (5, "added", "http://a.example/2"),
    ]
    assert rows[0]["hash_url"] == rows[1]["hash_url"] != rows[4]["hash_url"]
    assert [bool(each["reason"]) for each in rows] == [False, False, True, True, False]
    assert len(await archive.import_reports.reasons(status.id)) == 2
    assert [each.row for each in status.rejected_samples] == [3, 4]


async def test_a_report_as_csv_has_no_formula(archive):
    status = await imported(archive, "url,title\n=1+1,x\n")

    table = list(csv.reader(io.StringIO(await whole(archive.import_reports.csv(status.id)))))

    assert table[0] == ["row", "outcome", "url", "hash_url", "reason"]
    assert table[1][:3] == ["1", "unusable", "'=1+1"]


async def test_a_row_with_new_metadata_is_merged_and_another_is_known(
    archive,
):
    table = "url,title,tags,note\n" + "".join(f"http://a.example/{n},One,t,n\n" for n in range(5))
    await imported(archive, table)
    more = ("Two,t,n", "One,other,n", "One,t,more", "One,t,n", ",,")
    rows = "".join(f"http://a.example/{n},{each}\n" for n, each in enumerate(more))

    status = await imported(archive, "url,title,tags,note\n" + rows)

    report = json.loads(await whole(archive.import_reports.json(status.id)))
    assert [each["outcome"] for each in report] == ["merged"] * 3 + ["known"] * 2
    assert (status.added, status.merged, status.known) == (0, 3, 2)


async def test_a_dry_run_predicts_the_import_and_stores_nothing(archive):
    choices = Choices(folders_as=FoldersAs.TAGS)
    source = io.BytesIO(TABLE.encode())
    survey = await archive.surveys.preview(source, "x.csv", choices=choices)

    assert (await archive.search.overview()).entries == 0
    assert await archive.import_statuses.recent() == []
    assert (survey.format, survey.encoding, survey.is_whole) == ("CSV", "utf-8", True)
    status = await imported(archive, choices=choices)
    assert (survey.read, survey.new, survey.merged, survey.unusable) == (
        status.read,
        status.added,
        status.merged,
        status.rejected,
    )
    assert survey.samples == status.rejected_samples
    assert (survey.earliest.year, survey.latest.year) == (2019, 2020)
    assert [(each.name, each.count) for each in survey.folders] == [("Food", 1), ("Food/Soups", 1)]
    assert {each.name: each.count for each in survey.tags} == {"Food": 2, "Soups": 1}
    assert {each.name: each.count for each in survey.kept} == {"mood": 1}
    assert [each.title for each in survey.sample] == ["One", "Uno", "=Two"]
    again = await archive.surveys.preview(io.BytesIO(TABLE.encode()), "x.csv")
    assert (again.new, again.known, again.merged) == (0, 3, 0)


WALLABAG = json.dumps(
    [
        {
            "title": "A page",
            "url": "http://a.example/gone",
            "is_archived": 0,
            "is_starred": 0,
            "content": "<p>" + "The otter swam across the river at dawn. " * 12 + "</p>",
            "created_at": "2019-03-01T10:00:00+0000",
        }
    ]
)


async def test_an_article_that_came_with_a_link_is_a_snapshot_of_the_day_it_was_saved(archive):
    status = await archive.imports.read_file(io.BytesIO(WALLABAG.encode()), name="wallabag.json")
    again = await archive.imports.read_file(io.BytesIO(WALLABAG.encode()), name="wallabag.json")

    assert (status.read, status.rejected, again.read) == (1, 0, 1)
    detail = await archive.entries.get("http://a.example/gone")
    assert [each.timestamp for each in detail.snapshots] == ["20190301100000"]
    assert detail.snapshots[0].title == "A page"
    assert "otter swam" in (await archive.entries.snapshot("http://a.example/gone", None)).text
    records = b"".join(map(gzip.decompress, segments(archive.settings.data).values()))
    assert b"WARC-Archiver-Origin: wallabag.json (wallabag JSON)" in records
    assert b"WARC-Archiver-Head: synthesised" in records


async def test_reports_and_undos_survive_a_reindex(open_archive, settings):
    async with open_archive() as archive:
        status = await imported(archive)
        await imported(archive)
        await archive.crawling.work()
        before = await whole(archive.import_reports.csv(status.id))
        status_before = await archive.imports.status(status.id)

    await reindex(settings)

    async with open_archive() as archive:
        assert await whole(archive.import_reports.csv(status.id)) == before
        after = await archive.imports.status(status.id)
        assert (after.read, after.added, after.counts) == (
            status_before.read,
            status_before.added,
            status_before.counts,
        )
        assert len(await archive.import_statuses.recent()) == 2
        await archive.import_undo.undo(1)
        assert (await archive.import_undo.undo(2)).removed == 2
        await archive.crawling.write_pending_records()
    remove_index(settings.data)

    await reindex(settings)

    async with open_archive() as archive:
        assert await whole(archive.import_reports.csv(status.id)) == before
        assert (await archive.imports.status(2)).undone.removed == 2
        assert (await archive.search.overview()).entries == 0


async def test_a_reindex_restores_truncated_reports_and_needs_none_that_was_deleted(
    open_archive, settings
):
    async with open_archive() as archive:
        await imported(archive)
    (path,) = (settings.data / "receipts").iterdir()
    path.write_bytes(path.read_bytes()[:-20])
    remove_index(settings.data)

    report = await reindex(settings)

    assert [each.where for each in report.problems] == [path.name]
    path.unlink()
    await reindex(settings)

    async with open_archive() as archive:
        assert (await archive.imports.status(1)).read == 5
