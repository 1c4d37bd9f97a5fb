"""Pages that try to block the browser are limited, and other pages are unaffected.

Pages that never end are rendered first and given up after seconds; the others have no time limit.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import suppress

import pytest
from aiohttp import web

from archiver.crawl import browser_rendering
from archiver.db import captures, entries, screenshots, snapshots
from archiver.http.urls import hash_url
from archiver.model.rendering import Limit, Rendering
from tests.conftest import Handler, LiveWeb
from tests.crawler import Crawl, quick_rendering, rendering_crawl

SHELL = '<!DOCTYPE html><title>{0}</title><body><div id="root"></div><script>{1}</script>'
SAY = "root.innerHTML = '<p>This was shown after all, by a page that did its worst.</p>';"
HOSTILE = {
    "many": SAY
    + """
    let answered = 0;
    const note = () => { answered += 1; if (answered > 40) root.remove(); };
    for (let n = 0; n < 1000; n += 1) fetch('/one?' + n).then(note, () => 0);""",
    "scroll": SAY
    + """
    const add = () => { const more = document.createElement('p'); more.style.height = '500px';
      more.textContent = 'more'; document.body.append(more); };
    add(); add(); addEventListener('scroll', add);""",
    "dialogs": "alert(1); confirm(2); prompt(3); addEventListener('beforeunload', (event) => "
    "event.preventDefault());" + SAY,
    "windows": "for (let n = 0; n < 20; n += 1) open('/whole');" + SAY,
    "download": SAY + "location.href = '/file.bin';",
    "large": SAY + "fetch('/huge').then((a) => a.blob()).then(() => root.remove(), () => 0);",
    "announced": SAY + "fetch('/told').then((a) => a.blob()).then(() => root.remove(), () => 0);",
    "stream": SAY + "new EventSource('/events');",
}
TIMES = {
    "SCROLL_SECONDS": 0.5,
    "REST_SECONDS": 0.5,
    "LEAST_SECONDS": 1.1,
    "PICTURE_SECONDS": 2,
    "COMPARE_SECONDS": 1,
}
LOST_SECONDS = 2
MAX_BODY, GIGABYTE, PIECE = 4 << 20, 1 << 30, b"x" * (1 << 20)
BUFFERS = 32 << 20
"""Size of the buffers on both sides."""
BEGIN = """
    const begun = new XMLHttpRequest();
    begun.open('GET', '/begun', false);
    begun.send();"""
"""A request that completes before the script continues."""
LOST = {
    "loop": BEGIN + "setTimeout(() => { while (true); }, 50)",
    "nodes": BEGIN + "root.hidden = true; root.innerHTML = '<p>One of a million.</p>'.repeat(1e6);",
    "memory": BEGIN
    + "const held = []; for (;;) { try { held.push(new Uint8Array(64 << 20).fill(1)); } "
    "catch { held.push([]); } }",
}


MET = {
    "scroll": {Limit.SCROLLING},
    "many": {Limit.REQUESTS},
    "large": {Limit.ANSWER},
    "announced": {Limit.ANSWER},
    "loop": {Limit.TIME},
    "nodes": {Limit.SIZE, Limit.TIME},
    "memory": {Limit.TAB, Limit.TIME},
}
"""Limits of which each page must reach at least one."""


def sending_a_gigabyte(sent: Counter[str]) -> Handler:
    """Return a handler that sends up to a gigabyte and counts the sent bytes by path."""

    async def answer(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        if request.path == "/told":
            response.content_length = GIGABYTE
        await response.prepare(request)
        with suppress(ConnectionError):
            while sent[request.path] < GIGABYTE:
                await response.write(PIECE)
                sent[request.path] += len(PIECE)
        return response

    return answer


async def events(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    with suppress(ConnectionError):
        while True:
            await response.write(b"data: on and on\n\n")
            await asyncio.sleep(0.05)
    return response


def once_all_are_lost(live: LiveWeb, page: str) -> Handler:
    """Return a handler that responds once all pages in LOST are being rendered."""

    async def answer(_: web.Request) -> web.Response:
        await until_all_are_lost(live)
        return web.Response(text=page, content_type="text/html")

    return answer


async def until_all_are_lost(live: LiveWeb) -> None:
    """Wait until all pages in LOST are being rendered or, on a busy machine, have timed out."""
    with suppress(TimeoutError):
        async with asyncio.timeout(6 * LOST_SECONDS):
            await live.wait_for_request("/begun", len(LOST))


@pytest.fixture
async def impatient(tmp_path) -> AsyncIterator[Crawl]:
    """A crawl whose browser has short time limits."""
    settings = {
        "max_requisites": 40,
        "max_body_bytes": MAX_BODY,
        "browser_pages": 6,
        "host_concurrency": 12,
        "retries": 0,
    }
    async with rendering_crawl(tmp_path / "data", **settings) as crawl:
        with quick_rendering(**TIMES):
            yield crawl


async def test_each_hostile_page_is_bounded_and_its_neighbours_are_unharmed(
    impatient, live, monkeypatch
):
    for name, script in LOST.items():
        live.put(f"/{name}", SHELL.format(name, script))
    for name, script in HOSTILE.items():
        live.add_handler(f"/{name}", once_all_are_lost(live, SHELL.format(name, script)))
    live.put("/begun")
    live.put("/file.bin", "kept", kind="application/octet-stream")
    sent = Counter[str]()
    for path in ("/huge", "/told"):
        live.add_handler(path, sending_a_gigabyte(sent))
    live.add_handler("/events", events)
    urls = {name: live.url(f"/{name}") for name in LOST | HOSTILE}
    await impatient.queue(live.article("first"))
    await impatient.run()  # a host gets one request until it has responded
    await impatient.queue(*urls.values())

    with monkeypatch.context() as patch:
        patch.setattr(browser_rendering, "PAGE_SECONDS", LOST_SECONDS)
        running = asyncio.create_task(impatient.run())
        await until_all_are_lost(live)
    await running

    results = {name: await outcome_of(impatient, url) for name, url in urls.items()}
    assert results == dict.fromkeys(HOSTILE, (Rendering.DONE, True)) | dict.fromkeys(
        LOST, (Rendering.NEEDED, False)
    )
    limits = {name: await limits_of(impatient, urls[name]) for name in urls}
    assert {name: limits[name] for name in MET if not MET[name] & limits[name]} == {}
    assert {name for name in limits if Limit.REQUESTS in limits[name]} == {"many"}
    assert live.requests["/whole"] == 0
    assert {*sent} == {"/huge", "/told"}
    assert max(sent.values()) <= 2 * (MAX_BODY + BUFFERS)  # a page may be rendered twice
    # A download, requested again when the page is rendered a second time.
    assert {*await captures_of(impatient, live.url("/file.bin"))} == {b"kept"}
    assert sum(times for path, times in live.requests.items() if path.startswith("/one?")) <= 40


async def captures_of(crawl, url):
    """Return the captures of a URL, one for each stored copy."""
    async with crawl.context.db.read() as conn:
        rows = [each for each in await captures.of_url(conn, url, limit=9) if not each.is_revisit]
    blocks = [crawl.context.store.read(each.location).block.read() for each in rows]
    return [each.partition(b"\r\n\r\n")[2] for each in blocks]


async def limits_of(crawl, url):
    """Return the limits that the snapshot of a page recorded."""
    async with crawl.context.db.read() as conn:
        number, _ = await entries.by_hash(conn, hash_url(url))
        (row,) = await snapshots.of_entry(conn, number, limit=9)
    return {*row.snapshot.limits}


async def outcome_of(crawl, url):
    """Return how a page was rendered, and whether its text is in the rendered copy."""
    context = crawl.context
    async with context.db.read() as conn:
        number, entry = await entries.by_hash(conn, hash_url(url))
        rows = await snapshots.of_entry(conn, number, limit=9)
        rendition_kinds = await screenshots.of_snapshots(conn, [each.row_id for each in rows])
    if not rows:
        return entry.failure, False
    places = [
        each.location for many in rendition_kinds.values() for each in many if each.kind == "page"
    ]
    stood = b"".join(context.store.read(each).block.read() for each in places)
    return entry.rendering, b"by a page that did its worst" in stood
