"""Any request to any route gets a usable response, and the service keeps running."""

import asyncio
import contextlib
import gzip
import json
import logging
import re
from base64 import urlsafe_b64encode
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote_from_bytes, urlencode

import pytest
from aiohttp.test_utils import TestClient
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from archiver.app import open_app
from archiver.config import Settings
from archiver.http.urls import hash_url
from archiver.web.app import build_app
from archiver.web.client_limits import ServerLimits
from archiver.web.routes import ROUTES
from tests.prepared_archives import import_warc
from tests.warcs import Warc
from tests.web.conftest import BoundedTestServer

# aiohttp warns about input that it ignores.
pytestmark = [
    pytest.mark.filterwarnings(f"ignore::aiohttp.BadContentDisposition{what}")
    for what in ("Header", "Param")
]
MANY = settings(
    max_examples=50,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
PATIENCE = 30
"""Seconds after which a missing response counts as a hang; the service has shorter limits here."""
LIMITS = ServerLimits(head_seconds=10, body_seconds=10, upload_seconds=10)
ALWAYS = ("X-Content-Type-Options", "Content-Security-Policy", "Referrer-Policy", "X-Robots-Tag")
DOCUMENTED = {502, 503}
PLAIN = ("/healthz", "/metrics", "/static/", "/cdx", "/web/cdx")
PAGE = "http://a.example/page"
MOMENT = "20200102030405"
T = TypeVar("T")
_VARIABLE = re.compile(r"\{(\w+)(?::((?:[^{}]|\{[^{}]*\})*))?\}")

ODD = st.sampled_from(
    "%00 %zz % %2 %C0%AF %ED%A0%80 %ff .. . %2e%2e %2E/ // %2f %5c \\ ~ ~x/ * */ %0d%0aX:%20y "
    "%u0041 é \x80 \x7f %25 %2525 ; ? ?? # + & = [ ] { } | ^ ` ' \" < > @ : :80 $ ( ) , 0 -1 1e3 ٣ "
    "http:// https%3A%2F%2F data: javascript:1 2020id_/ 99999999999999 00000000000000 "
    "index.md".split(" ")
)  # fmt: skip
LONG = st.sampled_from([1000, 9000, 40_000]).map(lambda size: "a" * size)
TEXT = st.text(max_size=20) | st.sampled_from(
    ["9" * 30, "-1", "0", "1e3", "٣", "\0", "٩" * 30, "a b", '"', "*", "(", "NEAR/3", "tag:", "1,2"]
)
BYTES = st.binary(max_size=12).map(quote_from_bytes)


def cursor_of(text: str) -> str:
    return urlsafe_b64encode(text.encode()).decode().rstrip("=")


CURSORS = st.from_regex(r"[0-9]{0,40}\.?[0-9]{0,40}", fullmatch=True).map(cursor_of)
VALUES = (
    (TEXT | CURSORS).map(lambda text: quote_from_bytes(text.encode("utf-8", "surrogatepass")))
    | BYTES
    | st.from_regex(r"[!-~]{0,12}", fullmatch=True).map(lambda text: text.replace("#", ""))
    | st.sampled_from([MOMENT, PAGE, "2020", "2020-01-01T00:00:00Z", "9999", "0001"])
)
NAMES = st.sampled_from(
    "q tag host status sort after limit at jobs ids import next name url from to matchType "
    "output fl closest page pageSize filter collapse offset timestamp showNumPages resumeKey gzip "
    "showResumeKey showDupeCount tags password".split()
)
QUERIES = st.lists(st.tuples(NAMES, VALUES), max_size=5).map(
    lambda pairs: "&".join(f"{name}={value}" for name, value in pairs)
)

_CHOICES = re.compile(r"[\w.\\]+(?:\|[\w.\\]+)+")
"""Pattern of a variable that lists its values, such as ``pause|resume``."""

_FITTING = {
    "hash_url": st.just(hash_url(PAGE)) | st.just("0" * 32),
    "digest": st.just("0" * 32),
    "timestamp": st.sampled_from([MOMENT, "0" * 14, "9" * 14, "2020", "20209999999999"]),
    "id": st.sampled_from(["1", "0", "9" * 18]),
    "url": st.sampled_from(
        [PAGE, f"{MOMENT}/{PAGE}", f"{MOMENT}id_/{PAGE}", f"2020/{PAGE}", f"*/{PAGE}", "x", ""]
    )
    | st.lists(ODD | BYTES, max_size=4).map(lambda parts: f"{MOMENT}/{PAGE}" + "".join(parts)),
    "version": st.just("0123"),
    "host": st.just("a.example"),
    "token": st.just("0" * 32),
    "banner": st.text("0123456789abcdef", min_size=16, max_size=16),
    "name": st.sampled_from(["pages.css", "progress.js", "none"]),
}
_ODD_PART = st.lists(ODD | BYTES, min_size=1, max_size=4).map("".join) | LONG


def paths_of(template: str) -> st.SearchStrategy[str]:
    """Paths that match a route, and similar ones."""
    parts: list[st.SearchStrategy[str]] = []
    at = 0
    for match in _VARIABLE.finditer(template):
        parts.append(st.just(template[at : match.start()]))
        pattern = match[2] or ""
        fitting = (
            st.sampled_from(pattern.replace("\\", "").split("|"))
            if _CHOICES.fullmatch(pattern)
            else _FITTING[match[1]]
        )
        parts.append(_mostly(fitting, _ODD_PART))
        at = match.end()
    tail = template[at:]
    parts.append(_mostly(st.just(tail), _ODD_PART.map(tail.__add__)))
    return st.tuples(*parts).map("".join)


def _mostly(usual: st.SearchStrategy[T], other: st.SearchStrategy[T]) -> st.SearchStrategy[T]:
    return st.integers(0, 5).flatmap(lambda each: usual if each else other)


METHODS = st.sampled_from("GET HEAD POST PUT PATCH DELETE OPTIONS TRACE CONNECT get Q PRI".split())
_RANGES = ["bytes=0-", "bytes=-1", "bytes=5-1", "bytes=0-0,2-3", "bytes=" + "9" * 30 + "-", "x=1"]
_TAGS = ["*", '"x"', 'W/"x"', '"', 'W/"', ", ,", '"a", "b"', "\xff"]
_DATES = ["Thu, 02 Jan 2020 03:04:05 GMT", "Thu, 99 Jan 2020", "0", "-1", "31 Dec 9999", "\xe9"]
_KNOWN = {
    "Range": _RANGES,
    "If-Range": _TAGS + _DATES,
    "If-Match": _TAGS,
    "If-None-Match": _TAGS,
    "If-Modified-Since": _DATES,
    "If-Unmodified-Since": _DATES,
    "Accept": ["*/*", "text/html;q=nan", ";;;", "application/json"],
    "Accept-Encoding": ["br", "gzip;q=2", "*;q=0", "identity;q=0", ",,,", "gzip, br", "\xff"],
    "Accept-Datetime": _DATES,
    "Accept-Language": ["*", "q=;q", "\xff"],
    "Cookie": ["archiver_session=", "archiver_session=9.x.y", "a=b; a=c", '"', "=", "x" * 5000],
    "Authorization": ["Bearer", "Basic Og==", "Basic \xff", "Bearer wrong", "Digest x"],
    "Origin": ["null", "http://localhost", "http://evil.example", "http://[", "\xff"],
    "Referer": ["http://[", "x"],
    "Sec-Fetch-Site": ["same-origin", "cross-site", "none", "x"],
    "Sec-Fetch-Dest": ["document", "iframe", "font", "empty", "\xff"],
    "Expect": ["100-continue", "x"],
    "X-Forwarded-Proto": ["https", "x"],
    "Upgrade": ["websocket", "h2c"],
    "Connection": ["upgrade", "keep-alive, x"],
    "Host": [
        "localhost",
        "LOCALHOST.:80",
        "127.0.0.1",
        "[::1]",
        "x.localhost",
        "evil.example",
        "",
        "[",
        "[::1]:99999",
        "localhost:x",
        "a b",
    ],
    "TE": ["trailers"],
}
LATIN = st.text(
    st.characters(codec="latin-1", exclude_characters="\r\n\0", exclude_categories=()), max_size=12
)


def _value_of(name: str) -> st.SearchStrategy[str]:
    return _mostly(st.sampled_from(_KNOWN[name]), LATIN)


HEADERS = st.lists(
    st.sampled_from(sorted(_KNOWN)).flatmap(lambda name: st.tuples(st.just(name), _value_of(name))),
    max_size=4,
)
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=8,
)
_SAVES = st.fixed_dictionaries(
    {"urls": st.lists(TEXT | st.just(PAGE), max_size=3) | _JSON},
    optional={"tags": st.lists(TEXT, max_size=3) | _JSON, "more": _JSON},
)
_BROKEN = [b"{", b"[" * 20_000, b'{"urls":["\\ud800"]}', b"\xff", b'{"urls":[1e999]}', b"nul"]
_JSON_BODIES = (_SAVES | _JSON).map(lambda each: json.dumps(each).encode()) | st.sampled_from(
    _BROKEN
)
_TYPES = st.sampled_from(
    ["application/json", "application/x-www-form-urlencoded", "text/plain", "", "a/b;c", "\xff",
     "application/x-www-form-urlencoded; charset=utf-7", "application/json; charset=utf-16",
     "application/octet-stream", "multipart/form-data", "multipart/form-data; boundary=",
     "multipart/mixed; boundary=b", "multipart/form-data; boundary=" + "b" * 80]
)  # fmt: skip
_LINES = st.sampled_from(
    [b"--b\r\n", b"--b--\r\n", b"\r\n", b"--b", b"\n", b"x", b"--b\r\n\r\n", b"--c\r\n", b"\0",
     b'Content-Disposition: form-data; name="file"; filename="a.html"\r\n',
     b'Content-Disposition: form-data; name="file"; filename="a.warc.gz"\r\n',
     b"Content-Disposition: form-data; name*=utf-8''%ff; filename*=x'y'z\r\n",
     b"Content-Type: multipart/mixed; boundary=c\r\n", b"Content-Transfer-Encoding: base64\r\n",
     b"Content-Encoding: gzip\r\n", b"Content-Transfer-Encoding: x\r\n", b"Content-Length: 3\r\n",
     b"Content-Length: -1\r\n", b"a" * 9000 + b": b\r\n", b'<DT><A HREF="http://a.example/">x']
)  # fmt: skip


def forms() -> st.SearchStrategy[bytes]:
    """Forms, some of them malformed."""
    fields = st.lists(st.tuples(NAMES, TEXT | st.just(PAGE)), max_size=4)
    named = fields.map(lambda pairs: urlencode(pairs, errors="surrogatepass").encode())
    return named | BYTES.map(lambda text: f"url={text}&%=%&&=".encode())


_FORM = st.just("application/x-www-form-urlencoded")
_MULTIPART = st.tuples(
    st.lists(_LINES | st.binary(max_size=8), max_size=8).map(b"".join),
    st.just("multipart/form-data; boundary=b"),
)


def bodies(target: str) -> st.SearchStrategy[tuple[bytes, str]]:
    """Return (content, media type) of bodies for a target, mostly suitable ones."""
    suitable = {
        "/api/v1/entries": st.tuples(_JSON_BODIES, st.just("application/json")),
        "/api/v1/imports": _MULTIPART
        | st.tuples(st.binary(max_size=40), st.just("application/octet-stream")),
        "/import": _MULTIPART,
    }
    other = st.tuples(_JSON_BODIES | forms() | st.binary(max_size=40), _TYPES)
    return _mostly(suitable.get(target, st.tuples(forms(), _FORM)), other)


def asked() -> st.SearchStrategy[tuple[str, str]]:
    """A method and a target, mostly of a route; fails if a route has an unknown variable."""
    routes = sorted({(route.method, route.path) for route in ROUTES})
    return st.one_of(
        st.tuples(st.sampled_from([method] * 6 + ["HEAD"]) | METHODS, paths_of(path))
        for method, path in routes
    )


GET = b"GET / HTTP/1.1\r\nHost: localhost\r\n"
POST = b"POST /add HTTP/1.1\r\nHost: localhost\r\n"
NEXT = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
HOST = b"Host: localhost\r\n"
CHUNKED = b"Transfer-Encoding: chunked\r\n"
SHAPES = {
    "length and chunks": POST + b"Content-Length: 4\r\n" + CHUNKED + b"\r\n0\r\n\r\n",
    "two lengths": POST + b"Content-Length: 0\r\nContent-Length: 62\r\n\r\n",
    "lengths in a list": POST + b"Content-Length: 0, 62\r\n\r\n",
    "a length with a sign": POST + b"Content-Length: +0\r\n\r\n",
    "a length below nothing": POST + b"Content-Length: -1\r\n\r\n",
    "chunked and not last": POST + b"Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
    "a space before the colon": POST + b"Content-Length : 62\r\n\r\n",
    "a folded line": GET + b"X: a\r\n Content-Length: 62\r\n\r\n",
    "bare line feeds": b"GET / HTTP/1.1\nHost: localhost\n\n",
    "a return in a field": GET + b"X: a\rContent-Length: 62\r\n\r\n",
    "a nul in a field": GET + b"X: a\0b\r\n\r\n",
    "a space in the target": b"GET /a b HTTP/1.1\r\n" + HOST + b"\r\n",
    "two hosts": GET + b"Host: evil.example\r\n\r\n",
    "no host": b"GET / HTTP/1.1\r\n\r\n",
    "a star": b"GET * HTTP/1.1\r\n" + HOST + b"\r\n",
    "a hello of TLS": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\0" * 64,
    "a chunk that is too short": POST + CHUNKED + b"\r\n1\r\nab\r\n0\r\n\r\n",
    "a chunk beyond all": POST + CHUNKED + b"\r\n" + b"f" * 17 + b"\r\n\r\n",
    "a chunk with a bare line feed": POST + CHUNKED + b"\r\n0\n\n",
}
"""Invalid requests, and requests with an ambiguous end."""
ELSEWHERE = b"GET http://evil.example/ HTTP/1.1\r\nHost: localhost\r\n\r\n"
"""Well-formed requests for missing pages."""


async def keep_one_page(data: Path) -> None:
    """An archive of one page, at ``PAGE``."""
    warc = Warc()
    warc.response(PAGE, b"<title>herons</title><p>words about herons", "text/html")
    async with open_app(Settings(data=data)) as runtime:
        await import_warc(runtime, warc.bytes)


@dataclass(frozen=True)
class Heard:
    status: int
    head: str
    body: bytes

    @property
    def content(self) -> bytes:
        coding = self.header("Content-Encoding")
        return {"gzip": gzip.decompress, "": bytes}[coding](self.body)

    def header(self, name: str) -> str:
        match = re.search(rf"(?im)^{name}:[ \t]*(.*?)\r?$", self.head)
        return match[1] if match else ""


@pytest.fixture
async def client(prepared, tmp_path) -> AsyncIterator[TestClient]:
    await prepared.copy(keep_one_page, tmp_path / "data")
    async with open_app(Settings(data=tmp_path / "data")) as runtime:
        server = BoundedTestServer(build_app(runtime, limits=LIMITS), skip_url_asserts=True)
        async with TestClient(server) as client:
            yield client


async def send(client: TestClient, raw: bytes) -> list[Heard]:
    """Return all responses on a connection; none if it was closed."""
    heard = b""
    async with asyncio.timeout(PATIENCE):
        reader, writer = await asyncio.open_connection("127.0.0.1", client.port)
        with contextlib.suppress(ConnectionError):
            writer.write(raw)
            while (piece := await reader.read(1 << 16)) and b"text/event-stream" not in heard:
                heard += piece
        writer.close()
    return answers(heard)


def answers(heard: bytes) -> list[Heard]:
    results = []
    while heard:
        head, _, tail = heard.partition(b"\r\n\r\n")
        text = head.decode("latin-1")
        assert text.startswith(("HTTP/1.1 ", "HTTP/1.0 ")), heard[:200]
        one = Heard(int(text.split(" ", 2)[1]), text, b"")
        length = one.header("Content-Length")
        if one.status == 100:
            heard = tail
            continue
        size = min(int(length), len(tail)) if length else len(tail)
        if tail.startswith(b"HTTP/1."):  # response to HEAD
            size = 0
        results.append(Heard(one.status, text, tail[:size]))
        heard = tail[size:]
    return results


def check(heard: Heard, method: str, target: str) -> None:
    assert heard.status < 500 or heard.status in DOCUMENTED, heard
    for name in ALWAYS:
        assert heard.header(name), (name, heard.head)
    assert heard.header("X-Content-Type-Options") == "nosniff"
    assert heard.header("Server") == "archiver"
    if heard.status >= 400 and method != "HEAD":
        # The target of CONNECT is not a path (RFC 9110 §9.3.6).
        check_error(heard, "" if method == "CONNECT" else target)


def check_error(heard: Heard, target: str) -> None:
    kind = heard.header("Content-Type").partition(";")[0]
    if heard.body.startswith(b"The request is invalid"):
        assert (heard.status, kind) == (400, "text/plain")
        return
    if heard.status == 417:  # an unknown expectation at an unknown address
        return
    if target.startswith("/api/"):
        (error,) = json.loads(heard.content).values()
        assert sorted(error) == ["code", "message"]
        assert error["message"]
        assert kind == "application/json"
    elif target.startswith(PLAIN):
        assert kind in ("text/plain", "application/json", "text/html"), heard
    elif heard.header("Memento-Datetime") or re.match(r"/web/.*\d(im|cs|js)_/", target):
        pass  # nothing to check
    else:
        assert kind == "text/html", heard
        assert b"<h1" in heard.content, heard


async def check_health(client: TestClient) -> None:
    (heard,) = await send(
        client, b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    )
    assert (heard.status, heard.body.decode()) == (200, "ok\n")


@MANY
@given(data=st.data())
async def test_any_raw_request_gets_a_response(client, data):
    method, target = data.draw(asked())
    query, headers = data.draw(QUERIES), dict(data.draw(HEADERS))
    has_body = method not in ("GET", "HEAD") or data.draw(st.integers(0, 9)) == 0
    content, media_type = data.draw(bodies(target)) if has_body else (b"", "")
    fields = {"Host": "localhost", "Content-Type": media_type, **headers, "Connection": "close"}
    fields["Content-Length"] = str(len(content))
    lines = [f"{name}: {value}" for name, value in fields.items() if value or name == "Host"]
    head = [f"{method} {target}{'?' if query else ''}{query} HTTP/1.1", *lines, "", ""]

    heard = await send(client, "\r\n".join(head).encode("utf-8", "surrogatepass") + content)

    for each in heard:
        check(each, method, target)
    await check_health(client)
    assert heard


async def test_no_request_can_smuggle_another(client, caplog):
    """If programs may disagree on the end of a request, nothing after it is processed."""
    for shape, raw in SHAPES.items():
        heard = await send(client, raw + NEXT)

        assert [each.status for each in heard] == [400], (shape, heard)
        check(heard[0], "POST", "")
    assert [each for each in caplog.records if each.levelno >= logging.WARNING] == []
    await check_health(client)


async def test_a_request_for_an_unknown_path_keeps_the_connection(client):
    heard = await send(client, ELSEWHERE + NEXT)

    assert [each.status for each in heard] == [400, 200]
