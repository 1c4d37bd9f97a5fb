"""Exported lists restore the same entries; an entry is exported as Markdown."""

import io
import json
import re
from dataclasses import replace

import pytest

from archiver.errors import InputError, NotFound
from archiver.model.annotation import AnnotationChange
from archiver.model.export_kinds import BY_KEY, EXPORTS
from archiver.model.imports import CaptureWhen, Choices
from archiver.model.job import State
from archiver.model.listing import ListingQuery
from archiver.services.export_selection import Selected
from tests.formats.goldens import OWN
from tests.formats.test_own_json import SCHEMA, check

LISTS = [each.key for each in EXPORTS if each.is_list]
READ_BACK = ["bookmarks", "json", "jsonl", "csv"]


def a_list():
    """Return JSON of entries with much, no, and hostile metadata."""
    bare = {"tags": [], "folders": [], "highlights": [], "source_record": "", "note": ""}
    further = [
        {**bare, "url_given": "https://b.example/", "title": "", "is_read": False},
        {"url_given": "http://b.example/?q=<&>#x", "title": "=1+1", "note": "a\nb </DL>"},
        {"url_given": "https://c.example/", "folders": ["Food", "A/B", "A/B/C"], "tags": ["x"]},
        {"url_given": "https://d.example/", "folders": ["A"], "tags": ["toread"]},
    ]
    rows = [OWN, *({**OWN, **each} for each in further)]
    return json.dumps({"archiver": 1, "entries": [{"archiver": 1, **each} for each in rows]})


async def import_warc(runtime, data, name):
    raw = data.encode() if isinstance(data, str) else data
    return await runtime.imports.read_file(io.BytesIO(raw), name=name)


async def exported(runtime, key, selection=None):
    pieces = await runtime.exporting.begin(BY_KEY[key], selection or Selected(), name="x")
    return b"".join([piece async for piece in pieces])


async def test_a_list_that_went_through_an_empty_archive_is_the_list_it_was(
    archive, open_archive, settings, tmp_path
):
    await import_warc(archive, a_list(), "a.json")
    for key in READ_BACK:
        export = await exported(archive, key)
        async with open_archive(replace(settings, data=tmp_path / key)) as other:
            status = await import_warc(other, export, f"x.{BY_KEY[key].suffix}")

            assert status.rejected == 0, key
            assert await exported(other, key) == export, key


async def test_an_entry_saved_as_link_is_imported_as_link(open_archive, settings, tmp_path):
    table = b"url,date\nhttp://127.0.0.1:1/a,2019-01-01\n"
    async with open_archive() as first:
        chosen = Choices(capture=CaptureWhen.NEVER)
        await first.imports.read_file(io.BytesIO(table), name="a.csv", choices=chosen)
        await import_warc(first, "http://127.0.0.1:1/b\n", "b.txt")
        export = await exported(first, "json")

    async with open_archive(replace(settings, data=tmp_path / "other")) as second:
        status = await import_warc(second, export, "x.json")

        assert (status.added, status.without_capture, status.counts.open) == (2, 1, 1)
        states = [(await second.entries.get(f"http://127.0.0.1:1/{n}")).entry.state for n in "ab"]
        assert states == [State.LINK, State.QUEUED]
        assert by_url(await exported(second, "json")) == by_url(export)


def by_url(document):
    return {each["url"]: each for each in json.loads(document)["entries"]}


ARRANGED = (("Later/Empty", ""), ("Found", "tag:x fox"), ("A/B/C", ""), ("Food", ""), ("Ä", ""))


async def test_lists_go_with_everything_empty_ones_searches_and_their_order_too(
    archive, open_archive, settings, tmp_path
):
    for path, query in ARRANGED:
        await archive.lists.make(path, query)
    await import_warc(archive, a_list(), "a.json")
    lists = [(each.path, each.query) for each in await archive.lists.all()]
    for key in ("json", "jsonl"):
        export = await exported(archive, key)
        async with open_archive(replace(settings, data=tmp_path / key)) as other:
            await import_warc(other, export, f"x.{key}")
            await import_warc(other, export, f"again.{key}")
            assert await exported(other, key) == export
            assert [(each.path, each.query) for each in await other.lists.all()] == lists
        assert b"Later/Empty" in export
        assert b"Later/Empty" not in await exported(archive, key, Selected(ListingQuery(tag="x")))


async def test_a_json_export_is_complete_and_matches_its_schema(archive, live):
    await archive.entries.save(
        [live.article("foxes"), live.url("/missing")], tags=("t",), source="cli"
    )
    await archive.crawling.work()

    document = json.loads(await exported(archive, "json"))

    check(document, SCHEMA)
    foxes, missing = document["entries"]
    assert (foxes["title"], foxes["archive"]["title"]) == ("", "foxes")
    assert [each["status"] for each in foxes["archive"]["snapshots"]] == [200]
    assert missing["archive"]["failure"]["kind"] == "http-status"


async def test_an_export_imported_again_changes_nothing_and_restores_user_fields(
    archive, open_archive, settings, tmp_path, live
):
    urls = [live.article("foxes"), live.article("heron"), live.url("/missing")]
    await archive.entries.save(urls, tags=("t",), source="cli")
    await archive.crawling.work()
    await archive.highlights.add(urls[0], "foxes", note="Mine")
    await archive.editing.change([urls[1]], AnnotationChange(title="My bird"))
    before = json.loads(await exported(archive, "json"))

    for key in ("markdown", "json"):
        export = await exported(archive, key)
        status = await import_warc(archive, export, f"x.{BY_KEY[key].suffix}")
        assert (status.known, status.merged, status.added) == (3, 0, 0), key
        assert json.loads(await exported(archive, "json")) == before
        async with open_archive(replace(settings, data=tmp_path / key)) as other:
            await import_warc(other, export, f"x.{BY_KEY[key].suffix}")
            for url in urls:
                annotation = (await archive.entries.get(url)).entry.annotation
                read = (await other.entries.get(url)).entry.annotation
                assert (read.title, read.highlights) == (annotation.title, annotation.highlights)
                assert len(read.source_record) < 100
            assert "source_record" not in await other.exporting.index_md(urls[0])


async def test_an_export_of_a_search_contains_its_results(archive):
    await import_warc(archive, a_list(), "a.json")

    for key in LISTS:
        result = await exported(archive, key, Selected(ListingQuery("tag:x")))

        assert b"c.example" in result, key
        assert b"d.example" not in result, key
        with pytest.raises(NotFound):
            await exported(archive, key, Selected(ListingQuery(tag="nowhere")))
        with pytest.raises(InputError):
            await exported(archive, key, Selected(ListingQuery("(")))


async def test_a_list_made_by_hand_is_exported_in_its_order(archive):
    rows = [
        {"url_given": f"https://{name}.example/", "folders": ["Mine"], "places": places}
        for name, places in {"a": [3], "b": [], "c": [1], "d": [2]}.items()
    ]
    rows.append({"url_given": "https://other.example/", "folders": ["Else"]})
    await import_warc(archive, json.dumps({"archiver": 1, "entries": rows}), "a.json")

    result = (await exported(archive, "bookmarks", Selected(ListingQuery("list:Mine")))).decode()

    assert re.findall(r'HREF="https://(\w+)\.example', result) == ["c", "d", "a", "b"]
