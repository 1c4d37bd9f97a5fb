"""Highlights by form, API and selection; found after a recapture, exported, and undone."""

import re
from html import unescape

import pytest

from archiver.web.app_keys import RUNTIME
from tests.web.conftest import page_of

WORDS = "however clever, are lost in time"


@pytest.fixture
def settings(saved_archive):
    return saved_archive.settings


def marks(page):
    return [unescape(each) for each in re.findall(r'<mark class="hl-[^>]*>([^<]*)</mark>', page)]


async def test_the_api_adds_lists_changes_and_removes_highlights(client, foxes):
    path = f"/api/v1/entries/{foxes}/highlights"
    added = await client.post(path, json={"quote": WORDS, "note": "kites", "colour": "blue"})
    missing = await client.post(path, json={"quote": "Zebras were never mentioned on that page."})
    first = (await added.json())["highlight"]
    lost = (await missing.json())["highlight"]
    assert (added.status, first["start"] > 0, lost["start"]) == (201, True, -1)

    shown = await page_of(client, f"/{foxes}/")
    assert marks(shown) == [WORDS]
    assert "no longer in this text" in shown

    async def listed(q):
        document = await (await client.get("/api/v1/highlights", params={"q": q})).json()
        return [each["quote"] for item in document["items"] for each in item["highlights"]]

    assert sorted(await listed("")) == sorted([WORDS, lost["quote"]])
    runtime = client.server.app[RUNTIME]
    await runtime.crawling.work(only=())
    assert await listed("kites") == [WORDS]
    assert await listed("zebras OR kites") == [lost["quote"], WORDS]
    assert await listed("reader") == []
    page = await page_of(client, "/highlights?q=kites")
    assert WORDS in page
    assert "Zebras" not in page
    assert (await client.get("/highlights?q=colour:red")).status == 400
    document = await (await client.get("/api/v1/entries?q=is:highlighted")).json()
    assert [each["entry"]["hash_url"] for each in document["items"]] == [foxes]

    changed = await client.patch(f"{path}/{first['id']}", json={"note": "hawks"})
    assert (await changed.json())["highlight"]["note"] == "hawks"
    removed = await client.delete(f"{path}/{lost['id']}")
    assert [each["quote"] for each in (await removed.json())["entry"]["highlights"]] == [WORDS]
    assert (await client.delete(f"{path}/{lost['id']}")).status == 404
