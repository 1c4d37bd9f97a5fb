"""Options of an import apply to each link of the file, and are in its report."""

import io
import json
from contextlib import aclosing

from archiver.model.imports import CaptureWhen, Choices, ColumnRole, FoldersAs, ToRead
from archiver.model.job import State
from archiver.model.listing import ListingQuery
from archiver.services.reindex import reindex
from tests.index_access import remove_index

TABLE = (
    "url,title,folder,tags\n"
    "http://127.0.0.1:1/1,Otters,Food/Soups,toread\n"
    "http://127.0.0.1:1/2,Two,Foodies,\n"
    "http://127.0.0.1:1/3,Three,,\n"
    "javascript:x,Bad,Food,\n"
)


async def imported(archive, text=TABLE, name="x.csv", **chosen):
    source = io.BytesIO(text.encode())
    return await archive.imports.read_file(source, name=name, choices=Choices(**chosen))


async def annotation_of(archive, n=1):
    return (await archive.entries.get(f"http://127.0.0.1:1/{n}")).entry.annotation


async def search_names(archive, query):
    listing = await archive.search.listing(ListingQuery(q=query))
    return sorted(each.entry.url[-1] for each in listing.items)


async def test_only_links_in_chosen_folders_are_imported(archive):
    chosen = {"only_folders": ("Food",)}
    survey = await archive.surveys.preview(
        io.BytesIO(TABLE.encode()), "x.csv", choices=Choices(**chosen)
    )

    status = await imported(archive, **chosen)

    numbers = status.read, status.added, status.passed_over, status.rejected
    assert numbers == (4, 1, 2, 1)
    assert (survey.read, survey.new, survey.left_out, survey.unusable) == numbers
    async with aclosing(archive.import_reports.json(status.id)) as pieces:
        rows = json.loads(b"".join([each async for each in pieces]))
    assert [each["outcome"] for each in rows] == ["added", "left out", "left out", "unusable"]
    assert len(await archive.import_reports.reasons(status.id)) == 1


async def test_folders_and_read_marks_follow_the_options(archive):
    for n, (chosen, tags, folders) in enumerate(
        (
            ({}, ("toread",), ("Food/Soups",)),
            ({"folders_as": FoldersAs.TAGS}, ("Food", "Soups", "toread"), ("Food/Soups",)),
            ({"folders_as": FoldersAs.IGNORED}, ("toread",), ()),
            ({"folders_as": FoldersAs.LISTS, "to_read": ToRead.NONE}, (), ("Food/Soups",)),
            ({"folders_as": FoldersAs.LISTS, "into": "A/B"}, ("toread",), ("A/B/Food/Soups",)),
            ({"folders_as": FoldersAs.IGNORED, "into": "A"}, ("toread",), ("A",)),
        )
    ):
        await imported(archive, TABLE.replace(":1/", f":1/{n}/"), **chosen)

        annotation = await annotation_of(archive, f"{n}/1")

        assert (annotation.tags, annotation.folders) == (tags, folders), chosen


async def test_links_without_capture_are_listed_and_can_be_captured(archive):
    status = await imported(archive, capture=CaptureWhen.NEVER)
    await archive.crawling.work()

    ended = await archive.imports.status(status.id)
    assert (ended.added, ended.without_capture, ended.is_open) == (3, 3, False)
    assert await search_names(archive, "is:link") == ["1", "2", "3"]
    assert await search_names(archive, "otters") == ["1"]
    assert await search_names(archive, "is:waiting") == []
    assert await archive.crawl_status.capture_links(status.id) == 3
    assert await search_names(archive, "is:waiting") == ["1", "2", "3"]
    await archive.crawling.work()
    ended = await archive.imports.status(status.id)
    assert (ended.counts.failed, ended.counts.open) == (3, 0)


async def test_links_stay_links_after_a_reindex_until_they_are_saved(open_archive, settings):
    async with open_archive() as archive:
        await imported(archive, capture=CaptureWhen.NEVER)
        await archive.crawling.write_pending_records()
        await archive.entries.save(["http://127.0.0.1:1/3"], source="web")
        waiting = (await archive.entries.get("http://127.0.0.1:1/3")).entry.state
    remove_index(settings.data)

    await reindex(settings)

    async with open_archive() as archive:
        assert waiting is State.QUEUED
        assert await search_names(archive, "is:link") == ["1", "2", "3"]
        assert (await annotation_of(archive)).title == "Otters"


async def test_columns_are_guessed_shown_and_corrected(archive):
    table = "Seite,Link,name,Wann\nhttp://a.example/wrong,http://127.0.0.1:1/1,Mine,2020-01-02\n"
    columns = {"Link": ColumnRole.URL, "Wann": ColumnRole.DATE, "name": ColumnRole.NOTE}
    choices = Choices(columns=columns)

    guess = await archive.surveys.preview(io.BytesIO(table.encode()), "x.csv")
    look = await archive.surveys.preview(io.BytesIO(table.encode()), "x.csv", choices=choices)
    await imported(archive, table, columns=columns)

    assert dict(guess.columns) == {
        "Seite": ColumnRole.KEEP,
        "Link": ColumnRole.URL,
        "name": ColumnRole.TITLE,
        "Wann": ColumnRole.KEEP,
    }
    assert dict(look.columns) == {"Seite": ColumnRole.KEEP, **columns}
    annotation = await annotation_of(archive)
    assert (annotation.title, annotation.note) == ("", "Mine")
    assert annotation.saved_at.year == 2020
    assert "wrong" in annotation.source_record


async def test_lists_over_the_limit_are_reported_before_and_after(archive, monkeypatch):
    lists = [{"path": f"A/{n}"} for n in range(4)] + [{"path": "Bad", "query": "colour:red"}]
    monkeypatch.setattr("archiver.model.entry_list.MAX_LISTS", 3)
    text = json.dumps({"archiver": 1, "lists": lists, "entries": []})

    survey = await archive.surveys.preview(io.BytesIO(text.encode()), "x.json")
    status = await imported(archive, text, "x.json")

    assert (survey.lists, survey.lists_left_out, status.lists_left_out) == (5, 3, 3)
    assert [each.path for each in await archive.lists.all()] == ["A", "A/0", "A/1"]
