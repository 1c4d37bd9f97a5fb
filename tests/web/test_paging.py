"""Pages of a list have links in both directions, and show their position."""

import re
from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archiver.web.pages.listing import MAX_BEFORE, Trail, read_trail

ENTRIES = 120

numbers = st.integers(0, 999_999_999)


@given(st.text())
def test_any_text_parses_as_a_trail_or_none(text):
    result = read_trail(text)

    assert result is None or len(result.before) <= MAX_BEFORE


def test_a_trail_has_a_maximum_length():
    trail = Trail()
    for page in range(60):
        trail = trail.onward(f"c{page}", 50)

    steps = []
    while step := trail.back():
        after, trail = step
        steps.append((after, trail.start))

    assert steps == [(f"c{page}", 50 * page) for page in range(59, 59 - MAX_BEFORE, -1)]


@pytest.fixture
async def runtime(runtime):
    """An archive of links that wait."""
    urls = [f"http://127.0.0.1:1/{number}" for number in range(ENTRIES)]
    await runtime.entries.save(urls, source="web")
    return runtime


async def iteration_filters(client, path, rel):
    """Follow the ``rel`` links from a page; return (path, entries, shown numbers) of each page."""
    results = []
    while path:
        page = await (await client.get(unescape(path))).text()
        items = re.findall(r'name="entry" value="([0-9a-f]{32})"', page)
        place = re.search(r"(\d+)\u2013(\d+) of (\d+)", page)
        results.append((path, items, tuple(map(int, place.groups()))))
        link = re.search(rf'rel="{rel}" href="([^"]+)"', page)
        path = link and link[1]
    return results


async def test_pages_of_a_list_link_back_in_the_same_order(client):
    for narrowed in ("", "?q=is%3Aunread&sort=oldest"):
        links = await iteration_filters(client, f"/snapshots{narrowed}", "next")
        back = await iteration_filters(client, links[-1][0], "prev")

        assert [place for _, _, place in links] == [
            (1, 50, 120),
            (51, 100, 120),
            (101, 120, 120),
        ], narrowed
        assert [each[1:] for each in back] == [each[1:] for each in reversed(links)], narrowed
        assert len({key for _, items, _ in links for key in items}) == ENTRIES, narrowed
