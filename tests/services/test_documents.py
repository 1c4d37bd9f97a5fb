"""Search finds entries by their current metadata and text, also after an index update."""

import pytest
from sqlalchemy import text

from archiver.crawl.derived_rows import rebuild_stale
from archiver.model.listing import ListingQuery
from tests.conftest import filled_by


@filled_by
async def fill(archive, live):
    """Save four articles, each twice with another text."""
    for word in ("wombats", "badgers"):
        for number in range(4):
            content = f"<p>Of {word}, which dig by night: the story number{number} of many.</p>"
            page = f"<title>page{number}</title><article><h1>Dig</h1>{content * 20}</article>"
            url = live.put(f"/page{number}", f"<!DOCTYPE html>{page}")
            await archive.entries.save([url], tags=("animals",), source="cli")
        await archive.crawling.work()


@pytest.fixture
async def filled(prepared, settings, open_archive):
    await prepared.copy(fill, settings.data)
    async with open_archive() as archive:
        yield archive


async def found(archive, q):
    page = await archive.search.listing(ListingQuery(q=q, sort="newest"))
    return [each.entry.title for each in page.items]


@pytest.fixture
def parts_of(filled):
    return filled.search._db, filled.search._store


async def test_a_tag_and_a_note_that_came_later_are_found(filled, parts_of):
    db, store = parts_of
    async with db.write() as conn:
        await conn.execute(
            text(
                "UPDATE entry SET note = 'a burrow', revision = revision + 1, document_stale = 1"
                " WHERE id = 2"
            )
        )

    assert await found(filled, "burrow") == []
    assert await rebuild_stale(db, store) == 1

    assert await found(filled, "burrow") == await found(filled, "number1") == ["page1"]
    assert await found(filled, "note:burrow badgers tag:animals") == ["page1"]
    assert await rebuild_stale(db, store) == 0
