"""A file of links is read while what was read before is taken in."""

import json
from io import BytesIO
from time import monotonic

import pytest

from archiver.derive.link_chunks import BATCH
from archiver.derive.link_file import open_links
from archiver.errors import UnreadableFile
from archiver.services import import_batches
from archiver.services.import_batches import read_ahead

MEMORY = 1 << 30
WALLABAG = {"id": 1, "url": "http://b.example/", "title": "B", "content": "<p>An article</p>"}
WALLABAG |= {"is_archived": 1, "is_starred": 0, "tags": []}


def opened(content, name):
    return open_links(BytesIO(content), name, memory_bytes=MEMORY)


def nobody():
    return False


async def test_batches_that_are_here_come_together_and_in_order(monkeypatch):
    monkeypatch.setattr(import_batches, "PATIENCE_SECONDS", 60)  # however busy the machine is
    urls = [f"http://a.example/{number}" for number in range(2 * BATCH + 1)]
    source = opened("\n".join(urls).encode(), "list.txt")
    async with source as links, read_ahead(links, await links.next_batch()) as batches:
        found = await batches.next()
        while more := await batches.more(monotonic() + 60, nobody):
            found = found.joined([found, more])
        last = await batches.next()

    assert [each.url for each in found.seeds] == urls
    assert [*found.numbers] == [*range(1, len(urls) + 1)]
    assert last is None


async def test_links_with_pages_are_taken_in_alone():
    async with opened(b"http://a.example/", "list.txt") as others:
        first = await others.next_batch()
    source = opened(json.dumps([WALLABAG]).encode(), "wallabag.json")
    async with source as links, read_ahead(links, first) as batches:
        alone = await batches.next()
        refused = await batches.more(monotonic() + 60, nobody)
        with_pages = await batches.next()

    assert [each.url for each in alone.seeds] == ["http://a.example/"]
    assert refused is None
    assert [each.url for each in with_pages.seeds] == ["http://b.example/"]
    assert len(with_pages.pages) == 1


async def test_what_breaks_reading_off_is_told_behind_what_was_read():
    async with opened(b"http://a.example/", "list.txt") as links:
        first = await links.next_batch()
        assert not await links.next_batch()  # the child has said all it says
        async with read_ahead(links, first) as batches:
            assert await batches.next() is first
            with pytest.raises(UnreadableFile):
                await batches.next()
