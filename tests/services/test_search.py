import pytest

from archiver.errors import InputError
from archiver.model.listing import ListingQuery
from tests.conftest import filled_by
from tests.segments import segments


@filled_by
async def fill(archive, live):
    """Save five articles, one page that is missing, and one link still queued."""
    for number in range(5):
        tags = ("odd",) if number % 2 else ("even",)
        body = "<p>Wombats dig.</p>" if number > 1 else ""
        url = live.article(f"page{number}", body=body)
        await archive.entries.save([url], tags=tags, source="cli")
    await archive.entries.save([live.url("/missing")], source="cli")
    await archive.crawling.work()
    await archive.entries.save(["http://b.example/queued"], source="cli")


@pytest.fixture
async def filled(prepared, settings, open_archive):
    await prepared.copy(fill, settings.data)
    async with open_archive() as archive:
        yield archive


async def list_names(archive, **query):
    """Return the titles or URLs of all pages of a list, page by page."""
    results, after = [], ""
    while after is not None:
        page = await archive.search.listing(ListingQuery(after=after, **query))
        results.append([each.entry.title or each.entry.url for each in page.items])
        after = page.after
    return results


async def test_lists_are_narrowed_and_searched(filled):
    for query, expected in (
        ({"tag": "odd"}, {"page1", "page3"}),
        ({"status": "saved"}, {f"page{n}" for n in range(5)}),
        ({"status": "queued"}, {"http://b.example/queued"}),
        ({"status": "200", "tag": "odd"}, {"page1", "page3"}),
        ({"status": "404"}, set()),
        ({"host": "b.example"}, {"http://b.example/queued"}),
        ({"q": "wombats"}, {"page2", "page3", "page4"}),
        ({"q": "wombats", "tag": "odd"}, {"page3"}),
        ({"q": "wombats -page3"}, {"page2", "page4"}),
        ({"q": '"clever are late"'}, set()),
        ({"q": "page2"}, {"page2"}),
        ({"q": "nowhere"}, set()),
    ):
        pages = await list_names(filled, limit=2, **query)

        assert {name for page in pages for name in page} == expected, query


async def test_a_match_shows_where_the_words_stand(filled):
    (listing, *_) = (await filled.search.listing(ListingQuery(q="wombats"))).items

    marked = [each.text for each in listing.excerpt if each.is_match]
    assert [word.lower() for word in marked] == ["wombats"]


async def test_questions_that_make_no_sense_are_refused(archive):
    for query in (
        {"limit": 0},
        {"limit": 201},
        {"after": "nonsense"},
        {"after": "ÿ"},
        {"after": "MQ"},
        {"q": "a", "after": "nonsense"},
        {"status": "lost"},
    ):
        with pytest.raises(InputError):
            await archive.search.listing(ListingQuery(**query))


async def test_the_archive_in_numbers(filled, settings):
    overview = await filled.search.overview()

    assert (overview.entries, overview.snapshots, overview.running_jobs) == (7, 5, ())
    queue = overview.queue
    assert (queue.queued, queue.fetching, queue.saved, queue.failed) == (1, 0, 5, 1)
    assert overview.warc_bytes == sum(map(len, segments(settings.data).values()))
    tags = await filled.editing.tags()
    assert [(each.name, each.entry_count) for each in tags] == [("even", 3), ("odd", 2)]
