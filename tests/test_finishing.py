import asyncio
import os
import threading

import pytest

from archiver.helpers import (
    AtomicFile,
    open_for_writing,
    run_to_completion,
)


async def test_protected_work_completes_despite_two_cancellations():
    started, go_on, ended = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def work():
        started.set()
        await go_on.wait()
        ended.set()

    task = asyncio.create_task(run_to_completion(work()))
    await started.wait()
    task.cancel()
    await asyncio.sleep(0)
    task.cancel()
    go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ended.is_set()


async def test_exceptions_are_raised():
    async def work():
        raise ValueError("heard")

    with pytest.raises(ValueError, match="heard"):
        await run_to_completion(work())


async def test_a_file_is_closed_if_its_task_is_cancelled_while_opening_it(tmp_path):
    async def write():
        async with open_for_writing(tmp_path / "file") as file:
            file.write(b"never")

    task = asyncio.create_task(write())
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (tmp_path / "file").read_bytes() == b""


async def test_a_file_is_closed_if_its_task_is_cancelled_repeatedly(tmp_path):
    os.mkfifo(tmp_path / "pipe")  # opening it waits for a reader

    async def write():
        async with open_for_writing(tmp_path / "pipe"):
            pass

    task = asyncio.create_task(write())
    await asyncio.sleep(0)
    for _ in range(3):
        task.cancel()
        await asyncio.sleep(0)
    with pytest.raises(asyncio.CancelledError):
        await task
    for each in asyncio.all_tasks() - {asyncio.current_task()}:
        each.cancel()

    with await asyncio.to_thread(open, tmp_path / "pipe", "rb") as reader:
        assert await asyncio.to_thread(reader.read) == b""


@pytest.fixture
def file(tmp_path):
    return AtomicFile(tmp_path / "said.json")


async def test_readers_see_complete_content_while_many_write(file, tmp_path):
    contents = [bytes([each]) * 20_000 for each in range(8)]
    file.write(contents[0])
    is_over = threading.Event()

    def write(content):
        for _ in range(20):
            file.write(content)

    def read():
        results = set()
        while not is_over.is_set():
            results.add(file.read(1 << 20))
        return results

    reading = asyncio.create_task(asyncio.to_thread(read))
    await asyncio.gather(*(asyncio.to_thread(write, each) for each in contents))
    is_over.set()

    assert await reading <= {*contents}
    assert [each.name for each in tmp_path.iterdir()] == ["said.json"]
