"""The preview of an upload, and the import with the chosen options."""

import json
import re

from aiohttp import FormData

FILE = (
    "url,title,folder,added\n"
    "http://127.0.0.1:1/1,<b>One</b>,Food/Soups,2020-09-13T12:26:40Z\n"
    "javascript:alert(1),Bad,,\n"
)


async def send(client, data, name, *, preview=True):
    form = FormData()
    if preview:
        form.add_field("preview", "1")
    form.add_field("file", data, filename=name)
    return await client.post("/import", data=form, allow_redirects=False)


async def test_a_file_is_previewed_and_imported_with_options_and_a_report(runtime, client):
    sent = await send(client, FILE.encode(), "mine.csv")
    path = sent.headers["Location"]
    page = await (await client.get(path)).text()

    assert sent.status == 303
    assert re.fullmatch(r"/import/look/[0-9a-f]{32}", path)
    assert await runtime.import_statuses.recent() == []
    for shown in ("CSV", "utf-8", "Food/Soups", "&lt;b&gt;One&lt;/b&gt;"):
        assert shown in page
    again = await (await client.get(f"{path}?tags=new,%20two&folders_as=lists")).text()
    assert 'value="new, two"' in again
    chosen = {"tags": "new", "folders_as": "lists"}
    done = await client.post(path, data=chosen, allow_redirects=False)
    number = int(done.headers["Location"].removeprefix("/import/"))
    async for status in runtime.change_stream.one_import(number):
        if not status.is_unread:
            break
    detail = await runtime.entries.get("http://127.0.0.1:1/1")
    assert detail.entry.annotation.tags == ("new",)
    assert detail.entry.annotation.folders == ("Food/Soups",)
    page = await (await client.get(f"/import/{number}")).text()
    assert f"/import/{number}/receipt.csv" in page
    report = await client.get(f"/import/{number}/receipt.json")
    rows = json.loads(await report.text())
    assert [(each["row"], each["outcome"]) for each in rows] == [(1, "added"), (2, "unusable")]
    assert (await client.get(f"/import/{number}/receipt.csv")).content_type == "text/csv"
    assert (await client.get(path)).status == 404
    assert (await client.get("/import/99/receipt.csv")).status == 404


async def test_the_reason_for_an_unreadable_file_is_translated(client):
    german = {"Accept-Language": "de"}

    async def page_of(data, name):
        sent = await send(client, data, name)
        return await (await client.get(sent.headers["Location"], headers=german)).text()

    assert "a.gif ist ein Bild." in await page_of(b"GIF89a\1\0", "a.gif")
    assert "a.7z ist mit 7-Zip komprimiert" in await page_of(b"7z\xbc\xaf\x27\x1c\0", "a.7z")
    assert "und wurde deshalb nicht gelesen" in await page_of(b"url,password\n", "a.csv")
    cut = await page_of(b'{"url": tru', "a.json")
    assert "a.json enthält keine brauchbaren Links. Die Datei endet hier unerwartet" in cut
