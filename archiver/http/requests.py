"""Outgoing HTTP requests and their bytes.

A request goes into the archive as it is sent, so it is put together here, once, for both.
"""

import asyncio
import re
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from io import BytesIO

from aiohttp import ClientRequest, InvalidURL, hdrs
from multidict import CIMultiDict
from yarl import URL

from archiver.http.address_guard import AddressGuard, BlockedAddressError

_OWN = frozenset({"none", "same-origin", "same-site"})


def led_on(led_by: frozenset[str], hosts: frozenset[str]) -> frozenset[str]:
    """The hosts that lead to a request once these do, too; what nobody asked for stays so.

    >>> led_on(frozenset(), frozenset({"a.example"}))
    frozenset()
    """
    return led_by | hosts if led_by else led_by


@dataclass(frozen=True, slots=True)
class Outgoing:
    """One request.

    Attributes:
        url: serialised http(s) URL without fragment.
        method: as RFC 9110 §9 has it.
        headers: (name, value) in order. Of a browser's request they are all there are.
        body: its content.
        is_browser: whether a browser says what the headers are, and how long it waits.
        led_by: the hosts that led to it, from the one that a person asked for a page: what of their
            cookies goes with it hangs on all of them. Empty where nobody's cookies are to go.
    """

    url: str
    method: str = "GET"
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    is_browser: bool = False
    led_by: frozenset[str] = frozenset()

    @property
    def is_own_site(self) -> bool:
        """Whether no page of another site asks: a browser's request must itself say so.

        A page could otherwise have what is shown to a person sent to itself: the browser does not
        know of the cookies that are given beside it, and lets it read what is for everybody.
        """
        return self._site in _OWN

    @property
    def is_navigation(self) -> bool:
        """Whether the browser's own address leads there, or a redirect from it: no page does."""
        return self._site == "none"

    @property
    def _site(self) -> str:
        wanted = "sec-fetch-site"
        return next((value for name, value in self.headers if name.lower() == wanted), "")


REMEMBERED = 4096
_URL = re.compile(r"(https?://[^/?#]*)([^#\0-\x20\x7f]*)")
_FORBIDDEN = re.compile(r"[\r\n\0]")
_AUTOMATIC = (hdrs.USER_AGENT, hdrs.ACCEPT, hdrs.ACCEPT_ENCODING, hdrs.CONTENT_TYPE)
"""Fields that aiohttp adds where a request has none: a browser's has what it has."""
_IN_ORDER = frozenset({"referer"})
"""Fields that only follow the others, whatever else there is."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where requests go.

    Attributes:
        request: by which aiohttp finds a connection, or makes one.
        fields: of the head of a request without any of its own.
    """

    request: ClientRequest
    fields: str


class Requests:
    """Puts requests into bytes.

    Args:
        guard: says which addresses may be written in a URL.
        fields: that all have but a browser's, unless they have others in their place.
    """

    def __init__(self, guard: AddressGuard, fields: Mapping[str, str]) -> None:
        self._guard = guard
        self._fields = dict(fields)
        self._origins: dict[str, Origin] = {}

    def origin_of(self, url: str) -> Origin:
        """Where a request for a URL goes.

        Raises:
            BlockedAddressError: its host is an address that may not be connected to.
            InvalidURL: it has none.
        """
        return self._origin(_split(url)[0])

    def head(self, asked: Outgoing, cookies: str = "") -> bytes:
        """The head of a request.

        Args:
            asked: what for.
            cookies: that a person gave for it.

        Raises:
            ValueError: it can't be written.
        """
        is_plain = asked.method == "GET" and not (asked.is_browser or asked.body or cookies)
        if not is_plain or any(name.lower() not in _IN_ORDER for name, _ in asked.headers):
            return _written(self._request(asked, cookies), _encoding(asked))
        origin, target = _split(asked.url)
        own = "".join(f"{name}: {value}\r\n" for name, value in asked.headers)
        if own and any(_FORBIDDEN.search(value) for _, value in asked.headers):
            raise ValueError("A field holds the end of a line.")
        return f"GET {target} HTTP/1.1\r\n{self._origin(origin).fields}{own}\r\n".encode()

    def _origin(self, origin: str) -> Origin:
        known = self._origins.get(origin)
        if known is None:
            request = self._request(Outgoing(f"{origin}/"))
            self._check_literal(request.url)
            fields = _written(request).decode().partition("\r\n")[2].removesuffix("\r\n")
            if len(self._origins) >= REMEMBERED:
                self._origins.clear()
            known = self._origins[origin] = Origin(request, fields)
        return known

    def _request(self, asked: Outgoing, cookies: str = "") -> ClientRequest:
        url = URL(asked.url, encoded=True)
        if not url.raw_host:
            raise InvalidURL(asked.url)
        given = CIMultiDict(asked.headers)
        if cookies:  # what a person gave goes before what a page had set
            own = cookies.encode().decode(_encoding(asked))
            given[hdrs.COOKIE] = "; ".join((own, *given.popall(hdrs.COOKIE, [])))
        fields = CIMultiDict({} if asked.is_browser else self._fields)
        for name in {name.lower(): name for name in given}.values():
            fields[name] = given[name]
            for more in given.getall(name)[1:]:
                fields.add(name, more)
        if url.user is not None or url.password is not None:
            secret = f"{url.user or ''}:{url.password or ''}".encode("latin-1")
            fields.setdefault(hdrs.AUTHORIZATION, f"Basic {b64encode(secret).decode()}")
        return ClientRequest(
            asked.method,
            url.with_user(None),
            headers=fields,
            skip_auto_headers=_AUTOMATIC if asked.is_browser else None,
            data=BytesIO(asked.body) if asked.body else None,
            loop=asyncio.get_running_loop(),
        )

    def _check_literal(self, url: URL) -> None:
        """Names go through the resolver; addresses written as such do not."""
        name = url.raw_host or ""
        is_literal = ":" in name or name.replace(".", "").isdecimal()
        if is_literal and not self._guard.permits(name):
            raise BlockedAddressError(name, name)


def _split(url: str) -> tuple[str, str]:
    """(origin, what is asked for there)."""
    found = _URL.fullmatch(url)
    if found is None:
        raise InvalidURL(url)
    origin, target = found.groups()
    path, mark, query = target.partition("?")
    return origin, f"{path or '/'}{mark if query else ''}{query}"


def _encoding(asked: Outgoing) -> str:
    """Of its fields: a browser's were read as latin-1, which gives back each byte."""
    return "latin-1" if asked.is_browser else "utf-8"


def _written(request: ClientRequest, encoding: str = "utf-8") -> bytes:
    lines = [f"{request.method} {request.url.raw_path_qs} HTTP/1.1"]
    lines += [f"{name}: {value}" for name, value in request.headers.items()]
    if any(map(_FORBIDDEN.search, lines)):
        raise ValueError("A field holds the end of a line.")
    return "\r\n".join([*lines, "", ""]).encode(encoding)
