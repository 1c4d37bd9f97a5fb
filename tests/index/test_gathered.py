"""What is asked of a server again and again goes along with what is asked anyway."""

import asyncio
from contextlib import asynccontextmanager

import pytest
from sqlalchemy import literal, select, text
from sqlalchemy.exc import DBAPIError

from archiver.errors import IndexUnavailable
from archiver.index.gathered import Gathered

LONG = 3600.0


@pytest.fixture
def looks(db):
    """The glances that were taken."""
    return []


@pytest.fixture
def gathered(db, looks):
    """As at a server, where each glance is a wait."""

    @asynccontextmanager
    async def glance():
        looks.append("a look")
        async with db.glance() as conn:
            yield conn

    return Gathered(glance, is_far=True)


def number(value):
    async def asked(conn):
        return (await conn.execute(select(literal(value)))).scalar_one()

    return asked


async def waiting(gathered, question):
    """A question that has time, asked already."""
    task = asyncio.create_task(gathered.ask(question, within=LONG))
    await asyncio.sleep(0)
    return task


async def test_what_has_time_is_asked_along_with_what_has_none(gathered, looks):
    patient = await waiting(gathered, number(1))

    assert await gathered.ask(number(2), within=0) == 2
    assert await patient == 1
    assert looks == ["a look"]


async def test_what_has_time_is_asked_by_itself_once_that_is_up(gathered, looks):
    assert await gathered.ask(number(1), within=0.01) == 1
    assert looks == ["a look"]


async def test_who_asks_no_more_keeps_nobody_from_an_answer(gathered):
    gone, patient = await waiting(gathered, number(1)), await waiting(gathered, number(2))
    gone.cancel()
    await asyncio.wait([gone])

    assert await gathered.ask(number(3), within=0) == 3
    assert await patient == 2


async def test_others_have_their_answers_where_who_asks_for_all_is_stopped(gathered):
    patient, begun = await waiting(gathered, number(1)), asyncio.Event()

    async def slow(conn):
        begun.set()
        return await number(2)(conn)

    asking = asyncio.create_task(gathered.ask(slow, within=0))
    await begun.wait()
    asking.cancel()

    assert await patient == 1
    with pytest.raises(asyncio.CancelledError):
        await asking


async def test_a_mistake_is_heard_of_by_who_made_it_alone(gathered):
    async def mistaken(_conn):
        raise ValueError("a mistake")

    patient = await waiting(gathered, number(1))

    with pytest.raises(ValueError, match="a mistake"):
        await gathered.ask(mistaken, within=0)
    assert await patient == 1


async def test_where_the_index_is_not_to_be_had_all_hear_of_it(gathered):
    async def broken(conn):
        await conn.execute(text("SELECT nothing FROM nowhere"))

    patient = await waiting(gathered, number(1))

    for each in (gathered.ask(broken, within=0), patient):
        with pytest.raises(IndexUnavailable) as caught:
            await each
        assert isinstance(caught.value.__cause__, DBAPIError)


async def test_an_index_in_a_file_is_asked_at_once(db, looks):
    assert await asyncio.wait_for(Gathered(db.glance, is_far=False).ask(number(1), within=LONG), 60)
