"""What entries are found by follows what is known of them, and outlives an older index."""

import pytest
from sqlalchemy import text

from archiver.crawl.derived_rows import index_pending_documents, rebuild_stale
from archiver.db import search_documents
from archiver.db.full_text import word_index_of
from archiver.db.schema import search_table
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


async def index_as_an_older_version(db):
    """Leave the index as the migration does: documents, and no words of them."""
    async with db.write() as conn:
        for part in await search_documents.parts(conn, below=1 << 40):
            if word_index_of(conn).vocabulary:
                await conn.execute(text(f"DROP TABLE {search_table(part)}_words"))
            await conn.execute(text(f"DROP TABLE {search_table(part)}"))
        await conn.execute(text("DELETE FROM search_part"))
        await conn.execute(
            text("UPDATE document SET word_count = 0, language = '', published = NULL, kind = ''")
        )
        await conn.execute(
            text("INSERT INTO counter SELECT 'documents owed below', max(id) + 1 FROM document")
        )


@pytest.fixture
def parts_of(filled):
    return filled.search._db, filled.search._store


async def test_words_that_an_older_index_had_are_gathered_again_newest_first(
    filled, parts_of, monkeypatch
):
    db, store = parts_of
    before = [await found(filled, q) for q in ("badgers", "wombats", "tag:animals badgers")]
    assert [len(each) for each in before] == [4, 4, 4]
    await index_as_an_older_version(db)
    monkeypatch.setattr("archiver.crawl.derived_rows.DOCUMENTS_BATCH", 3)

    assert await found(filled, "badgers") == []
    assert await filled.search.pending_share() == pytest.approx(8 / 9, abs=0.2)
    assert await index_pending_documents(db, store)
    assert len(await found(filled, "badgers")) == 3
    while await index_pending_documents(db, store):
        pass

    assert [await found(filled, q) for q in ("badgers", "wombats", "tag:animals badgers")] == before
    assert {*await found(filled, "type:article words:>100")} == {*before[0]}
    assert await filled.search.pending_share() == 0
    assert not await index_pending_documents(db, store)


async def test_two_processes_do_not_index_a_document_twice(filled, parts_of):
    db, store = parts_of
    await index_as_an_older_version(db)
    async with db.read() as conn:
        before = await search_documents.pending_below(conn)

    await index_pending_documents(db, store)
    async with db.write() as conn:
        await search_documents.index_pending(conn, [], before=before, below=1)

    async with db.read() as conn:
        assert await search_documents.pending_below(conn) is None
    assert len(await found(filled, "badgers")) == 4


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
