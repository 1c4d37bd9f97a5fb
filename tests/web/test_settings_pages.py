"""Settings pages: rules of sites, maintenance; and the bin."""

import asyncio
import re

import pytest
from aiohttp import FormData

from archiver.config import SiteRule
from archiver.crawl.archive import LOCKS
from archiver.http.urls import hash_url, parse_entry_url
from archiver.services.fixity import Progress
from archiver.services.health import store_check
from archiver.warc.locks import try_lock
from archiver.web.app_keys import LISTENERS, RELOAD, RUNTIME
from archiver.web.pages import settings as settings_pages
from tests.web.conftest import page_of


@pytest.fixture
def settings(saved_archive):
    return saved_archive.settings


async def test_rules_and_cookies_of_a_site_are_added_changed_and_removed(client, saved_archive):
    preferences = client.app[RUNTIME].preferences
    cookies = client.app[RUNTIME].cookie_settings

    async def post(**fields):
        async with client.post("/settings/sites", data=fields) as answer:
            return answer.status, await answer.text()

    status, page = await post(
        host="https://Shop.example/x", render="always", delay="2", cookies="id=se/cret; b=c"
    )
    assert (status, "shop.example" in page, "2 cookies" in page) == (200, True, True)
    assert "se/cret" not in page
    assert "se/cret" in (saved_archive.settings.data / "cookies.txt").read_text()
    assert all(each.is_secure for each in await cookies.list())

    upload = FormData({"host": "b.example", "never_save": "true"})
    upload.add_field("file", b".c.example\tTRUE\t/\tFALSE\t0\tn\tv\n", filename="cookies.txt")
    assert (await client.post("/settings/sites", data=upload)).status == 200
    assert await preferences.site_rules() == {
        "b.example": SiteRule(never_save=True),
        "shop.example": SiteRule(render="always", delay=2.0),
    }
    form = await (await client.get("/settings/sites?host=shop.example")).text()
    assert 'value="shop.example"' in form
    assert '<option value="always" selected>' in form

    for wrong in ({"host": "not a host"}, {"host": "a.example", "delay": "soon"}):
        status, page = await post(**wrong)
        assert (status, 'role="alert"' in page) == (400, True)
        assert f'value="{[*wrong.values()][-1]}"' in page, "what was typed stays in the form"
    german = {"Accept-Language": "de"}
    async with client.post("/settings/sites", data=wrong, headers=german) as answer:
        assert "Wartezeit: muss eine Zeitangabe sein" in await answer.text()
    changed = {"section": "capture", "retries": "many"}
    async with client.post("/settings", data=changed, headers=german) as answer:
        assert "Wiederholungen: muss eine ganze Zahl sein." in await answer.text()

    for host in ("shop.example", "b.example", "c.example"):
        assert (await post(do="remove", host=host))[0] == 200
    assert (await preferences.site_rules(), await cookies.list()) == ({}, [])


async def test_rules_of_sites_are_listed_set_and_removed_over_the_api(client):
    async def ask(method, host="", **body):
        sent = {"json": body} if method == "PUT" else {}
        async with client.request(method, f"/api/v1/sites{host}", **sent) as answer:
            return answer.status, await answer.json()

    rule = {"render": None, "delay": None, "user_agent": None, "never_save": False}
    status, result = await ask(
        "PUT", "/Shop.example:80", delay=0, user_agent="A/1", never_save=True
    )
    expected = {**rule, "delay": 0.0, "user_agent": "A/1", "never_save": True}
    assert (status, result) == (200, [{"host": "shop.example", "rule": expected}])
    assert await ask("GET") == (200, result)
    status, result = await ask("PUT", "/shop.example", render="never")
    assert result == [{"host": "shop.example", "rule": {**rule, "render": "never"}}]
    for refused in ({"delay": -1}, {"delays": 1}, {"render": "sometimes"}):
        assert (await ask("PUT", "/shop.example", **refused))[0] == 400, refused
    assert (await ask("PUT", "/not%20a%20host"))[0] == 400
    assert await ask("DELETE", "/shop.example") == (200, [])
    assert (await ask("DELETE", "/shop.example"))[0] == 404


async def test_a_refused_value_stays_in_its_field_with_the_reason(client):
    async with client.post("/settings", data={"section": "feeds", "feed_interval": "x"}) as answer:
        page = await answer.text()
    assert "Check feeds every: must be" in page
    assert 'value="x" aria-invalid="true" aria-describedby="why-feed_interval"' in page


async def test_public_archives_are_chosen_by_name_or_url(client, saved_archive):
    chosen = [("section", "capture"), ("rescue", "wayback"), ("rescue", "https://gate.example/")]
    async with client.post("/settings", data=chosen) as answer:
        page = await answer.text()
    assert re.findall(r'name="rescue" value="([^"]*)" checked', page) == ["wayback"]
    assert 'name="rescue" value="https://gate.example/"' in page
    stored = (saved_archive.settings.data / "settings.toml").read_text()
    assert 'rescue = ["wayback", "https://gate.example/"]' in stored
    await client.app[RUNTIME].preferences.change({"rescue": None})


async def test_saving_applies_a_setting_that_was_changed_elsewhere(client, saved_archive):
    values = {"section": "maintenance", "quiet_hour": "3", "bin_days": "9"}
    file = saved_archive.settings.data / "settings.toml"
    before = file.read_text() if file.exists() else ""
    file.write_text("bin_days = 9\n")
    try:
        assert "Not applied yet: archiver is still using 30 d." in await page_of(
            client, "/settings/maintenance"
        )
        await client.post("/settings", data=values)
        assert client.app[RELOAD].is_set()
    finally:
        file.write_text(before)


async def test_the_page_after_saving_is_sent_when_no_new_connection_is_accepted(
    client, monkeypatch
):
    monkeypatch.setattr(settings_pages, "STOP_SECONDS", None)
    values = {"section": "maintenance", "quiet_hour": "3", "bin_days": "9"}
    saving = asyncio.create_task(client.post("/settings", data=values, allow_redirects=False))
    await client.app[RELOAD].wait()
    for _ in range(3):
        assert (await client.get("/healthz")).status == 200
    assert not saving.done()

    client.app[LISTENERS].closing.set()

    assert (await saving).status == 303


async def test_a_deleted_entry_is_restored_from_the_bin_that_its_address_links(
    client, saved_archive
):
    url = saved_archive.url("/bears")
    key = hash_url(parse_entry_url(url))
    await client.app[RUNTIME].deleting.entries([url])

    async with client.get(f"/{key}/") as answer:
        page = await answer.text()
    assert answer.status == 404
    assert "is in the bin" in page
    assert 'href="/bin"' in page
    (item,) = re.findall(
        rf'<button form="one" name="item" value="([0-9]+ {key})"', await page_of(client, "/bin")
    )
    await client.post("/bin", data={"do": "restore", "item": item})
    assert (await client.get(f"/{key}/")).status == 200


async def finished(name):
    """Wait for a maintenance task."""
    await asyncio.gather(*(each for each in asyncio.all_tasks() if each.get_name() == name))


async def test_the_last_verification_is_shown_and_repeated(client, saved_archive):
    data, path = saved_archive.settings.data, "/settings/maintenance"
    assert "Not checked yet" in await page_of(client, path)
    for problems, words in ((0, "7 records checked on"), (2, "2 problems found")):
        await store_check(data, records=7, problems=problems)
        assert words in await page_of(client, path)

    await client.post(path, data={"do": "verify"})
    await finished("verify")

    page = await page_of(client, path)
    assert "No problems." in page
    assert "text/html" in page, "storage by type"
    assert str(data) in page, "the folder to back up"
    (data / "verified").write_text("{")
    assert "Not checked yet" in await page_of(client, path)
    assert (await client.post(path, data={"do": "nothing"})).status == 400


async def test_emptying_the_bin_shows_its_progress_and_result(client, saved_archive):
    app = client.app[RUNTIME]
    await app.deleting.entries([saved_archive.url("/foxes")])
    assert "Empty bin" in await page_of(client, "/bin")
    assert "Permanently erase" in await (await client.post("/bin", data={"do": "empty"})).text()

    app.upkeep.task, app.upkeep.progress = "empty-bin", Progress(0, 500, 2000)
    page = await page_of(client, "/bin")
    assert '<progress max="2000" value="500"' in page
    assert "data-busy" in page
    assert "Empty bin" not in page
    app.upkeep.task = ""

    with try_lock(saved_archive.settings.data / LOCKS / "compact"):
        await client.post("/bin", data={"do": "empty", "sure": "1"})
        await finished("empty-bin")
        assert "Another process is compacting" in await page_of(client, "/bin?emptied=1")
    await client.post("/bin", data={"do": "empty", "sure": "1"})
    await finished("empty-bin")

    page = await page_of(client, "/bin?emptied=1")
    assert "kB freed" in page
    assert "The bin is empty" in page
    assert await app.deleting.bin() == []
