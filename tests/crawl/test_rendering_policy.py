"""Selection of pages to render; the sandbox is enabled."""

from dataclasses import replace
from pathlib import Path

import pytest

from archiver.browser.chromium import command
from archiver.config import Settings
from archiver.crawl.rendering_policy import BrowserServices, Renderer, RenderHints
from archiver.model.failure import Failure, FailureKind
from archiver.model.page import Discovery

LOOKS = {
    "whole": (Discovery(), None),
    "empty": (Discovery(needs_browser=True), None),
    "walled": (None, Failure(FailureKind.WALLED, "A wall.")),
    "gone": (None, Failure(FailureKind.HTTP_STATUS, "Gone.", 410)),
}


@pytest.mark.parametrize(
    ("mode", "asked", "shown"),
    [
        ("auto", False, ["empty", "walled"]),
        ("auto", True, ["whole", "empty", "walled"]),
        ("always", False, ["whole", "empty", "walled"]),
        ("never", False, []),
        ("never", True, ["whole", "empty", "walled"]),
    ],
)
async def test_the_setting_selects_pages_and_a_request_overrides_it(crawl, mode, asked, shown):
    context = crawl.context
    settings = replace(context.settings, render=mode)
    means = BrowserServices(settings, context.fetcher, context.throttle, context.recorder)
    renderer = Renderer(means, RenderHints(context.db))

    assert [name for name, look in LOOKS.items() if renderer.is_wanted(*look, asked=asked)] == shown


def test_the_sandbox_is_on_unless_disabled_by_the_setting():
    started = {
        is_sandboxed: command(
            Path("chromium"),
            Path("profile"),
            fingerprint="",
            user_agent="",
            is_sandboxed=is_sandboxed,
        )
        for is_sandboxed in (True, False)
    }

    assert Settings(data=Path()).browser_sandbox
    assert not any("sandbox" in word for word in started[True])
    assert "--no-sandbox" in started[False]
    assert not any(word == "--ignore-certificate-errors" for word in started[True])
