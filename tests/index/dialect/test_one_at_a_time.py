"""One task at a time, and whether others wait."""

import asyncio

import pytest

from archiver.index.dialect.one_at_a_time import OneAtATime


async def test_one_task_has_it_and_those_who_wait_are_known():
    turn, order = OneAtATime(), []

    async def take(name):
        async with turn.taken():
            order.append((name, turn.is_wanted))

    async with turn.taken():
        assert not turn.is_wanted
        waiting = [asyncio.ensure_future(take(name)) for name in ("first", "second")]
        await asyncio.sleep(0)
        assert turn.is_wanted
        assert order == []
    await asyncio.gather(*waiting)

    assert order == [("first", True), ("second", False)]


async def test_who_is_broken_off_waits_no_longer():
    turn = OneAtATime()
    async with turn.taken():
        waiting = asyncio.ensure_future(turn.taken().__aenter__())
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        assert not turn.is_wanted
    async with turn.taken():
        assert not turn.is_wanted


async def test_whose_block_raises_lets_go():
    turn = OneAtATime()
    with pytest.raises(ZeroDivisionError):
        async with turn.taken():
            raise ZeroDivisionError

    async with asyncio.timeout(60), turn.taken():
        assert not turn.is_wanted
