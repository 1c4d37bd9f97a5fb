"""Pages that a crawl shows to a browser: walls, routes of applications, hosts that need one.

All tests share the crawl and its browser; each has a separate site.
"""

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
import pytest_asyncio
from aiohttp import web

from archiver.db import screenshots
from archiver.model.failure import FailureKind
from archiver.model.job import State
from archiver.model.rendering import Rendering
from tests.conftest import LiveWeb, live_web
from tests.crawl.test_signals import entry_of
from tests.crawler import Crawl, quick_rendering, rendering_crawl
from tests.pages.test_page_problems import WALLS

pytestmark = pytest.mark.asyncio(loop_scope="module")
OPENS = (
    "<title>Just a moment...</title><script>window._cf_chl_opt = {};"
    "if (!document.cookie) { document.cookie = 'come=in'; location.reload(); }</script>"
)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def rendering(tmp_path_factory) -> AsyncIterator[Crawl]:
    settings = {"browser_pages": 6, "host_concurrency": 12}
    async with rendering_crawl(tmp_path_factory.mktemp("crawl") / "data", **settings) as crawl:
        with quick_rendering(CHECK_SECONDS=3):
            yield crawl


@pytest_asyncio.fixture(loop_scope="module")
async def live() -> AsyncIterator[LiveWeb]:
    async with live_web() as served:
        yield served


async def test_a_wall_that_a_browser_passes_is_no_failure(rendering, live):
    async def guarded(request: web.Request) -> web.Response:
        inside = "<title>Inside</title><p>" + "What stands behind the wall. " * 20
        text = inside if "come=in" in request.headers.get("Cookie", "") else OPENS
        return web.Response(text=text, content_type="text/html", status=200)

    url = live.add_handler("/guarded", guarded)
    await rendering.queue(url)

    await rendering.run()

    entry, (row,), failed = await entry_of(rendering, url)
    assert (entry.title, entry.state, failed) == ("Inside", State.SAVED, [])
    assert row.snapshot.rendering is Rendering.DONE
    assert live.requests["/guarded"] == 3  # once without, then by the browser until it was let in


CHECK = (
    "<title>One moment</title><h1>Checking your browser</h1><script>setTimeout(() => {"
    "document.cookie = 'come=in'; location.reload(); }, 500)</script>"
)


async def test_a_refused_page_that_a_browser_gets_is_saved(rendering, live):
    inside = "<title>Inside</title><p>" + "What stands behind the check. " * 20

    async def unless_browser(request):
        is_let_in = "Chrome/" in request.headers["User-Agent"]
        return web.Response(text=inside, content_type="text/html", status=200 if is_let_in else 403)

    async def after_check(request):
        if "session=1" not in request.headers.get("Cookie", ""):
            sent = web.Response(status=302, headers={"Location": "/check"})
            for cookie in ("a=b\tc", "session=1"):  # Chromium rejects the first
                sent.headers.add("Set-Cookie", cookie)
            return sent
        is_let_in = "come=in" in request.headers.get("Cookie", "")
        text, status = (inside, 200) if is_let_in else (CHECK, 503)
        return web.Response(text=text, content_type="text/html", status=status)

    refused = live.put("/refused", inside, status=403)
    urls = [
        live.add_handler("/letter", unless_browser),
        live.add_handler("/check", after_check),
        refused,
    ]
    await rendering.queue(*urls)

    await rendering.run()

    results = [await entry_of(rendering, url) for url in urls]
    assert [(entry.title, entry.state) for entry, *_ in results[:2]] == [
        ("Inside", State.SAVED)
    ] * 2
    entry, _, (failed,) = results[2]
    assert (entry.state, failed.failure.status) == (State.FAILED, 403)


@pytest.mark.parametrize("articles", ["now", "later"])
async def test_a_page_whose_scripts_add_no_text_is_kept_as_fetched(rendering, live, articles):
    """Texts are compared before or after articles are extracted."""
    settings = replace(rendering.context.settings, articles=articles)
    crawl = Crawl(replace(rendering.context, settings=settings))
    words = "A short note that stands in the page itself. "
    script = "<script>document.querySelector('%s').innerHTML = '%s'</script>"
    page = live.put("/kept", f"<main><p>{words}</p><i></i></main>{script % ('main', 'Subscribe')}")
    filled = live.put(
        "/filled", f"<main><p>{words}</p><div></div></main>{script % ('div', words * 9)}"
    )
    await crawl.queue(page, filled)

    await crawl.run()

    (_, (as_fetched,), _), (_, (rendered,), _) = [
        await entry_of(crawl, url) for url in (page, filled)
    ]
    assert as_fetched.snapshot.rendering is Rendering.NONE
    assert rendered.snapshot.rendering is Rendering.DONE


ROUTER = """<title>App</title><div id=app></div><script>
const show = () => { app.innerHTML = `<p>${`Words of ${location.hash}. `.repeat(20)}`; };
addEventListener("hashchange", show); show();</script>"""


async def test_each_route_of_an_application_is_an_entry_with_its_own_content(rendering, live):
    base = live.put("/app", ROUTER)
    urls = [f"{base}#/kites", f"{base}#!owls"]
    await rendering.queue(*urls, f"{base}#anchor")

    await rendering.run()

    results = [await entry_of(rendering, url) for url in urls]
    assert [entry.url for entry, *_ in results] == urls
    assert [each[2] for each in results] == [[], []]
    texts, moments = [], set()
    for _, (row,), _ in results:
        capture = row.snapshot.capture
        moments.add(capture.timestamp)
        assert (capture.url, row.snapshot.rendering) == (base, Rendering.DONE)
        place = await page_rendition(rendering.context.db, capture)
        texts.append(rendering.context.store.read(place).block.read().decode())
    assert "Words of #/kites." in texts[0]
    assert "Words of #!owls." in texts[1]
    assert len(moments) == 2
    assert (await entry_of(rendering, base))[0].url == base


async def page_rendition(db, capture):
    async with db.read() as conn:
        return await screenshots.page_of(conn, capture)


async def test_a_wall_that_also_blocks_the_browser_is_not_archived(rendering, live):
    await rendering.queue(live.article("first"))
    await rendering.run()  # a host gets one request until it has responded
    walls = {
        live.put("/by-its-page", WALLS["HUMAN"]): "HUMAN",
        live.put("/by-its-header", "Wait.", headers={"cf-mitigated": "challenge"}): "Cloudflare",
        live.put("/by-its-status", WALLS["Kasada"], status=403): "Kasada",
    }
    await rendering.queue(*walls)

    await rendering.run()

    results = {}
    for url, guard in walls.items():
        entry, rows, failed = await entry_of(rendering, url)
        results[url] = (entry.state, rows, [each.failure.kind for each in failed])
        assert guard in "".join(each.failure.message for each in failed) or rows
        assert live.requests[url.removeprefix(live.origin)] == 2  # once without, once by a browser
    assert results == dict.fromkeys(walls, (State.FAILED, [], [FailureKind.WALLED]))
