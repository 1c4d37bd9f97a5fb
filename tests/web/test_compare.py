"""Comparing snapshots: by word, side by side, headers and resources, and in searches."""

import re

import pytest

from archiver.http.urls import hash_url
from archiver.model.listing import ListingQuery
from archiver.web.rendering import calendar
from tests.conftest import SENTENCE, filled_by, saved_url
from tests.web.conftest import page_of

SAME = SENTENCE.format(name="foxes") * 30


async def captured(runtime, live, body, *, path="/foxes", **more):
    page = f"<!DOCTYPE html><title>foxes</title><body><article><h1>foxes</h1>{body}</article>"
    await runtime.entries.save([live.put(path, page, **more)], source="web")
    await runtime.crawling.work()


@filled_by
async def fill(runtime, live):
    """Save a page that changed, and one that did not."""
    live.put("/a.css", "p { color: red }", kind="text/css")
    await captured(runtime, live, f"<p>The red kite sleeps.</p>{SAME}", headers={"X-By": "one"})
    await captured(runtime, live, SAME, path="/bears")
    await captured(
        runtime,
        live,
        f"<p>The old kite flies &amp; sings.</p>{SAME}<link rel=stylesheet href=/a.css>",
        headers={"X-By": "two"},
    )
    await captured(runtime, live, SAME, path="/bears")


@pytest.fixture
def foxes(settings):
    return saved_url(settings, "/foxes")


async def test_added_and_removed_words_are_shown_in_one_text(client, foxes):
    shown = await page_of(client, f"/{hash_url(foxes)}/compare")

    text = re.search(r'<div class="text changed">(.*?)</div>', shown, re.DOTALL)[1]
    assert 'The <del id="change">red</del><ins>old</ins> kite <del>sleeps</del><ins>flies' in text
    assert "words unchanged</summary>" in text
    assert "<ins>3 words added</ins> <del>2 words removed</del>" in shown
    row = re.search(r'<th scope="row">x-by</th>.*', shown)[0]
    assert re.findall(r">(\w+):</span> (\w+)</td>", row) == [("Before", "one"), ("After", "two")]
    assert re.search(r"New files</h2>\s*<ul[^>]*><li><code>[^<]*/a.css", shown)


async def test_snapshots_are_compared_side_by_side_and_in_the_api(client, runtime, foxes):
    key = hash_url(foxes)
    moments = [each.timestamp for each in (await runtime.entries.get(key)).snapshots]
    query = f"from={moments[0]}&to={moments[1]}"

    shown = await page_of(client, f"/{key}/compare?{query}&side")
    document = await (await client.get(f"/api/v1/entries/{key}/compare?{query}")).json()

    before, after = shown.split('<div class="text changed" dir="auto">')[1:]
    assert re.findall(r"<(?:del|ins)>[^<]*", before) == ["<del>sleeps"]
    assert '<del id="change">red' in before
    assert re.findall(r"<(?:del|ins)>[^<]*", after)[:2] == ["<ins>old", "<ins>flies &amp; sings"]
    assert (document["text"]["added_words"], document["text"]["removed_words"]) == (3, 2)
    assert {"name": "x-by", "before": "one", "after": "two"} in document["headers"]
    assert f"/{key}/compare?from={moments[1]}&amp;to={moments[0]}" in await page_of(
        client, f"/{key}/"
    )


async def search_urls(runtime, q):
    return [each.entry.url for each in (await runtime.search.listing(ListingQuery(q=q))).items]


async def test_snapshots_are_shown_in_a_calendar(client, runtime, foxes):
    detail = await runtime.entries.get(hash_url(foxes))
    (year,) = calendar(each.timestamp for each in detail.snapshots)

    assert (year.count, sum(each.count for each in year.months), len(year.months)) == (2, 2, 12)
    assert [each.newest for each in year.months if each.count] == [detail.snapshots[0].timestamp]

    newest = f"/{hash_url(foxes)}/?at={detail.snapshots[0].timestamp}"
    assert f'<a href="{newest}" aria-current="true"' in await page_of(client, newest)
    captures = await page_of(client, f"/web/*/{foxes}")
    assert f'<a href="/web/{detail.snapshots[0].timestamp}/{foxes}"' in captures
    assert '<table class="calendar">' in captures
