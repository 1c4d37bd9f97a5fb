import asyncio

import pytest

from archiver.finishing import to_its_end


async def test_what_is_to_be_done_to_its_end_is_though_its_task_is_cancelled():
    begun, go_on, ended = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def work():
        begun.set()
        await go_on.wait()
        ended.set()

    task = asyncio.create_task(to_its_end(work()))
    await begun.wait()
    task.cancel()
    go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ended.is_set()


async def test_what_goes_wrong_is_heard():
    async def work():
        raise ValueError("heard")

    with pytest.raises(ValueError, match="heard"):
        await to_its_end(work())
