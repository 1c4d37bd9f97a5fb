"""Archives whose index an earlier version wrote.

``schema_0038`` is such an archive. It has two saved pages, a deleted page, a queued link, an
unfinished import, a followed feed, and a tag and a title that are in no record.
"""

import gzip
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from archiver.app import open_app
from archiver.errors import IndexOutdated
from archiver.model.listing import ListingQuery
from archiver.services.reindex import reindex
from tests.command_line import run_command

WRITTEN = Path(__file__).parent / "schema_0038"
ORIGIN = "http://127.0.0.1:8431"
BACKUP = "archive.sqlite3.old-0038"


@pytest.fixture
def data(settings):
    for folder, pattern in (("warc", "*.warc.gz"), ("receipts", "*.jsonl.gz"), ("", "*.opml")):
        (settings.data / folder).mkdir(parents=True, exist_ok=True)
        for each in WRITTEN.glob(pattern):
            shutil.copy(each, settings.data / folder)
    with gzip.open(WRITTEN / "archive.sqlite3.gz") as index:
        (settings.data / "archive.sqlite3").write_bytes(index.read())
    return settings.data


def run(data, *arguments):
    return run_command(*arguments, "--data", str(data))


def revision(path):
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute("SELECT version_num FROM alembic_version").fetchone()[0]


def test_a_command_rebuilds_the_index_and_keeps_the_earlier_one(data):
    before = (data / "archive.sqlite3").read_bytes()

    first, second = run(data, "list"), run(data, "list")

    assert (first.returncode, second.returncode) == (0, 0)
    assert first.stdout == second.stdout
    assert "schema 0038" in first.stderr
    assert BACKUP in first.stderr
    assert second.stderr == ""
    assert (data / BACKUP).read_bytes() == before
    assert sorted(each.name for each in data.glob("archive.sqlite3*")) == [
        "archive.sqlite3",
        BACKUP,
    ]


async def test_data_of_the_earlier_index_is_copied_before_the_next_reindex_removes_it(
    data, settings
):
    await reindex(settings)

    async with open_app(settings) as archive:
        listing = await archive.search.listing(ListingQuery(limit=10))
        results = {each.entry.url: each.entry for each in listing.items}
        assert {url: entry.state for url, entry in results.items()} == {
            f"{ORIGIN}/foxes.html": "saved",
            f"{ORIGIN}/bears.html": "saved",
            f"{ORIGIN}/waiting.html": "queued",
        }
        foxes = results[f"{ORIGIN}/foxes.html"]
        assert foxes.title == "Given title"
        assert set(foxes.annotation.tags) == {"animals", "later"}
        assert foxes.annotation.note == "A note"
        assert foxes.annotation.is_starred
        assert foxes.annotation.folders == ("Reading",)
        assert results[f"{ORIGIN}/waiting.html"].annotation.tags == ("queued",)
        (imported,) = await archive.import_statuses.recent()
        assert (imported.name, imported.merged) == ("links.html", 1)
        (followed,) = await archive.subscriptions.all()
        assert followed.subscription.url == f"{ORIGIN}/feed.xml"
        assert followed.state is not None
        (hit, *_) = (await archive.search.listing(ListingQuery(q="clever bears"))).items
        assert hit.entry.url == f"{ORIGIN}/bears.html"

    assert (data / BACKUP).exists()
    await reindex(settings)
    assert not (data / BACKUP).exists()


def test_a_rebuild_without_the_segments_leaves_the_earlier_index_in_place(data):
    shutil.move(data / "warc", data / "unmounted")

    refused = run(data, "list")

    assert refused.returncode == 1
    assert "It is missing." in refused.stderr
    assert revision(data / "archive.sqlite3") == "0038"
    assert not (data / BACKUP).exists()


async def test_nothing_else_opens_an_outdated_index(data, settings):
    with pytest.raises(IndexOutdated, match="archiver reindex"):
        async with open_app(settings):
            pass

    assert revision(data / "archive.sqlite3") == "0038"
