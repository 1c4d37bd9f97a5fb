"""Outgoing HTTP requests and their bytes.

The archive stores each request as sent, so the bytes are built here once for both uses.
"""

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass
from io import BytesIO

from aiohttp import ClientRequest, InvalidURL, hdrs
from multidict import CIMultiDict
from yarl import URL

from archiver.http.address_guard import AddressGuard, BlockedAddressError
from archiver.http.cookies import VisitCookies

_OWN = frozenset({"none", "same-origin", "same-site"})


def with_initiators(initiators: frozenset[str], hosts: frozenset[str]) -> frozenset[str]:
    """Add hosts that lead to a request; a request that no user made stays without any.

    >>> with_initiators(frozenset(), frozenset({"a.example"}))
    frozenset()
    """
    return initiators | hosts if initiators else initiators


@dataclass(frozen=True, slots=True)
class Outgoing:
    """One request.

    Attributes:
        url: serialised http(s) URL without fragment.
        method: as RFC 9110 §9 has it.
        headers: (name, value) in order. For a browser's request the list is complete.
        body: its content.
        is_browser: whether a browser sent the request and controls its headers and timeout.
        initiators: the hosts that led to the request, starting with the user-submitted one. User
            cookies are sent only if all of them may receive them. Empty if no user cookies may be
            sent.
        jar: the cookies set during the visit; the response adds to them. A browser sends its own.
    """

    url: str
    method: str = "GET"
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    is_browser: bool = False
    initiators: frozenset[str] = frozenset()
    jar: VisitCookies | None = None

    @property
    def is_own_site(self) -> bool:
        """Return whether the request comes from the same site; a browser's request must state it.

        Otherwise another site could read a user's private content: the browser does not know the
        added cookies and lets pages read responses that allow any origin.
        """
        return self._site in _OWN

    @property
    def is_navigation(self) -> bool:
        """Return whether it is a top-level navigation or a redirect from one."""
        return self._site == "none"

    @property
    def _site(self) -> str:
        wanted = "sec-fetch-site"
        return next((value for name, value in self.headers if name.lower() == wanted), "")


REMEMBERED = 4096
_URL = re.compile(r"(https?://[^/?#]*)([^#\0-\x20\x7f]*)")
_FORBIDDEN = re.compile(r"[\r\n\0]")
_DEFAULT_FIELDS = (hdrs.USER_AGENT, hdrs.ACCEPT, hdrs.ACCEPT_ENCODING, hdrs.CONTENT_TYPE)
"""Headers that aiohttp adds if missing; a browser's request stays as it is."""
_LAST_FIELDS = frozenset({"referer"})
"""Fields that are always written after the others."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Destination of requests.

    Attributes:
        request: the aiohttp request that selects a connection from the pool.
        fields: the head of a request without its own fields.
    """

    request: ClientRequest
    fields: str


class Requests:
    """Serialiser of requests.

    Args:
        guard: decides which literal addresses a URL may have.
        fields: default fields, except for a browser's requests.
    """

    def __init__(self, guard: AddressGuard, fields: Mapping[str, str]) -> None:
        self._guard = guard
        self._fields = dict(fields)
        self._origins: dict[str, Origin] = {}

    def origin_of(self, url: str) -> Origin:
        """Return the destination of a URL.

        Raises:
            BlockedAddressError: its host is a literal address that is not permitted.
            InvalidURL: it has no host.
        """
        return self._origin(_split(url)[0])

    def head(self, asked: Outgoing, cookies: str = "") -> bytes:
        """Serialise the head of a request.

        Args:
            asked: the request.
            cookies: the user's cookies for it.

        Raises:
            ValueError: a field contains a line break.
        """
        is_plain = asked.method == "GET" and not (asked.is_browser or asked.body or cookies)
        if not is_plain or any(name.lower() not in _LAST_FIELDS for name, _ in asked.headers):
            return _written(self._request(asked, cookies), _encoding(asked))
        origin, target = _split(asked.url)
        own = "".join(f"{name}: {value}\r\n" for name, value in asked.headers)
        if own and any(_FORBIDDEN.search(value) for _, value in asked.headers):
            raise ValueError("A header field contains a line end.")
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
        if cookies:  # the user's cookies come before cookies set by pages
            own = cookies.encode().decode(_encoding(asked))
            given[hdrs.COOKIE] = "; ".join((own, *given.popall(hdrs.COOKIE, [])))
        fields = CIMultiDict({} if asked.is_browser else self._fields)
        for name in {name.lower(): name for name in given}.values():
            fields[name] = given[name]
            for more in given.getall(name)[1:]:
                fields.add(name, more)
        return ClientRequest(
            asked.method,
            url.with_user(None),
            headers=fields,
            skip_auto_headers=_DEFAULT_FIELDS if asked.is_browser else None,
            data=BytesIO(asked.body) if asked.body else None,
            loop=asyncio.get_running_loop(),
        )

    def _check_literal(self, url: URL) -> None:
        """Check a literal address; host names are checked by the resolver."""
        name = url.raw_host or ""
        is_literal = ":" in name or name.replace(".", "").isdecimal()
        if is_literal and not self._guard.permits(name):
            raise BlockedAddressError(name, name)


def _split(url: str) -> tuple[str, str]:
    """Return (origin, request target)."""
    found = _URL.fullmatch(url)
    if found is None:
        raise InvalidURL(url)
    origin, target = found.groups()
    path, mark, query = target.partition("?")
    return origin, f"{path or '/'}{mark if query else ''}{query}"


def _encoding(asked: Outgoing) -> str:
    """Return the encoding of the fields: latin-1 for a browser's, which restores the bytes."""
    return "latin-1" if asked.is_browser else "utf-8"


def _written(request: ClientRequest, encoding: str = "utf-8") -> bytes:
    lines = [f"{request.method} {request.url.raw_path_qs} HTTP/1.1"]
    lines += [f"{name}: {value}" for name, value in request.headers.items()]
    if any(map(_FORBIDDEN.search, lines)):
        raise ValueError("A header field contains a line end.")
    return "\r\n".join([*lines, "", ""]).encode(encoding)
