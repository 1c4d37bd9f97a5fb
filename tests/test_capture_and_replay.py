"""A site of several pages, hosts and types is captured, and replayed as it looked."""

import asyncio
import sys
from asyncio.subprocess import PIPE, STDOUT
from urllib.parse import urlsplit

import pytest
from aiohttp import ClientSession, web

from archiver.app import open_app
from archiver.config import Settings
from archiver.model.failure import FailureKind
from archiver.model.job import State
from archiver.web.app import build_app
from tests.chromium import chromium, new_page
from tests.recorded_browser import RequestLog, open_testbed, save_and_capture
from tests.segments import write_segment_files
from tests.small_web.every_reference import CELLS, WHITE, WIDTH, are_close, build_page, colours_of
from tests.small_web.site import CODED, SmallWeb

PATHS = (
    "/ /about.html /busy.html /lazy.html /notes.txt /data.json /drawing.svg /paper.pdf /old.html "
    "/mislabelled.html /missing.html /gone.html /broken.html /moved /round /huge.bin "
    "/coded/gzip /coded/deflate /coded/br /coded/zstd /coded/chunked /pictures/alone.png"
).split()
# warcio's checker decodes content needlessly, which fails with the usual brotli package.
CHECK = "import sys; sys.modules['brotli'] = None; from warcio.cli import main; main()"


@pytest.fixture
async def site():
    async with SmallWeb() as running:
        yield running


@pytest.fixture
async def runtime(tmp_path):
    settings = Settings(
        data=tmp_path / "data",
        allow_networks="127.0.0.0/8",
        host_delay=0,
        retries=1,
        retry_delay=0,
        max_body_bytes=2 << 20,
    )
    async with open_app(settings) as opened:
        yield opened


@pytest.fixture
async def service(runtime):
    runner = web.AppRunner(build_app(runtime), access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    host, port = runner.addresses[0][:2]
    yield f"http://{host}:{port}"
    await runner.cleanup()


async def capture(runtime, site, *paths):
    result = await runtime.entries.save([site.origin + path for path in paths], source="cli")
    await runtime.crawling.work()
    return [await runtime.entries.get(each.hash_url) for each in result.accepted]


async def screenshot_and_requests(browser, url, *, scripts, width=800, refused=None):
    """Return a screenshot of a page, and every request it made.

    Error messages of the console are added to ``refused``.
    """
    viewport = {"width": width, "height": 900}
    opened = await new_page(
        browser, java_script_enabled=scripts, bypass_csp=not scripts, viewport=viewport
    )
    requests = RequestLog()
    opened.on("request", lambda request: requests.add(request.url))
    if refused is not None:
        opened.on("console", lambda line: "status of 404" in line.text or refused.append(line.text))
    await requests.open(opened, url)
    image = await opened.screenshot()
    await opened.context.close()
    return image, requests


async def a_replayed_page_looks_like_the_live_one_and_stays_in_the_archive(
    site, runtime, service, browser
):
    detail, lazy = await capture(runtime, site, "/", "/lazy.html")
    key, timestamp, url = detail.entry.hash_url, detail.entry.latest, detail.entry.url
    live, _ = await screenshot_and_requests(browser, url, scripts=False)
    site.hits.clear()

    replayed, requests = await screenshot_and_requests(
        browser, f"{service}/web/{timestamp}if_/{url}", scripts=True
    )

    assert replayed == live
    assert {urlsplit(each).netloc for each in requests} == {urlsplit(service).netloc}
    for path in (f"/{key}/{timestamp}/", f"/{key}/"):
        _, requests = await screenshot_and_requests(browser, service + path, scripts=True)
        assert {urlsplit(each).netloc for each in requests} == {urlsplit(service).netloc}
    _, requests = await screenshot_and_requests(
        browser, f"{service}/web/{lazy.entry.latest}if_/{lazy.entry.url}", scripts=True
    )
    assert any(each.endswith("/pictures/lazy.png") for each in requests), "without its script"
    assert not site.hits
    assert detail.snapshots[0].missing_count == 0


async def the_banner_follows_the_framed_page(site, runtime, service, browser):
    detail, about = await capture(runtime, site, "/", "/about.html")
    page = await new_page(browser)
    await page.goto(f"{service}/{detail.entry.hash_url}/{detail.entry.latest}/")
    back, frame = page.locator("[data-back]"), page.frame_locator("iframe.replay")

    assert not await back.is_visible()
    title = await page.locator("h1").inner_text()
    await frame.get_by_text("About", exact=True).click()
    await back.wait_for(state="visible")
    assert await page.locator("h1").inner_text() == "About"
    read = await page.get_by_role("link", name="Read").get_attribute("href")
    assert about.entry.hash_url in read
    async with page.expect_navigation():
        await back.click()
    await page.locator("h1", has_text=title).wait_for()
    await frame.get_by_text("Elsewhere", exact=True).click()

    await frame.get_by_text("Not in the archive").wait_for()
    assert await frame.get_by_role("link", name="Capture now").count() == 1
    assert await page.get_by_text("Capture now").count() == 0


async def every_kind_of_reference_is_replayed(testbed, browser):
    """Compare the colour that each kind shows, live and in replay."""
    live, runtime, port, _ = testbed
    refused = []
    live.pages |= build_page(live.origin)
    (entry,) = await save_and_capture(live, runtime, "/")
    image, _ = await screenshot_and_requests(browser, entry.url, scripts=False, width=WIDTH)
    expected = colours_of(image)
    live.hits.clear()
    url = f"http://127.0.0.1:{port}/web/{entry.latest}if_/{entry.url}"
    image, _ = await screenshot_and_requests(
        browser, url, scripts=True, width=WIDTH, refused=refused
    )
    replayed = colours_of(image)

    assert [name for name, (upper, _) in expected.items() if upper == WHITE] == []
    assert [each for each in CELLS if not are_close(expected[each], replayed[each])] == []
    assert (refused, live.hits) == ([], [])


async def test_pages_are_replayed_in_a_browser_as_they_looked(
    site, runtime, service, tmp_path, subtests
):
    async with (
        open_testbed(tmp_path / "testbed", max_requisites=2000) as testbed,
        chromium("--hide-scrollbars") as browser,
    ):
        with subtests.test("every kind of reference"):
            await every_kind_of_reference_is_replayed(testbed, browser)
        for check in (
            a_replayed_page_looks_like_the_live_one_and_stays_in_the_archive,
            the_banner_follows_the_framed_page,
        ):
            with subtests.test(check.__name__):
                await check(site, runtime, service, browser)


async def test_every_type_is_stored_and_every_failure_has_a_reason(
    site, runtime, service, tmp_path
):
    details = await capture(runtime, site, *PATHS)
    by_path = {urlsplit(each.entry.url).path: each.entry for each in details}

    failed = {path for path, entry in by_path.items() if entry.state is not State.SAVED}
    assert failed == {"/missing.html", "/gone.html", "/broken.html", "/round", "/huge.bin"}
    reasons = {path: by_path[path].failure.kind for path in failed}
    assert reasons.pop("/round") is FailureKind.TOO_MANY_REDIRECTS
    assert reasons.pop("/huge.bin") is FailureKind.TOO_LARGE
    assert set(reasons.values()) == {FailureKind.HTTP_STATUS}
    assert by_path["/old.html"].title == "Café"
    assert by_path["/mislabelled.html"].title == "GrÃ¼ÃŸe"
    for path in PATHS:
        if path.startswith("/coded/"):
            shown = await runtime.entries.snapshot(by_path[path].hash_url)
            assert "The same words in another coding." in shown.article

    moved = next(each for each in details if each.entry.hash_url == by_path["/moved"].hash_url)
    assert moved.snapshots[0].final_url == f"{site.origin}/about.html"
    for path, status in (("/moved", 301), ("/moved-again", 302)):
        hops = await runtime.replay.captures_of(site.origin + path)
        assert [each.status for each in hops] == [status], path
    busy = next(each for each in details if each.entry.title == "Free now")
    assert [each.failure.status for each in busy.attempts] == [503]
    coded = by_path["/coded/br"]
    url = f"{service}/web/{coded.latest}id_/{coded.url}"
    async with ClientSession() as session, session.get(url) as answer:
        assert await answer.text() == CODED, "replayed as it was sent"

    await capture(runtime, site, "/", "/coded/chunked")
    await assert_valid(runtime, tmp_path)


async def assert_valid(runtime, tmp_path):
    """Check the segments with warcio, and with our own verification."""
    paths = map(str, write_segment_files(tmp_path / "data", tmp_path / "segments"))
    checking = await asyncio.create_subprocess_exec(
        sys.executable, "-c", CHECK, "check", *paths, stdout=PIPE, stderr=STDOUT
    )
    output, _ = await checking.communicate()

    assert (checking.returncode, output) == (0, b"")
    assert [finding async for finding in runtime.fixity.verify()] == []
