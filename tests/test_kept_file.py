import asyncio
import threading

import pytest

from archiver.helpers import UNFINISHED, AtomicFile


@pytest.fixture
def file(tmp_path):
    return AtomicFile(tmp_path / "said.json")


def test_a_partial_file_of_a_killed_process_is_overwritten(file, tmp_path):
    file.write(b"old")
    (tmp_path / f".said.json{UNFINISHED}").write_bytes(b"longer than what is written next")

    file.write(b"new")

    assert file.read(64) == b"new"
    assert [each.name for each in tmp_path.iterdir()] == ["said.json"]


def test_a_symbolic_link_in_its_place_is_not_followed(file, tmp_path):
    other = tmp_path / "other"
    other.write_bytes(b"theirs")
    (tmp_path / f".said.json{UNFINISHED}").symlink_to(other)

    with pytest.raises(OSError, match=r"said\.json"):
        file.write(b"new")

    assert other.read_bytes() == b"theirs"


async def test_readers_see_complete_content_while_many_write(file, tmp_path):
    contents = [bytes([each]) * 20_000 for each in range(8)]
    file.write(contents[0])
    is_over = threading.Event()

    def write(content):
        for _ in range(20):
            file.write(content)

    def read():
        found = set()
        while not is_over.is_set():
            found.add(file.read(1 << 20))
        return found

    reading = asyncio.create_task(asyncio.to_thread(read))
    await asyncio.gather(*(asyncio.to_thread(write, each) for each in contents))
    is_over.set()

    assert await reading <= {*contents}
    assert [each.name for each in tmp_path.iterdir()] == ["said.json"]
