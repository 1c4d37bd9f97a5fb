"""Upload, preview, choices, receipt and undo in Chromium, on a narrow screen."""

from collections.abc import AsyncIterator

import pytest
from aiohttp.test_utils import TestServer
from playwright.async_api import Page

from archiver.app import open_app
from archiver.config import Settings
from archiver.web.app import build_app
from tests.chromium import chromium, new_page

TABLE = (
    "Seite,Address,name,folder\n"
    "x,http://127.0.0.1:1/1,One,Food/Soups\n"
    "y,http://127.0.0.1:1/2,Two,Other\n"
    "z,javascript:alert(1),Bad,Food\n"
)


@pytest.fixture
async def base(tmp_path) -> AsyncIterator[str]:
    settings = Settings(
        data=tmp_path / "data", allow_networks=("127.0.0.0/8",), host_delay=0, retries=0
    )
    async with (
        open_app(settings, serve=True) as runtime,
        TestServer(build_app(runtime)) as server,
    ):
        yield f"http://127.0.0.1:{server.port}"


async def fits(page: Page) -> bool:
    """Return whether nothing of a page is outside of the window."""
    return await page.evaluate(
        "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
    )


async def test_a_file_is_previewed_imported_followed_and_undone(base):
    async with chromium() as browser:
        page = await new_page(browser, viewport={"width": 360, "height": 900})
        await page.goto(f"{base}/import")
        given = {"name": "list.csv", "mimeType": "text/csv", "buffer": TABLE.encode()}
        await page.set_input_files("#file", given)
        await page.click("main button.primary")

        await page.get_by_role("heading", name="Preview: list.csv", exact=True).wait_for()
        await page.fill("#tags", "new")
        await page.select_option("#capture", "never")
        await page.click("summary:has-text('folders')")
        await page.check("input[name=only][value=Food]")
        await page.click("summary:has-text('column')")
        await page.select_option("label:has-text('name') select", label="a note")
        assert await fits(page)
        await page.click("button:has-text('Check again')")

        await page.locator("dl.numbers", has_text="skipped").wait_for()
        assert await page.is_checked("input[name=only][value=Food]")
        await page.click("button.primary:has-text('Import')")
        await page.wait_for_url(f"{base}/import/1")
        # The page shows the progress, and reloads at the end.
        await page.wait_for_selector("[data-open=no] .phase:has-text('Done')")
        await page.wait_for_load_state()

        async with page.expect_download() as download:
            await page.get_by_role("link", name="CSV", exact=True).click()
        rows = (await (await download.value).path()).read_text().splitlines()
        assert [row.split(",")[1] for row in rows[1:]] == ["added", "left out", "unusable"]
        assert await fits(page)
        await page.click("text=View imported entries")
        await page.locator("ol.entries", has_text="link only").wait_for()
        await page.goto(f"{base}/import/1")
        await page.click("text=Undo this import…")
        await page.click("button.danger")

        await page.locator("main", has_text="This import was undone").wait_for()
        await page.goto(f"{base}/snapshots")
        assert await page.query_selector("ol.entries li") is None
