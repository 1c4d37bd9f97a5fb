"""Compressed responses are decompressed up to the size limit of a page."""

import gzip
from dataclasses import replace

import brotli
import pytest
from aiohttp import web

from archiver.config import Settings
from archiver.crawl.fetch import BOMB_BYTES, fetch
from archiver.errors import FetchError
from archiver.http.politeness import Throttle
from archiver.http.requests import OutgoingRequest
from archiver.http.urls import host
from archiver.model.failure import FailureKind
from archiver.model.job import State


def packed(live, path, content):
    """Serve a page with gzip; return its URL."""

    async def answer(_request):
        body = gzip.compress(content)
        return web.Response(
            body=body, headers={"Content-Encoding": "gzip"}, content_type="text/html"
        )

    return live.add_handler(path, answer)


async def obtained(crawl, url):
    async with crawl.recording():
        return await fetch(crawl.context, OutgoingRequest(url))


async def test_only_the_start_of_a_decompression_bomb_is_read(crawl, live):
    url = packed(live, "/bomb", b"<title>x</title>" + b"a" * (8 << 20))

    assert len((await obtained(crawl, url)).content) == BOMB_BYTES


async def test_a_large_page_with_a_usual_compression_ratio_is_read_whole(crawl, live):
    rows = b"".join(b"<tr><td>%d<td>%x</tr>" % (n, n * n) for n in range(80_000))
    url = packed(live, "/table", rows)

    assert (await obtained(crawl, url)).content == rows
    assert len(rows) > BOMB_BYTES


async def test_a_started_visit_does_not_wait_for_a_paused_host(crawl, live):
    crawl.context.throttle.pause(host(live.url("/")), 3600)

    with pytest.raises(FetchError) as raised:
        await obtained(crawl, live.article("foxes"))

    assert raised.value.failure.kind is FailureKind.RESTING
    assert raised.value.failure.transient


async def test_pages_are_requested_with_a_delay_after_the_previous_request(crawl, live):
    now, times = [100.0], []

    async def sleep(seconds):
        now[0] += seconds

    async def answer(_request):
        times.append(now[0])
        return web.Response(text="here")

    url = live.add_handler("/page", answer)
    polite = Throttle(Settings(host_delay=2), lambda: now[0], sleep)
    async with polite.slot(host(url)) as slot:
        now[0] += 5  # the connection takes this long
        async with slot.sending():
            pass
    async with crawl.recording():
        await fetch(replace(crawl.context, throttle=polite), OutgoingRequest(url), is_page=True)

    assert times == [107]


async def test_codings_in_several_fields_are_undone_in_order(crawl, live):
    async def answer(_):
        body = gzip.compress(brotli.compress(b"<title>kites</title>"))
        fields = [("Content-Encoding", "br"), ("Content-Encoding", "gzip")]
        return web.Response(body=body, headers=fields, content_type="text/html")

    assert (await obtained(crawl, live.add_handler("/", answer))).content == b"<title>kites</title>"


async def test_a_capture_has_the_type_that_its_content_shows(crawl, live):
    url = live.put("/paper", "%PDF-1.4 kites", kind="binary/octet-stream")

    result = await obtained(crawl, url)

    assert result.media_type == result.ref.media_type == "application/pdf"
    assert result.content


async def test_a_redirect_without_a_target_is_shown(crawl, live):
    await crawl.queue(live.put("/kites", "<title>Kites</title><p>Here.", status=302))
    await crawl.run()

    assert [each.state for each in await crawl.jobs()] == [State.SAVED]


async def test_a_page_that_is_larger_than_replay_decodes_is_marked_as_cut(start_crawl, live):
    url = packed(live, "/large", b"<title>x</title>" + bytes(range(97, 123)) * 100_000)
    async with start_crawl(max_decoded_bytes=1 << 20) as crawl:
        assert (await obtained(crawl, url)).is_cut
    async with start_crawl() as crawl:
        assert not (await obtained(crawl, url)).is_cut
