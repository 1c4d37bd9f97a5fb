"""Rules of sites on the settings pages."""

from aiohttp import FormData

from archiver.config import SiteRule
from archiver.web.app_keys import RUNTIME


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

    for host in ("shop.example", "b.example", "c.example"):
        assert (await post(do="remove", host=host))[0] == 200
    assert (await preferences.site_rules(), await cookies.list()) == ({}, [])
