import asyncio
import gzip

import pytest
from sqlalchemy import update

from archiver.crawl.requisites import Requisites
from archiver.db.schema import capture_table
from archiver.http.urls import host
from archiver.model.failure import FailureKind
from archiver.model.requisite import Requisite, RequisiteKind


@pytest.fixture
async def recording(crawl):
    """Crawl tools with a running recorder."""
    async with crawl.recording():
        yield crawl.context


def image(url):
    return Requisite(url, RequisiteKind.IMAGE)


async def test_a_requisite_is_fetched_once_for_many_pages_at_the_same_time(recording, live):
    release = asyncio.Event()
    put = live.put("/dot.png", "x", kind="image/png")
    handler = live.handlers["/dot.png"]

    async def slowly(request):
        await release.wait()
        return await handler(request)

    live.add_handler("/dot.png", slowly)
    requisites = Requisites(recording)
    pages = [
        asyncio.create_task(requisites.fetch_all(live.url(f"/{n}"), (image(put),)))
        for n in range(5)
    ]
    await live.wait_for_request("/dot.png")
    release.set()
    results = await asyncio.gather(*pages)

    assert live.requests["/dot.png"] == 1
    assert [[each.status for each in outcomes] for outcomes in results] == [[200]] * 5
    await requisites.fetch_all(live.url("/later"), (image(put),))
    assert live.requests["/dot.png"] == 1


@pytest.fixture
def slow_style(live):
    """A style sheet that is sent on demand."""
    release = asyncio.Event()
    url = live.put("/site.css", "p {}", kind="text/css")
    handler = live.handlers["/site.css"]

    async def slowly(request):
        await release.wait()
        return await handler(request)

    live.add_handler("/site.css", slowly)
    return Requisite(url, RequisiteKind.STYLE), release


async def begin(requisites, live, name, style):
    """Fetch a page that waits for a style sheet; its other resources are requested already."""
    after = image(live.put(f"/{name}.png", "x", kind="image/png"))
    page = asyncio.create_task(requisites.fetch_all(live.url(f"/{name}"), (style, after)))
    await live.wait_for_request(f"/{name}.png")
    return page


async def test_a_page_that_waits_for_a_cancelled_fetch_requests_it_again(
    recording, live, slow_style
):
    style, release = slow_style
    requisites = Requisites(recording)
    first = await begin(requisites, live, "first", style)
    second = await begin(requisites, live, "second", style)

    first.cancel()
    await asyncio.wait([first])
    release.set()

    assert {each.url: each.status for each in await second}[style.url] == 200
    assert live.requests["/site.css"] == 2


async def test_a_fetch_without_waiting_pages_is_cancelled(start_crawl, live, slow_style):
    style, release = slow_style
    async with start_crawl(host_concurrency=2) as crawl, crawl.recording():
        requisites = Requisites(crawl.context)
        pages = [await begin(requisites, live, name, style) for name in ("first", "second")]

        for page in pages:
            page.cancel()
        await asyncio.wait(pages)
        async with crawl.context.throttle.slot(host(style.url)), asyncio.timeout(60):
            await begin(requisites, live, "third", image(live.put("/dot.png", "x")))
        release.set()
        (outcomes,) = await requisites.fetch_all(live.url("/fourth"), (style,))

    assert outcomes.status == 200
    assert live.requests["/site.css"] == 2


async def test_a_stored_resource_is_not_fetched_by_the_next_process(start_crawl, live):
    live.put("/site.css", "p {}", kind="text/css")
    for name in ("foxes", "bears"):
        async with start_crawl() as crawl:
            head = '<link rel="stylesheet" href="/site.css">'
            await crawl.queue(live.article(name, head=head))
            await crawl.run()

    assert live.requests["/site.css"] == 1


async def test_a_stored_resource_with_a_time_in_the_future_is_fetched_again(start_crawl, live):
    live.put("/site.css", "p {}", kind="text/css")
    for name in ("foxes", "bears"):
        async with start_crawl(requisite_max_age=0) as crawl:
            head = '<link rel="stylesheet" href="/site.css">'
            await crawl.queue(live.article(name, head=head))
            await crawl.run()
            async with crawl.context.db.write() as conn:
                await conn.execute(update(capture_table).values(timestamp=30000101000000))

    assert live.requests["/site.css"] == 2


async def test_a_failed_resource_is_not_requested_again_soon(recording, live):
    async def break_off(request):
        request.transport.abort()
        await live.closing.wait()

    url = live.add_handler("/broken.png", break_off)
    requisites = Requisites(recording)
    (first,) = await requisites.fetch_all(live.url("/1"), (image(url),))
    count = live.requests["/broken.png"]
    (second,) = await requisites.fetch_all(live.url("/2"), (image(url),))

    assert first.failure.kind is FailureKind.DISCONNECTED
    assert second == first
    assert live.requests["/broken.png"] == count


async def test_a_stored_resource_that_replay_refuses_is_missing_and_says_why(start_crawl, live):
    dot = b"\x89PNG\r\n\x1a\n" + bytes(5000)
    page, style, picture = b"<!DOCTYPE html><p>Not found", b"p {}", RequisiteKind.IMAGE
    gzipped = {"Content-Encoding": "gzip"}
    served = {  # path: (kind of requisite, reason why it is missing, media type, headers, body)
        "/large.png": (picture, "too-large", "image/png", gzipped, gzip.compress(dot)),
        "/large.css": (RequisiteKind.STYLE, "too-large", "text/css", gzipped, gzip.compress(dot)),
        "/plain.png": (picture, None, "image/png", {}, dot),
        "/page.png": (picture, "wrong-type", "text/html", {}, page),
        "/page.woff": (RequisiteKind.FONT, "wrong-type", "application/xhtml+xml", {}, page),
        "/named-page.png": (picture, None, "text/html", {}, dot),
        "/pixel.gif": (picture, None, "text/html", {}, b""),
        "/page.css": (RequisiteKind.STYLE, "wrong-type", "text/html", {}, page),
        "/data.css": (RequisiteKind.STYLE, "wrong-type", "application/json", {}, style),
        "/text.css": (RequisiteKind.STYLE, None, "text/plain", {}, style),
        "/frame": (RequisiteKind.FRAME, None, "text/html", {}, page),
    }
    for path, (_, _, kind, headers, body) in served.items():
        live.put(path, body, kind=kind, headers=headers)
    live.put("/app.png", status=302, headers={"Location": "intent://picture"})
    requisites = [Requisite(live.url(path), kind) for path, (kind, *_) in served.items()]
    requisites.append(image(live.url("/app.png")))
    expected = {live.url(path): reason for path, (_, reason, *_) in served.items()}
    expected[live.url("/app.png")] = "invalid-url"

    for _ in range(2):  # the second crawl uses the stored responses
        options = {"max_decoded_bytes": 4000, "requisite_max_age": 3600}
        async with start_crawl(**options) as crawl, crawl.recording():
            outcomes = await Requisites(crawl.context).fetch_all(live.url("/"), tuple(requisites))
        reasons = {each.url: each.failure and each.failure.kind for each in outcomes}

        assert reasons == expected
        assert {each.url for each in outcomes if each.is_missing} == {
            u for u in expected if expected[u]
        }
        assert {each.status for each in outcomes} == {200, 302}


async def test_style_sheet_imports_are_fetched_and_cycles_end(recording, live):
    live.put("/a.css", '@import "b.css"; p { background: url(dot.png) }', kind="text/css")
    live.put("/b.css", '@import "a.css";', kind="text/css")
    live.put("/dot.png", "x", kind="image/png")
    requisites = (Requisite(live.url("/a.css"), RequisiteKind.STYLE),)

    outcomes = await Requisites(recording).fetch_all(live.url("/"), requisites)

    assert {each.url: each.status for each in outcomes} == {
        live.url(path): 200 for path in ("/a.css", "/b.css", "/dot.png")
    }
    assert set(live.requests.values()) == {1}


async def test_resources_above_the_limit_are_left_out_and_reported(start_crawl, live):
    requisites = tuple(image(live.put(f"/{n}.png", "x", kind="image/png")) for n in range(5))
    async with start_crawl(max_requisites=3) as crawl, crawl.recording():
        outcomes = await Requisites(crawl.context).fetch_all(live.url("/"), requisites)

    assert sum(each.status == 200 for each in outcomes) == 3
    assert {each.failure.kind for each in outcomes if each.failure} == {FailureKind.TOO_LARGE}
    assert len(outcomes) == 5


async def test_resources_that_time_out_are_left_out_and_reported(start_crawl, live):
    async def forever(_):
        await live.closing.wait()

    slow, quick = (
        live.add_handler("/slow.png", forever),
        live.put("/quick.png", "x", kind="image/png"),
    )
    async with start_crawl(page_timeout=5) as crawl, crawl.recording():
        requisites = Requisites(crawl.context)
        outcomes = await requisites.fetch_all(live.url("/"), (image(slow), image(quick)))

    assert {each.url: each.status for each in outcomes} == {slow: None, quick: 200}
    assert [each.failure.kind for each in outcomes if each.failure] == [FailureKind.TIMEOUT]
