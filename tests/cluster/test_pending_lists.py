"""Pending list of PostgreSQL's full-text index, which every query reads completely."""

from datetime import UTC, datetime, timedelta

from sqlalchemy import text

from archiver.db.engine import Database
from archiver.db.schema import search_table
from archiver.services.derived_data import Documents
from benchmarks.synthetic import Page, fill

START = datetime(2019, 12, 30, tzinfo=UTC)
WORDS = " ".join(f"word{n}" for n in range(400))


async def waiting(database, part):
    """Return how many pages of a part's index are pending; merge them."""
    asked = f"SELECT gin_clean_pending_list('{search_table(part)}_words')"
    async with database.write() as conn:
        return (await conn.execute(text(asked))).scalar_one()


async def test_pending_lists_of_full_parts_are_merged(address, monkeypatch):
    for name in ("archiver.db.schema.PART_SIZE", "archiver.db.search_documents.PART_SIZE"):
        monkeypatch.setattr(name, 7)
    database = await Database.open(address)
    pages = [Page(f"p{n}", "x", WORDS) for n in range(17)]
    await fill(database, pages, START, timedelta(days=1))
    keeping = Documents(database, store=None)

    while await keeping.merge_parts():
        pass

    left = [await waiting(database, part) for part in range(3)]
    await database.close()
    assert left[:2] == [0, 0]
    assert left[2] > 0
