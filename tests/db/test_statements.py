"""Insertion of many rows."""

import pytest
from sqlalchemy import func, select
from sqlalchemy.exc import IntegrityError

from archiver.db.schema import counter
from archiver.db.statements import insert_rows

MANY = 40_000
"""More rows than one statement can have parameters."""


async def count(db):
    async with db.read() as conn:
        return (await conn.execute(select(func.count()).select_from(counter))).scalar()


async def test_many_rows_are_all_inserted_or_none(db):
    before = await count(db)
    rows = [(f"row {n}", n) for n in range(MANY)]

    with pytest.raises(IntegrityError):
        async with db.write() as conn:
            await insert_rows(conn, counter, ("name", "value"), [*rows, rows[0]])
    assert await count(db) == before

    async with db.write() as conn:
        await insert_rows(conn, counter, ("name", "value"), rows)
    assert await count(db) == before + MANY
