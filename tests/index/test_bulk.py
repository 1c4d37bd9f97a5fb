"""Many rows at once: all of them go in, or none does."""

import pytest
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError

from archiver.index.bulk import insert_rows
from archiver.index.dialect.sqlite import MOST_VALUES
from archiver.index.schema import counter


@pytest.mark.sqlite
async def test_no_row_stays_of_many_where_sqlite_ends_the_transaction_between_them(db):
    rows = [(f"row {n}", n) for n in range(2 * MOST_VALUES)]
    async with db.write() as conn:
        before = (await conn.execute(text("SELECT count(*) FROM counter"))).scalar()
        # As SQLite does by itself where a disk is full or can't be read.
        await conn.exec_driver_sql(
            "CREATE TRIGGER ends BEFORE INSERT ON counter WHEN new.value = 10 "
            "BEGIN SELECT RAISE(ROLLBACK, 'disk I/O error'); END"
        )

    with pytest.raises(IntegrityError, match="disk I/O error"):
        async with db.write() as conn:
            await insert_rows(conn, counter, ("name", "value"), rows)

    async with db.read() as conn:
        after = (await conn.execute(text("SELECT count(*) FROM counter"))).scalar()
    assert after == before
