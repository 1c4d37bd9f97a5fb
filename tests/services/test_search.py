import pytest

from archiver.app import open_app
from archiver.config import Settings
from archiver.errors import InputError
from archiver.model.listing import ListingQuery
from tests.conftest import live_web
from tests.segments import segments


async def fill(data):
    """Five captured articles, one page that is missing, and one link still queued."""
    settings = Settings(data=data, allow_networks="127.0.0.0/8", host_delay=0, retries=0)
    async with live_web() as live, open_app(settings) as archive:
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


async def listed(archive, **query):
    """Return the titles or URLs of all pages of a list, page by page."""
    found, after = [], ""
    while after is not None:
        page = await archive.search.listing(ListingQuery(after=after, **query))
        found.append([each.entry.title or each.entry.url for each in page.items])
        after = page.after
    return found


@pytest.mark.parametrize(
    ("query", "expected"),
    [
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
    ],
)
async def test_lists_are_narrowed_and_searched(filled, query, expected):
    pages = await listed(filled, limit=2, **query)

    assert {name for page in pages for name in page} == expected


async def test_a_match_shows_where_the_words_stand(filled):
    (found, *_) = (await filled.search.listing(ListingQuery(q="wombats"))).items

    marked = [each.text for each in found.excerpt if each.is_match]
    assert [word.lower() for word in marked] == ["wombats"]


@pytest.mark.parametrize(
    "query",
    [
        {"limit": 0},
        {"limit": 201},
        {"after": "nonsense"},
        {"after": "ÿ"},
        {"after": "MQ"},
        {"q": "a", "after": "nonsense"},
        {"status": "lost"},
    ],
)
async def test_questions_that_make_no_sense_are_refused(archive, query):
    with pytest.raises(InputError):
        await archive.search.listing(ListingQuery(**query))


async def test_the_archive_in_numbers(filled, settings):
    overview = await filled.search.overview()

    assert (overview.entries, overview.snapshots, overview.under_way) == (7, 5, ())
    queue = overview.queue
    assert (queue.queued, queue.fetching, queue.saved, queue.failed) == (1, 0, 5, 1)
    assert overview.warc_bytes == sum(map(len, segments(settings.data).values()))
    assert await filled.search.tags() == [("even", 3), ("odd", 2)]
