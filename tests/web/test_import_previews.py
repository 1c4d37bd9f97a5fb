"""The preview of an upload, and the import with the chosen options."""

import json
import re

from aiohttp import FormData

from tests.formats.goldens import GOLDENS

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


async def test_a_file_is_previewed_and_imported_with_options_and_a_receipt(runtime, client):
    sent = await send(client, FILE.encode(), "mine.csv")
    path = sent.headers["Location"]
    page = await (await client.get(path)).text()

    assert sent.status == 303
    assert re.fullmatch(r"/import/look/[0-9a-f]{32}", path)
    assert await runtime.imports.recent() == []
    for shown in ("CSV", "utf-8", "Food/Soups", "&lt;b&gt;One&lt;/b&gt;", "by its columns"):
        assert shown in page
    again = await (await client.get(f"{path}?tags=new,%20two&folders_as=lists")).text()
    assert 'value="new, two"' in again
    chosen = {"tags": "new", "folders_as": "lists"}
    done = await client.post(path, data=chosen, allow_redirects=False)
    number = int(done.headers["Location"].removeprefix("/import/"))
    async for status in runtime.change_stream.one_import(number):
        if not status.is_unread:
            break
    found = await runtime.entries.get("http://127.0.0.1:1/1")
    assert found.entry.annotation.tags == ("new",)
    assert found.entry.annotation.folders == ("Food/Soups",)
    page = await (await client.get(f"/import/{number}")).text()
    assert f"/import/{number}/receipt.csv" in page
    receipt = await client.get(f"/import/{number}/receipt.json")
    rows = json.loads(await receipt.text())
    assert [(each["row"], each["outcome"]) for each in rows] == [(1, "added"), (2, "unusable")]
    assert (await client.get(f"/import/{number}/receipt.csv")).content_type == "text/csv"
    assert (await client.get(path)).status == 404
    assert (await client.get("/import/99/receipt.csv")).status == 404


async def test_a_previewed_file_can_be_discarded(runtime, client):
    path = (await send(client, FILE.encode(), "mine.csv")).headers["Location"]

    gone = await client.post(path, data={"discard": "1"}, allow_redirects=False)

    assert gone.headers["Location"] == "/import"
    assert list((runtime.settings.data / "tmp").iterdir()) == []
    assert await runtime.imports.recent() == []


async def test_a_file_without_links_is_rejected_and_deleted(runtime, client):
    path = (await send(client, b"nothing here", "mine.txt")).headers["Location"]

    page = await client.get(path)

    assert page.status == 422
    assert "contains no" in (said := await page.text())
    assert 'action="/import" enctype' in said, "another can be chosen"


async def test_the_reason_for_an_unreadable_file_is_translated(client):
    german = {"Accept-Language": "de"}

    async def said(data, name):
        sent = await send(client, data, name)
        return await (await client.get(sent.headers["Location"], headers=german)).text()

    assert "a.gif ist ein Bild." in await said(b"GIF89a\1\0", "a.gif")
    assert "a.7z ist als 7-Zip gepackt." in await said(b"7z\xbc\xaf\x27\x1c\0", "a.7z")
    assert "Eine solche Datei wird nicht gelesen" in await said(b"url,password\n", "a.csv")
    cut = await said(b'{"url": tru', "a.json")
    assert "a.json enthält keine brauchbaren Links. Die Datei endet hier unerwartet" in cut


async def test_an_upload_without_preview_is_imported_immediately(runtime, client):
    name, data, _ = GOLDENS["plain text"]

    sent = await send(client, data, name, preview=False)

    assert sent.headers["Location"] == f"/import/{(await runtime.imports.recent())[0].id}"


async def test_checking_again_keeps_the_options(client):
    path = (await send(client, FILE.encode(), "mine.csv")).headers["Location"]
    chosen = {"tags": "new, two", "check": "whole"}

    again = await client.post(path, data=chosen, allow_redirects=False)

    assert again.headers["Location"] == f"{path}?tags=new,+two&whole=1"
    assert 'value="new, two"' in await (await client.get(again.headers["Location"])).text()


async def test_a_long_file_is_previewed_partly_or_wholly(client):
    links = "".join(
        f'<DT><A HREF="http://127.0.0.1:1/{n}" TAGS="tag{n}">Page {n}</A>\n' for n in range(30)
    )
    file = f"<!DOCTYPE NETSCAPE-Bookmark-file-1>\n<DL><p>\n{links}</DL>"

    sent = await send(client, file.encode(), "bookmarks.html")
    page = await (await client.get(sent.headers["Location"])).text()
    shown = re.sub(r'<details class="more-items">.*?</details>', "", page, flags=re.DOTALL)

    assert [*map(int, re.findall(r"<b>Page (\d+)</b>", shown))] == [*range(5)]
    assert [*map(int, re.findall(r"<b>Page (\d+)</b>", page))] == [*range(20)]
    assert len(re.findall(r"<span>tag\d+</span>", shown)) == 8
    assert len(re.findall(r"<span>tag\d+</span>", page)) == 30
    assert "and 22 more" in page
