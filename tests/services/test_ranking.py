"""Ranking of search results, their context, and messages for no results."""

from datetime import UTC, datetime, timedelta

import pytest

from archiver.db.engine import Database
from archiver.model.listing import ListingQuery
from archiver.services.search import Search
from benchmarks.synthetic import Page, fill

START = datetime(2019, 12, 30, tzinfo=UTC)
FILLER = "some other words that stand around here and there " * 6


@pytest.fixture
async def database(tmp_path):
    open_archive = await Database.open(tmp_path / "archive.sqlite3")
    yield open_archive
    await open_archive.close()


@pytest.fixture
def save_and_search(database):
    """Store pages, one day apart; return a search over them."""

    async def keep(*pages: Page, first: int = 0) -> Search:
        await fill(database, pages, START, timedelta(days=1), first=first)
        return Search(database, store=None)

    return keep


async def names(search, q, **parameters):
    page = await search.listing(ListingQuery(q=q, **parameters))
    return [each.entry.url.rpartition("/")[2] for each in page.items]


async def test_a_word_in_the_title_counts_more_than_one_in_the_text(save_and_search):
    search = await save_and_search(
        Page("title", "On herons", FILLER), Page("text", "Birds", FILLER + "herons")
    )

    assert await names(search, "herons") == ["title", "text"]
    assert await names(search, "herons", sort="newest") == ["text", "title"]


async def test_words_near_each_other_count_more_than_far_ones(save_and_search):
    search = await save_and_search(
        Page("side-by-side", "x", f"{FILLER} grey heron {FILLER}"),
        Page("near", "x", f"{FILLER} heron, which is grey {FILLER}"),
        Page("far", "x", f"grey {FILLER} {FILLER} heron"),
    )

    assert await names(search, "grey heron") == ["side-by-side", "near", "far"]


async def test_entries_without_one_of_the_words_come_last(save_and_search):
    search = await save_and_search(
        Page("one", "x", "grey heron fishing"),
        Page("two", "grey heron", "grey heron"),
        Page("three", "heron", "heron heron"),
    )

    page = await search.listing(ListingQuery(q="grey heron fishing"))

    assert [each.entry.url[-3:] for each in page.items] == ["one", "two"]
    assert page.partial == 1
    assert (await search.summary(ListingQuery(q="grey heron fishing"))).count == 1


async def test_of_very_many_matches_titles_and_the_newest_are_ranked(save_and_search, monkeypatch):
    monkeypatch.setattr("archiver.services.result_iteration.CANDIDATES", 10)
    pages = [Page(f"p{n}", "heron" if n == 2 else "x", "heron") for n in range(40)]
    search = await save_and_search(*pages)

    page = await search.listing(ListingQuery(q="heron"))

    assert page.items[0].entry.url.endswith("/p2")
    assert page.is_newest_only
    assert len(page.items) == 11


async def test_a_misspelt_word_suggests_the_nearest_word(save_and_search):
    search = await save_and_search(Page("a", "x", "grey heron"), Page("b", "x", "cormorant"))

    for q, suggestion in {
        "heorn": "heron",
        "herno grey": "heron grey",
        "ehron": "heron",
        "cormorrantt -x": "cormorant -x",
        "heron": "",
        "zzzzzz": "",
        '"grey heorn"': "",
    }.items():
        assert (await search.listing(ListingQuery(q=q))).suggestion == suggestion, q


async def test_an_unknown_name_is_corrected_to_the_nearest_one(save_and_search):
    lists = {"folders": ("Birds/Herons",)}
    search = await save_and_search(
        Page("a", "x", "y", tags=("Wetlands", "Café"), host="en.herons.example", **lists),
        Page("b", "x", "y", tags=("wetlands", "wetlanes"), host="de.herons.example", **lists),
        Page("c", "x", "y", tags=("to read",), host="herons.other.example"),
    )

    for q, meant in {
        "tag:wetlnads": "tag:Wetlands",
        "tag:cefe": "tag:Café",
        'tag:"to reed"': 'tag:"to read"',
        "list:Birds/Hreons": "list:Birds/Herons",
        "site:en.hernos.example": "site:en.herons.example",
        "tag:wetlnads is:unread site:herons.exampel": "tag:Wetlands is:unread site:herons.exampel",
        "tag:wetlands is:read": "",
        "tag:nothing": "",
        "site:127.0.0.1": "",
        "site:localhost": "",
    }.items():
        assert (await search.listing(ListingQuery(q=q))).suggestion == meant, q


async def test_a_half_typed_word_is_a_prefix(save_and_search):
    search = await save_and_search(Page("a", "x", "grey herons"))

    page = await search.listing(ListingQuery(q="grey her"))

    assert len(page.items) == 1
    assert page.used_query == "grey her*"


async def test_facets_narrow_and_widen_a_list_by_a_query(save_and_search):
    search = await save_and_search(
        Page("a", "x", "heron", tags=("to read", "birds"), host="a.example"),
        Page("b", "x", "heron", tags=("birds",), host="b.example"),
        Page("c", "x", "heron", host="b.example"),
    )

    summary = await search.summary(ListingQuery(q="heron tag:birds"))

    facets = {
        each.field: [(value.value, value.count, value.query) for value in each.values]
        for each in summary.facets
    }
    assert (summary.count, summary.has_more) == (2, False)
    assert facets["tag"] == [
        ("birds", 2, "heron"),
        ("to read", 1, 'heron tag:birds tag:"to read"'),
    ]
    assert facets["added"] == [
        ("2019", 2, "heron tag:birds added:2019"),
    ]
    assert {value for value, _, _ in facets["site"]} == {"a.example", "b.example"}


async def test_candidates_meet_the_conditions_of_the_query(save_and_search, monkeypatch):
    monkeypatch.setattr("archiver.services.result_iteration.CANDIDATES", 3)
    search = await save_and_search(*(Page(f"p{n}", "x", "heron") for n in range(9)))

    assert await names(search, "heron captured:2019") == ["p1", "p0"]
    assert await names(search, "heron added:2019") == ["p1", "p0"]


async def test_counting_stops_at_a_limit(save_and_search, monkeypatch):
    monkeypatch.setattr("archiver.services.search_results.MAX_COUNTED", 5)
    search = await save_and_search(*(Page(f"p{n}", "x", "heron") for n in range(9)))

    words = await search.summary(ListingQuery(q="heron"))
    everything = await search.summary(ListingQuery())

    assert (words.count, words.has_more, words.faceted) == (5, True, 5)
    assert (everything.count, everything.has_more, everything.faceted) == (9, False, 5)
    years = next(each.values for each in everything.facets if each.field == "added")
    assert [(each.value, each.count, each.is_more) for each in years] == [
        ("2020", 5, True),
        ("2019", 2, False),
    ]


SORTED = {"title": ["b", "a", "c"], "length": ["c", "a", "b"], "captured": ["c", "b", "a"]}


async def test_lists_can_be_sorted(save_and_search):
    search = await save_and_search(
        Page("a", "Middle", "heron heron"),
        Page("b", "First", "heron"),
        Page("c", "zz", "heron " * 3),
    )

    for sort, expected in SORTED.items():
        for q in ("", "heron"):
            assert await names(search, q, sort=sort, limit=2) == expected[:2], (q, sort)
            assert await names(search, q, sort=sort) == expected, (q, sort)


@pytest.mark.parametrize(
    ("sort", "expected"),
    [
        ("newest", "876543210"),
        ("length", "012345678"),
        ("best", None),
    ],
)
async def test_a_whole_list_has_one_order(save_and_search, monkeypatch, sort, expected):
    monkeypatch.setattr("archiver.services.result_pages.SORTED", 4)
    monkeypatch.setattr("archiver.services.result_iteration.CANDIDATES", 4)
    pages = [Page(f"p{n}", f"heron {9 - n}", "heron " * (9 - n)) for n in range(9)]
    search = await save_and_search(*pages, Page("other", "otter", "otter"))

    listing = [each async for each in search.all_in_order(ListingQuery(q="heron", sort=sort))]

    shown = "".join(each.entry.url[-1] for each in listing)
    assert shown == expected if expected else sorted(shown) == sorted("012345678")
