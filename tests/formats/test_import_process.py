"""A file of links is read by a child process in order and in batches.

A hostile file only kills the child.
"""

import asyncio
import json
import os
import signal
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


@real_child
async def test_a_child_that_was_suspended_while_it_wrote_sends_all_links(monkeypatch):
    """With PYTHONUNBUFFERED, Python would drop the rest of a message whose write is interrupted."""
    monkeypatch.setenv("PYTHONUNBUFFERED", "1")
    lines = BytesIO(b"".join(b"http://a.example/%d%s\n" % (n, b"x" * 2000) for n in range(BATCH)))
    async with open_links(lines, "list.txt", memory_bytes=MEMORY) as file:
        child = file._process.pid
        while not file._process.stdout._paused:  # noqa: ASYNC110 - no event tells
            await asyncio.sleep(0.001)
        os.kill(child, signal.SIGSTOP)
        await asyncio.to_thread(os.waitid, os.P_PID, child, os.WSTOPPED)
        os.kill(child, signal.SIGCONT)
        batch = await file.next_batch()

    assert len(batch.seeds) == BATCH


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
