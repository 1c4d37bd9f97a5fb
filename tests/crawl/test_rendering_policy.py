"""Selection of pages to render, also by hints about their hosts; the sandbox is enabled."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from archiver.browser.chromium import command
from archiver.config import Settings
from archiver.crawl.rendering_policy import MAX_REFUSALS, ONE_IN, RenderHints, is_sampled
from archiver.http.site_rules import SiteRules
from archiver.http.urls import hash_url
from archiver.model.failure import Failure, FailureKind
from archiver.model.job import EntryRef, Lease
from archiver.model.page import Discovery
from archiver.model.rendering import RenderHint
from tests.crawler import Crawl, renderer_of

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
    ("mode", "asked", "shown"),
    [
        ("auto", False, AUTO),
        ("auto", True, ALWAYS),
        ("always", False, ALWAYS),
        ("never", False, []),
        ("never", True, ALWAYS),
    ],
)
async def test_the_setting_selects_pages_and_a_request_overrides_it(crawl, mode, asked, shown):
    context = crawl.context
    settings = replace(context.settings, render=mode)
    renderer = renderer_of(replace(context, settings=settings))

    def is_wanted(name):
        return renderer.is_wanted("http://a.example/", *LOOKS[name], requested=asked)

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

    for host, wanted in (("a", True), ("b", False), ("c", False)):
        found = renderer.is_wanted(f"http://{host}.example/", *LOOKS["whole"], requested=False)
        assert found is wanted, host


SHELL = '<title>App</title><body><div id="root"></div><script>root.textContent = "x"</script>'

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def lease(number: int, latest: str | None = None) -> Lease:
    url = f"http://a.example/{number}"
    entry = EntryRef(number, hash_url(url), url, "a.example")
    return Lease(number, None, entry, 0, NOON, interrupted=False, latest=latest)


def path_of(origin: str, *, plainly: bool) -> str:
    """Return a path whose page is inspected without a browser despite a hint, or rendered."""
    for number in range(999):
        url = f"{origin}/page-{number}"
        one = replace(lease(number), entry=EntryRef(1, hash_url(url), url, ""))
        if is_sampled(one) is plainly:
            return f"/page-{number}"
    raise AssertionError("there is none")


async def test_render_hints_are_shared_between_processes(crawl, live):
    url = live.put("/shell", SHELL)
    settings = replace(crawl.context.settings, render="auto", browser="/nowhere")
    context = replace(crawl.context, settings=settings)
    seeing = Crawl(replace(context, renderer=renderer_of(context)))
    await seeing.queue(url)
    await seeing.run()

    another = RenderHints(crawl.context.db)

    assert await another.of(url + "/else") is RenderHint.EMPTY
    assert await another.of("http://b.example/") is RenderHint.NONE


async def test_the_newest_render_hint_wins_in_any_order(crawl):
    hosts = RenderHints(crawl.context.db)
    for moment, look in ((3, RenderHint.WALLED), (1, RenderHint.WHOLE), (2, RenderHint.EMPTY)):
        hosts.note("http://a.example/", moment, look)
    assert await hosts.of("http://a.example/x") is RenderHint.WALLED

    hosts.note("http://a.example/", 4, RenderHint.WHOLE)
    assert await hosts.of("http://a.example/x") is RenderHint.NONE


def test_one_page_in_ten_is_tried_without_a_browser():
    pages = [is_sampled(lease(number)) for number in range(2000)]
    times = [is_sampled(lease(1, f"{number:014d}")) for number in range(2000)]

    for each in (pages, times):
        assert 2000 / ONE_IN * 0.8 < sum(each) < 2000 / ONE_IN * 1.2
    assert pages == [is_sampled(lease(number)) for number in range(2000)]
