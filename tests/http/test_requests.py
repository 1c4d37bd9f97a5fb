"""Requests are written as by aiohttp, and sent to the host of their URL."""

from itertools import product

import aiohttp
import pytest
from yarl import URL

from archiver.errors import FetchError
from archiver.http.address_guard import AddressGuard
from archiver.http.fetcher import Fetcher
from archiver.http.requests import OutgoingRequest, Requests
from archiver.model.failure import FailureKind
from tests.http.test_fetcher import failure, raw_server, settings

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
HEADERS = [(), (("Referer", "http://a.example/b?c"),), (("X", "y"),)]
PATHS = ["/", "/a?b=%20c&d", "/a?", "/a??", "/%C3%A4;x=1?q=%3F", "/a//b/:@!$&'()*+,"]


async def test_requests_equal_those_of_aiohttp():
    async with (
        raw_server(dict.fromkeys([*PATHS, "/a"], ANSWER)) as (port, received),
        Fetcher(settings()) as fetcher,
        aiohttp.ClientSession() as session,
    ):
        for path, headers in product(PATHS, HEADERS):
            url = f"http://127.0.0.1:{port}{path}"
            (await fetcher.fetch(OutgoingRequest(url, headers=headers))).body.close()
            lines = received[-1].decode().split("\r\n")[2:6]
            common = dict(line.split(": ", 1) for line in lines)
            address = URL(url, encoded=True)
            (await session.get(address, headers=common | dict(headers))).close()

            assert received[-2] == received[-1]


async def test_credentials_in_a_url_are_never_sent():
    async with raw_server({"/": ANSWER}) as (port, received), Fetcher(settings()) as fetcher:
        (await fetcher.fetch(OutgoingRequest(f"http://ann:secret@127.0.0.1:{port}/"))).body.close()

    assert b"Authorization" not in received[0]
    assert b"ann" not in received[0]


async def test_header_fields_of_the_browser_are_sent_unchanged():
    came = "é".encode().decode("latin-1")
    headers = (("X-A", came), ("X-B", "\xe9"))
    async with raw_server({"/": ANSWER}) as (port, received), Fetcher(settings()) as fetcher:
        url = f"http://127.0.0.1:{port}/"
        for is_browser in (True, False):
            request = OutgoingRequest(url, headers=headers, is_browser=is_browser)
            (await fetcher.fetch(request)).body.close()

    assert b"\r\nX-A: \xc3\xa9\r\nX-B: \xe9\r\n" in received[0]
    assert b"\r\nX-B: \xc3\xa9\r\n" in received[1]


async def test_user_cookies_come_before_cookies_of_the_browser():
    request = OutgoingRequest("http://a.example/", headers=(("Cookie", "b=\xe9"),), is_browser=True)

    head = Requests(AddressGuard(()), {}).head(request, "a=日")

    assert b"\r\nCookie: a=\xe6\x97\xa5; b=\xe9\r\n" in head


@pytest.mark.parametrize(
    "url", ["http:///a", "ftp://a/", "http://127.0.0.1:1/a b", "http://127.0.0.1:1/a\r\nX: y"]
)
async def test_urls_that_are_not_http_are_not_requested(url):
    assert await failure(url, settings()) is FailureKind.INVALID_URL


@pytest.mark.parametrize("name", ["Referer", "X-Other"])
async def test_a_header_field_with_a_line_end_is_refused(name):
    async with raw_server({"/": ANSWER}) as (port, received), Fetcher(settings()) as fetcher:
        request = OutgoingRequest(f"http://127.0.0.1:{port}/", headers=((name, "a\r\nX: y"),))
        with pytest.raises(FetchError) as raised:
            await fetcher.fetch(request)

    assert raised.value.failure.kind is FailureKind.INVALID_URL
    assert received == []
