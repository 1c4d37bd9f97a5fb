"""What a response unpacks to is read as far as it can be a page."""

import gzip

from aiohttp import web

from archiver.crawl.obtain import BOMB_BYTES, fetch


def packed(live, path, content):
    """A page that is sent with gzip; returns its URL."""

    async def answer(_request):
        body = gzip.compress(content)
        return web.Response(
            body=body, headers={"Content-Encoding": "gzip"}, content_type="text/html"
        )

    return live.answer(path, answer)


async def obtained(crawl, url):
    async with crawl.recording():
        return await fetch(crawl.tools, url)


async def test_of_what_unpacks_to_far_more_than_a_page_does_only_the_start_is_read(crawl, live):
    url = packed(live, "/bomb", b"<title>x</title>" + b"a" * (8 << 20))

    assert len((await obtained(crawl, url)).content) == BOMB_BYTES


async def test_a_large_page_that_packs_as_pages_do_is_read_whole(crawl, live):
    rows = b"".join(b"<tr><td>%d<td>%x</tr>" % (n, n * n) for n in range(80_000))
    url = packed(live, "/table", rows)

    assert (await obtained(crawl, url)).content == rows
    assert len(rows) > BOMB_BYTES
