"""Selection of pages to render; the sandbox is enabled."""

from dataclasses import replace
from pathlib import Path

import pytest

from archiver.browser.chromium import command
from archiver.config import Settings
from archiver.crawl.rendering_policy import MAX_REFUSALS
from archiver.http.site_rules import SiteRules
from archiver.model.failure import Failure, FailureKind
from archiver.model.page import Discovery
from tests.crawler import renderer_of

LOOKS = {
    "whole": (Discovery(), None),
    "empty": (Discovery(needs_browser=True), None),
    "perhaps empty": (Discovery(may_need_browser=True), None),
    "walled": (None, Failure(FailureKind.WALLED, "A wall.")),
    "gone": (None, Failure(FailureKind.HTTP_STATUS, "Gone.", 410)),
    "refused": (None, Failure(FailureKind.HTTP_STATUS, "Refused.", 403)),
    "busy": (Discovery(), Failure(FailureKind.HTTP_STATUS, "Busy.", 429)),
    "resting": (Discovery(), Failure(FailureKind.HTTP_STATUS, "Later.", 503, 60.0)),
    "login": (Discovery(needs_browser=True), Failure(FailureKind.HTTP_STATUS, "Log in.", 401)),
    "application": (Discovery(needs_browser=True), Failure(FailureKind.HTTP_STATUS, "", 404)),
    "broken": (Discovery(), Failure(FailureKind.HTTP_STATUS, "Broken.", 500)),
    "no host": (None, Failure(FailureKind.DNS, "No such host.")),
}
AUTO = ["empty", "perhaps empty", "walled", "refused", "busy", "application"]
ALWAYS = ["whole", *AUTO, "broken"]


@pytest.mark.parametrize(
    ("mode", "requested", "shown"),
    [
        ("auto", False, AUTO),
        ("auto", True, ALWAYS),
        ("always", False, ALWAYS),
        ("never", False, []),
        ("never", True, ALWAYS),
    ],
)
async def test_the_setting_selects_pages_and_a_request_overrides_it(crawl, mode, requested, shown):
    context = crawl.context
    settings = replace(context.settings, render=mode)
    renderer = renderer_of(replace(context, settings=settings))

    def is_wanted(name):
        return renderer.is_wanted("http://a.example/", *LOOKS[name], requested=requested)

    assert [*filter(is_wanted, LOOKS)] == shown


async def test_a_host_that_refuses_browsers_too_is_not_asked_for_each_page(crawl):
    settings = replace(crawl.context.settings, render="auto")
    renderer = renderer_of(replace(crawl.context, settings=settings))
    url = "http://a.example/"

    for _ in range(MAX_REFUSALS):
        assert renderer.is_wanted(url, *LOOKS["refused"], requested=False)
        renderer.note_outcome(url, has_passed=False)
    assert not renderer.is_wanted(url, *LOOKS["refused"], requested=False)
    assert renderer.is_wanted("http://b.example/", *LOOKS["refused"], requested=False)
    renderer.note_outcome(url, has_passed=True)
    assert renderer.is_wanted(url, *LOOKS["refused"], requested=False)


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


async def test_the_rule_of_a_site_replaces_the_setting(crawl):
    crawl.context.fetcher.rules = SiteRules(crawl.context.settings.data)
    (crawl.context.settings.data / "settings.toml").write_text(
        "[sites.'a.example']\nrender = 'always'\n[sites.'b.example']\nrender = 'never'"
    )
    renderer = renderer_of(crawl.context)

    for host, expected in (("a", True), ("b", False), ("c", False)):
        result = renderer.is_wanted(f"http://{host}.example/", *LOOKS["whole"], requested=False)
        assert result is expected, host
