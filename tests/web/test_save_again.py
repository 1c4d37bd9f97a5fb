"""Saving with a form that asks about tracking parameters and existing snapshots."""

import json
import re

import pytest
from aiohttp import web


@pytest.fixture
async def runtime(runtime, live):
    await runtime.entries.save([live.article("foxes")], source="web")
    await runtime.crawling.work()
    return runtime


async def add(client, **fields):
    async with client.post("/add", data=fields) as answer:
        return answer.status, answer.url.path_qs, await answer.text()


async def queued(client):
    return (await (await client.get("/api/v1/queue")).json())["queued"]


async def test_saved_urls_need_confirmation_and_new_ones_are_saved(client, live):
    foxes, bears = live.url("/foxes"), live.article("bears")

    status, _, page = await add(client, url=f"{foxes}\n{bears}", tags="t")
    assert (status, await queued(client)) == (200, 1)
    assert re.search(r"1 snapshot since 20\d\d", page)
    assert ("Open it" in page, f'value="{live.origin}' in page) == (True, False)

    _, path, _ = await add(client, url=foxes, again="1")
    assert (path.startswith("/?jobs="), await queued(client)) == (True, 2)


async def test_tracking_parameters_are_removed_unless_the_user_keeps_them(client, live):
    tracked = f"{live.article('bears')}?utm_source=feed"

    _, _, page = await add(client, url=tracked)
    assert ("Tracking parameters were removed" in page, await queued(client)) == (True, 1)
    assert f'aria-hidden="true">{tracked}</textarea>' in page
    await add(client, url=tracked, trackers="keep", again="1")

    listed = (await (await client.get("/api/v1/entries?status=queued")).json())["items"]
    assert {each["entry"]["url"] for each in listed} == {tracked, live.url("/bears")}


async def test_the_web_app_manifest_has_a_share_target_and_icons(client):
    page = await (await client.get("/")).text()
    path = re.search(r'rel="manifest" href="([^"]+)"', page)[1]
    manifest = json.loads(await (await client.get(path)).text())
    german = json.loads(await (await client.get("/manifest.webmanifest?language=de")).text())
    assert (manifest["lang"], german["description"]) == ("en", "Ein persönliches Webarchiv")
    for icon in manifest["icons"]:
        assert (await client.get(icon["src"])).status == 200

    fields = {manifest["share_target"]["params"]["text"]: "Look: https://a.example/x it is"}
    shared = await (await client.get(manifest["share_target"]["action"], params=fields)).text()
    assert 'value="https://a.example/x"' in shared


async def test_a_duplicate_url_of_a_saved_page_is_reported(client, runtime, live):
    wolves, moved = live.article("wolves"), live.url("/moved")

    async def lead(_):
        raise web.HTTPMovedPermanently("/wolves")

    live.add_handler("/moved", lead)
    await runtime.entries.save([moved], source="web")
    await runtime.crawling.work()

    _, _, page = await add(client, url=wolves)

    assert f"<code>{wolves}</code> is already saved under another URL: <code>{moved}</code>" in page
    assert await queued(client) == 0
    offered = await (await client.get("/save", params={"url": wolves})).text()
    assert f"is already saved under another URL: <code>{moved}</code>" in offered
    assert ("again?" in offered, "Save this one too?" in offered) == (False, True)
    assert ("Capture again" in page, "Save anyway" in page) == (False, True)
    await add(client, url=wolves, again="1")
    assert await queued(client) == 1
