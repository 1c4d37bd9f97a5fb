import asyncio
import os

import pytest

from archiver.helpers import both, open_for_writing, run_to_completion


async def test_protected_work_completes_despite_two_cancellations():
    begun, go_on, ended = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def work():
        begun.set()
        await go_on.wait()
        ended.set()

    task = asyncio.create_task(run_to_completion(work()))
    await begun.wait()
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


async def test_two_concurrent_calls_return_both_results():
    met = asyncio.Barrier(2)

    async def work(given):
        await met.wait()
        return given

    assert await both(work("one"), work("other")) == ("one", "other")


async def test_if_one_of_two_calls_fails_the_other_ends_and_the_exception_is_raised():
    begun, ended = asyncio.Event(), asyncio.Event()

    async def fail():
        await begun.wait()
        raise ValueError("heard")

    async def wait():
        try:
            begun.set()
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            ended.set()

    with pytest.raises(ValueError, match="heard"):
        await both(fail(), wait())
    assert ended.is_set()
