"""Coroutines that use one connection at once: all are at their end before it goes on."""

import asyncio

import pytest
from sqlalchemy import literal, select

from archiver.index.at_once import at_once


async def test_each_gives_what_it_found(db):
    async with db.read() as conn:
        one, other = await at_once(
            conn.execute(select(literal(1))), conn.execute(select(literal(2)))
        )

        assert (one.scalar_one(), other.scalar_one()) == (1, 2)


async def test_where_one_fails_none_of_the_others_goes_on_to_ask_for_more(db):
    ended = []

    async def fail(conn):
        await conn.execute(select(literal(1)))
        raise ValueError("one of them")

    async def ask_again(conn):
        try:
            while True:
                await conn.execute(select(literal(2)))
        finally:
            ended.append("the other")

    async with db.read() as conn, asyncio.timeout(60):
        with pytest.raises(ValueError, match="one of them"):
            await at_once(fail(conn), ask_again(conn))

        assert ended == ["the other"]
