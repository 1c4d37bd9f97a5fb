"""An export under a name is gone on with where it was broken off, and is the file it would be."""

import asyncio
import io
import json

import pytest

from archiver.app import open_app
from archiver.errors import InputError, NotFound
from archiver.model.listing import ListingQuery
from archiver.services import lists
from archiver.services.export_files import size_so_far
from archiver.services.export_kinds import BY_KEY, EXPORTS
from archiver.services.manifest import Selected

LISTS = [each for each in EXPORTS if each.form]
COUNT = 7


class Broken(Exception):
    """What a test breaks an export off with."""


@pytest.fixture
async def files(archive, settings, monkeypatch):
    monkeypatch.setattr(lists, "PAGE", 2)
    rows = [
        {
            "url_given": f"https://h{n}.example/",
            "added_at": "2020-01-01T00:00:00Z",
            "folders": [f"F{n % 3}"],
        }
        for n in range(COUNT)
    ]
    data = json.dumps({"archiver": 1, "entries": rows}).encode()
    await archive.imports.read_file(io.BytesIO(data), name="a.json")
    async with open_app(settings, reads_only=True) as app:
        made = app.export_files
        yield made


async def broken_off(files, kind, path, at):
    """Write until there are so many bytes."""

    def stop(size):
        if size >= at:
            raise Broken

    with pytest.raises(Broken):
        await files.write(kind, Selected(), path, stop)


@pytest.mark.parametrize("kind", EXPORTS, ids=lambda kind: kind.key)
async def test_it_is_told_how_many_entries_an_export_holds(files, kind, tmp_path):
    assert (await files.write(kind, Selected(), tmp_path / "whole")).entries == COUNT


@pytest.mark.parametrize("kind", LISTS, ids=lambda kind: kind.key)
async def test_an_export_broken_off_anywhere_is_gone_on_with(files, kind, tmp_path):
    whole = tmp_path / "whole"
    size = (await files.write(kind, Selected(), whole)).size
    assert size == whole.stat().st_size

    for at in range(1, size, max(1, size // 6)):
        path = tmp_path / "out"
        await broken_off(files, kind, path, at)
        assert not path.exists()
        assert size_so_far(path) >= at
        begun = path.with_name(".out.mark").read_text()

        await files.write(kind, Selected(), path)

        if kind.key not in ("atom", "opml"):
            assert path.read_bytes() == whole.read_bytes()
        assert path.stat().st_size == size
        assert json.loads(begun)["done"] >= 0
        path.unlink()
    assert {each.name for each in tmp_path.iterdir()} == {"data", "whole"}


async def test_who_goes_on_writes_what_was_planned_alone(files, archive, tmp_path):
    kind, path = BY_KEY["json"], tmp_path / "out"
    await broken_off(files, kind, path, 700)
    await archive.entries.save(["https://later.example/"], source="cli")

    await files.write(kind, Selected(), path)

    assert len(json.loads(path.read_text())["entries"]) == COUNT


async def test_another_export_under_that_name_is_begun_anew(files, archive, tmp_path):
    kind, path = BY_KEY["json"], tmp_path / "out"
    await broken_off(files, kind, path, 700)

    await files.write(kind, Selected(ListingQuery("site:h1.example")), path)

    assert len(json.loads(path.read_text())["entries"]) == 1


async def test_what_was_written_behind_the_mark_is_written_again(files, tmp_path):
    kind, path = BY_KEY["csv"], tmp_path / "out"
    await files.write(kind, Selected(), tmp_path / "whole")
    await broken_off(files, kind, path, 300)
    with path.with_name(".out.part").open("ab") as part:
        part.write(b"half a row that was on its way when the power w")

    await files.write(kind, Selected(), path)

    assert path.read_bytes() == (tmp_path / "whole").read_bytes()


@pytest.mark.parametrize("damage", ["{", "[]", "{}", '{"of":"","begun_at":"","size":9}'])
async def test_a_mark_that_says_nothing_is_passed_over(files, tmp_path, damage):
    kind, path = BY_KEY["json"], tmp_path / "out"
    await broken_off(files, kind, path, 700)
    path.with_name(".out.mark").write_text(damage)

    await files.write(kind, Selected(), path)

    assert len(json.loads(path.read_text())["entries"]) == COUNT


async def test_one_process_at_a_time_writes_a_file(files, tmp_path):
    kind, path = BY_KEY["json"], tmp_path / "out"
    inside = asyncio.Event()

    first = asyncio.create_task(files.write(kind, Selected(), path, lambda _: inside.set()))
    await inside.wait()
    with pytest.raises(InputError, match="another process"):
        await files.write(kind, Selected(), path)

    await first
    assert len(json.loads(path.read_text())["entries"]) == COUNT


@pytest.mark.parametrize("key", ["json", "wacz", "epub"])
async def test_an_export_of_nothing_leaves_nothing_behind(files, tmp_path, key):
    with pytest.raises(NotFound):
        await files.write(BY_KEY[key], Selected(ListingQuery(tag="none")), tmp_path / "out")

    assert [each.name for each in tmp_path.iterdir()] == ["data"]


async def test_an_entry_that_lies_in_several_lists_is_counted_once(files, archive, tmp_path):
    rows = [{"url_given": "https://h0.example/", "folders": ["F0", "Again", "Once more"]}]
    data = json.dumps({"archiver": 1, "entries": rows}).encode()
    await archive.imports.read_file(io.BytesIO(data), name="b.json")

    whole = await files.write(BY_KEY["bookmarks"], Selected(), tmp_path / "out")

    assert (tmp_path / "out").read_text().count('HREF="https://h0.example/"') == 3
    assert whole.entries == COUNT


async def test_an_error_names_the_file_that_was_asked_for(files, tmp_path):
    with pytest.raises(OSError, match=r"nowhere/list\.csv'$"):
        await files.write(LISTS[0], Selected(ListingQuery()), tmp_path / "nowhere" / "list.csv")
