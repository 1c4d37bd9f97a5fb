"""Deleting with the API and with forms, which ask for confirmation."""

import asyncio
import re

import pytest

from archiver.app import open_app
from archiver.config import Settings
from archiver.http.urls import hash_url
from tests.conftest import filled_by, saved_url
from tests.web.conftest import client_of


@filled_by
async def fill(runtime, live):
    """Save two pages, one of them twice."""
    for names in (("foxes", "bears"), ("foxes",)):
        await runtime.entries.save([live.article(name) for name in names], source="web")
        await runtime.crawling.work()


@pytest.fixture
def foxes(settings):
    return hash_url(saved_url(settings, "/foxes"))


async def send(client, path, page, *fields):
    """Send a form; return status, address and text of the next page."""
    async with client.post(path, data=fields) as answer:
        return answer.status, answer.url.path_qs, await answer.text()


def hidden_in(page):
    form = page[page.index('class="confirm-form"') :]
    return re.findall(r'type="hidden" name="([^"]+)" value="([^"]*)"', form)


async def titles(client):
    items = (await (await client.get("/api/v1/entries")).json())["items"]
    return {each["entry"]["title"] for each in items}


async def test_the_api_deletes_an_entry_and_a_snapshot(client, foxes):
    shown = await (await client.get(f"/api/v1/entries/{foxes}")).json()
    oldest = shown["snapshots"][-1]["timestamp"]
    path = f"/api/v1/entries/{foxes}"

    answer = await client.delete(f"{path}/snapshots/{oldest}")
    assert {k: v for k, v in (await answer.json()).items() if k != "id"} == {
        "entries": 0,
        "snapshots": 1,
    }
    last = shown["snapshots"][0]["timestamp"]
    refused = await client.delete(f"{path}/snapshots/{last}")
    assert (refused.status, (await refused.json())["error"]["message"][:12]) == (
        400,
        "This is the ",
    )
    assert (await client.delete(path)).status == 200
    for again in (client.delete(path), client.get(path), client.get(f"/{foxes}/")):
        assert (await again).status == 404
    assert await titles(client) == {"bears"}


async def test_deleting_an_entry_needs_confirmation_and_can_be_undone(client, foxes, settings):
    question = await (await client.get(f"/{foxes}/delete")).text()
    assert "Delete this entry?" in question
    assert "you can restore them for 30 days" in question
    assert "foxes" in await titles(client)

    status, path, page = await send(client, "/delete", question, *hidden_in(question))

    assert (status, path.startswith("/snapshots?deleted=")) == (200, True)
    assert "Deleted 1 entry." in page
    assert await titles(client) == {"bears"}
    timemap = await client.get(f"/timemap/json/{saved_url(settings, '/foxes')}")
    assert timemap.status == 404
    cdx = await client.get("/cdx", params={"url": saved_url(settings, "/foxes")})
    assert (await cdx.text()).strip() == ""

    number = re.search(r'name="deletion" value="(\d+)"', page)[1]
    _, _, page = await send(client, "/restore", page, ("deletion", number))
    assert "Undone." in page
    assert await titles(client) == {"bears", "foxes"}


async def test_selected_or_found_entries_are_deleted_after_confirmation(client, foxes):
    fields = [("entry", foxes), ("scope", "ticked"), ("back", "/snapshots?q=clever")]
    status, _, question = await send(client, "/delete", "/snapshots", *fields)
    assert (status, "Delete this entry?" in question, len(await titles(client))) == (200, True, 2)

    fields = [("scope", "all"), ("q", "title:bears"), ("back", "/snapshots")]
    _, _, question = await send(client, "/delete", "/snapshots", *fields)
    _, _, page = await send(client, "/delete", question, *hidden_in(question))
    assert "Deleted 1 entry." in page
    assert await titles(client) == {"foxes"}

    status, _, page = await send(client, "/delete", "/snapshots", ("scope", "ticked"))
    assert (status, "Nothing selected" in page) == (200, True)


async def test_deletions_at_the_same_time_and_during_compaction_succeed(tmp_path, live):
    settings = Settings(data=tmp_path / "data", allow_networks=("127.0.0.0/8",), host_delay=0)
    urls = [live.article(f"page{n}") for n in range(4)]
    async with open_app(settings) as runtime:
        await runtime.entries.save(urls, source="web")
        await runtime.crawling.work()
        paths = [f"/api/v1/entries/{hash_url(each)}" for each in urls]
        paths += [f"{each}/snapshots/20000101000000" for each in paths]
        async with client_of(runtime) as client:

            async def delete(path):
                async with client.delete(path) as answer:
                    return answer.status, (await answer.json()).get("entries", 0)

            async def compact():
                while await titles(client):
                    await runtime.compacting.compact(empty_bin=True)

            compacting = asyncio.create_task(compact())
            answers = await asyncio.gather(*map(delete, (*paths, *paths)))
            await compacting

    assert {status for status, _ in answers} == {200, 404}
    assert sum(entries for _, entries in answers) == len(urls)
