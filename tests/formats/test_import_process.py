"""A file of links is read by a child process in order and in batches.

A hostile file only kills the child.
"""

import json
from datetime import UTC, datetime
from io import BytesIO

import pytest

from archiver.errors import UnreadableFile
from archiver.formats.import_process import BATCH, open_links
from archiver.formats.import_worker import BATCH_BYTES
from archiver.formats.seeds import MAX_NOTE

real_child = pytest.mark.real_children
"""Starts a process. The other tests run the child in a thread."""
MEMORY = 1 << 30


def links(count):
    return BytesIO(b"".join(b"http://a.example/%d\n" % n for n in range(count)))


@real_child
async def test_links_arrive_in_ordered_batches_ended_by_an_empty_one():
    async with open_links(links(BATCH + 2), "list.txt", memory_bytes=MEMORY) as file:
        first, second, last = [await file.next_batch() for _ in range(3)]
    async with open_links(links(3 * BATCH), "list.txt", memory_bytes=MEMORY) as stopped:
        await stopped.next_batch()

    assert stopped._process.returncode is not None, "no child is left"
    assert file.form == "plain text"
    assert len(first.seeds) == BATCH
    assert [each.seed.url for each in second.seeds] == [
        f"http://a.example/{BATCH}",
        f"http://a.example/{BATCH + 1}",
    ]
    assert not last


async def test_links_with_much_metadata_come_in_smaller_batches():
    note = "x" * MAX_NOTE
    lines = [json.dumps({"url": f"http://a.example/{n}", "note": note}) for n in range(300)]
    source = BytesIO("\n".join(lines).encode())
    async with open_links(source, "list.jsonl", memory_bytes=MEMORY) as file:
        batches = [await file.next_batch() for _ in range(2)]

    sizes = [len(each.seeds) for each in batches]
    assert all(size * MAX_NOTE <= BATCH_BYTES + MAX_NOTE for size in sizes)
    assert all(sizes)
    assert {len(each.seed.annotation.note) for batch in batches for each in batch.seeds} == {
        MAX_NOTE
    }


async def test_links_read_earlier_are_skipped():
    async with open_links(links(5), "list.txt", memory_bytes=MEMORY, skip=3) as file:
        batch = await file.next_batch()

    assert [each.seed.url for each in batch.seeds] == ["http://a.example/3", "http://a.example/4"]


async def test_all_fields_of_a_bookmark_are_transferred():
    text = (
        "<!DOCTYPE NETSCAPE-Bookmark-file-1><DL><p>"
        '<DT><A HREF="HTTP://A.example/é#part" ADD_DATE="1300000000" TAGS="b, c ">Größe &amp;</A>'
        "<DD>a note\nof two lines</DL>"
    )
    async with open_links(BytesIO(text.encode()), "b.html", memory_bytes=MEMORY) as file:
        (found,) = (await file.next_batch()).seeds

    seed = found.seed
    assert seed.url == "http://a.example/%C3%A9"
    assert seed.annotation.url_given == "HTTP://A.example/é#part"
    assert (seed.host, seed.annotation.source) == ("a.example", "import:b.html")
    assert seed.annotation.title == "Größe &"
    assert (seed.annotation.tags, seed.annotation.note) == (("b", "c"), "a note\nof two lines")
    assert seed.annotation.added_at == datetime.fromtimestamp(1300000000, UTC)


async def test_a_refused_file_leaves_no_copy(tmp_path, monkeypatch):
    """Such files are copied to a temporary file, because they are not read from front to back."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)

    with pytest.raises(UnreadableFile):
        async with open_links(BytesIO(b"PK\3\4" + b"x" * 500_000), "f", memory_bytes=MEMORY):
            pass

    assert not [*tmp_path.iterdir()]


async def test_unsupported_links_come_with_a_reason():
    async with open_links(BytesIO(b"http://[1\nhttp://b/\n"), "l.txt", memory_bytes=MEMORY) as file:
        batch = await file.next_batch()

    assert [each.seed.url for each in batch.seeds] == ["http://b/"]
    assert [each.given for each in batch.rejected] == ["http://[1"]
    assert batch.rejected[0].reason


async def test_an_unsupported_file_is_refused_with_a_message():
    with pytest.raises(UnreadableFile, match="PDF"):
        async with open_links(BytesIO(b"%PDF-1.7 x"), "a.pdf", memory_bytes=MEMORY):
            pass


@real_child
async def test_a_child_above_its_memory_limit_ends_the_import():
    with pytest.raises(UnreadableFile, match="extract_memory_bytes"):
        async with open_links(links(2 * BATCH), "list.txt", memory_bytes=16 << 20) as file:
            await file.next_batch()


class Broken(BytesIO):
    """File on a disk that fails halfway."""

    def read(self, _size=-1):
        if self.tell():
            raise OSError("input/output error")
        return super().read(len(self.getvalue()) // 2)


async def test_a_read_error_ends_the_import():
    broken = Broken(b"http://a.example/1\n" * 4 * BATCH)

    with pytest.raises(UnreadableFile, match="failed"):
        await read_whole(broken)


async def read_whole(source):
    async with open_links(source, "list.txt", memory_bytes=MEMORY) as file:
        while await file.next_batch():
            pass


async def test_a_batch_has_the_first_and_last_date_of_its_links():
    dated = [f"http://a.example/{n},2024-01-0{n}" for n in (3, 1, 2)]
    text = "\n".join(("url,created", *dated, "http://a.example/4,"))
    source = BytesIO(text.encode())
    async with open_links(source, "x.csv", memory_bytes=MEMORY) as file:
        batch = await file.next_batch()
    async with open_links(links(2), "list.txt", memory_bytes=MEMORY) as file:
        without = await file.next_batch()

    days = [datetime(2024, 1, day, tzinfo=UTC).timestamp() for day in (1, 3)]
    assert ([*batch.saved], [*without.saved]) == (days, [])
