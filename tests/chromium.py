"""Chromium for tests; ``make test`` installs it if necessary.

The headless shell is the same engine at a third of the cost. Tests that need other parts of the
browser, such as the PDF viewer, use the ``whole`` one.
"""

import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from playwright.async_api import Browser, async_playwright

WHOLE = ("chromium", "chromium-browser", "google-chrome")
SHELL = "chromium-headless-shell"


def chromium_path(*, whole: bool = False) -> str:
    """Return the path of Chromium."""
    names = WHOLE if whole else (SHELL, *WHOLE)
    return next(filter(None, map(shutil.which, names)))


@asynccontextmanager
async def chromium(*arguments: str, whole: bool = False) -> AsyncIterator[Browser]:
    """Run Chromium with further arguments."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=chromium_path(whole=whole),
            args=["--no-sandbox", "--disable-gpu", *arguments],
        )
        yield browser
        await browser.close()
