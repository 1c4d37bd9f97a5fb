"""Links of the service lead to existing pages, and no request causes a status 500.

Each example is a request on a socket to a running service over a real archive.
"""

import asyncio
import json
import re
from html import unescape

from archiver.http.urls import hash_url, parse_url
from tests.prepared_archives import import_warc
from tests.warcs import Warc


async def ask(client, target: str) -> tuple[int, str, str]:
    """Return status, header and body of a request with a raw request line."""
    reader, writer = await asyncio.open_connection("127.0.0.1", client.port)
    lines = (f"GET {target} HTTP/1.1", "Host: localhost", "Connection: close", "", "")
    writer.write("\r\n".join(lines).encode())
    answer = (await reader.read()).decode("utf-8", "replace")
    writer.close()
    head, _, body = answer.partition("\r\n\r\n")
    return int(answer.split(" ", 2)[1]), head, body


ADDRESSES = [
    "http://a.example/a%0Ab",
    "http://a.example:81/%5C%5B%23%3F%20?a=b&c=d%26",
    "http://[::1]/~t/%ff%zz",
    "http://a_b.example/{}|^'$(),",
    "https://a.example./http://b.example/2020id_/",
]


def hrefs(body: str, start: str) -> list[str]:
    return [unescape(each) for each in re.findall(rf'href="({re.escape(start)}[^"]*)"', body)]


async def test_every_linked_replay_address_parses_to_its_url(client, runtime):
    urls = [parse_url(each) for each in ADDRESSES]
    made = Warc()
    for url in urls:
        made.response(url, b"<title>herons</title><p>words about herons", "text/html")
    await import_warc(runtime, made.bytes)

    for url in urls:
        status, _, body = await ask(client, f"/{hash_url(url)}/")
        assert status == 200, url
        assert f"<code>{url}</code>" in unescape(body)
        (stored,) = hrefs(body, "/web/2")
        (every,) = hrefs(body, "/web/*")
        status, _, body = await ask(client, every)
        assert (status, f"<code>{url}</code>" in unescape(body)) == (200, True), url
        (listed,) = {each for each in hrefs(body, "/web/2") if each.endswith(f"/{url}")}
        framed = stored.replace("id_/", "if_/", 1)
        for address in (stored, listed, framed, f"/web/{url}", f"/timegate/{url}"):
            assert await led_to(client, address) == url, address
        for form in ("link", "json"):
            status, _, body = await ask(client, f"/timemap/{form}/{url}")
            written = json.dumps(url)[1:-1] if form == "json" else url
            assert (status, written in body) == (200, True), url


async def led_to(client, address: str) -> str:
    """Return the original URL of a memento, following redirects."""
    for _ in range(3):
        status, head, _ = await ask(client, address)
        if status != 302:
            assert status == 200, address
            return re.search(r'Link: <([^>]*)>; rel="original"', head)[1]
        location = re.search(r"Location: (?:http://localhost)?(\S+)", head)[1]
        address = location
    raise AssertionError(address)
