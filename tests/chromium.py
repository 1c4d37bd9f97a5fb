"""Chromium for tests; ``make test`` installs it if necessary.

The headless shell is the same engine at a third of the cost. Tests that need other parts of the
browser, such as the PDF viewer, use the ``whole`` one.
"""

import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from playwright.async_api import Browser, Page, async_playwright

WHOLE = ("chromium", "chromium-browser", "google-chrome")
SHELL = "chromium-headless-shell"
NAVIGATION_LIMIT = 120_000
"""Timeout of a navigation in milliseconds. Playwright's default is too short for a busy machine."""


def chromium_path(*, whole: bool = False) -> str:
    """Return the path of Chromium."""
    names = WHOLE if whole else (SHELL, *WHOLE)
    return next(filter(None, map(shutil.which, names)))


@asynccontextmanager
async def chromium(*arguments: str, whole: bool = False) -> AsyncIterator[Browser]:
    """Run Chromium with additional command line arguments."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=chromium_path(whole=whole),
            args=["--no-sandbox", "--disable-gpu", *arguments],
        )
        yield browser
        await browser.close()


async def new_page(browser: Browser, **options: Any) -> Page:
    """Open a page in a separate browser context, with `NAVIGATION_LIMIT`."""
    context = await browser.new_context(**options)
    context.set_default_navigation_timeout(NAVIGATION_LIMIT)
    return await context.new_page()
