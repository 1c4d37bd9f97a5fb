"""Hosts that need a browser: pages are rendered directly, and sometimes tried without one."""

from dataclasses import replace
from datetime import UTC, datetime

from archiver.crawl.rendering_policy import ONE_IN, RenderHints, is_sampled
from archiver.db import entries
from archiver.http.urls import hash_url
from archiver.model.job import EntryRef, Lease
from archiver.model.rendering import RenderHint, Rendering
from tests.crawler import Crawl, renderer_of, rendering_crawl

SHELL = '<title>App</title><body><div id="root"></div><script>root.textContent = "x"</script>'
SEEMS_WHOLE = (
    f"<title>Whole</title><body><p>{'There is enough to read. ' * 20}</p>"
    "<p id=more></p><script>more.textContent = 'brought by a script'</script>"
)

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def lease(number: int, latest: str | None = None) -> Lease:
    url = f"http://a.example/{number}"
    entry = EntryRef(number, hash_url(url), url, "a.example")
    return Lease(number, None, entry, 0, NOON, interrupted=False, latest=latest)


def path_of(origin: str, *, plainly: bool) -> str:
    """Return a path that is, or is not, due to be tried without a browser."""
    for number in range(999):
        url = f"{origin}/page-{number}"
        one = replace(lease(number), entry=EntryRef(1, hash_url(url), url, ""))
        if is_sampled(one) is plainly:
            return f"/page-{number}"
    raise AssertionError("there is none")


async def rendered(crawl: Crawl, url: str) -> Rendering:
    async with crawl.context.db.read() as conn:
        _, entry = await entries.by_hash(conn, hash_url(url))
    return entry.rendering


async def test_pages_are_rendered_directly_until_one_is_complete_without_scripts(tmp_path, live):
    at_once, plainly = (path_of(live.origin, plainly=each) for each in (False, True))
    before, shell = live.put("/before", SEEMS_WHOLE), live.put("/shell", SHELL)
    first, look = live.put(at_once, SEEMS_WHOLE), live.put(plainly, SEEMS_WHOLE)
    last = live.put("/last", SEEMS_WHOLE)

    async with rendering_crawl(tmp_path / "data") as crawl:
        for url in (before, shell, first, look, last):
            await crawl.queue(url)
            await crawl.run()

        found = [await rendered(crawl, url) for url in (before, shell, first, look, last)]
    done, none = Rendering.DONE, Rendering.NONE
    assert found == [none, done, done, none, none]
    assert live.requests[at_once] == 1  # the browser displays the first response


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
