"""Outgoing HTTP requests and their bytes.

The archive stores each request as sent, so the bytes are built here once for both uses.
"""

import asyncio
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from aiohttp import ClientRequest, InvalidURL, hdrs
from yarl import URL

from archiver.helpers import RecentItems
from archiver.http.address_guard import AddressGuard, BlockedAddressError
from archiver.http.cookies import VisitCookies

_OWN = frozenset({"none", "same-origin", "same-site"})


def with_initiators(initiators: frozenset[str], hosts: frozenset[str]) -> frozenset[str]:
    """Add hosts to the initiators of a request.

    An empty set stays empty, because it means that no user cookies may be sent.

    >>> with_initiators(frozenset(), frozenset({"a.example"}))
    frozenset()
    """
    return initiators | hosts if initiators else initiators


@dataclass(slots=True)
class OutgoingRequest:
    """One request.

    Attributes:
        url: serialised http(s) URL without fragment.
        method: the method (RFC 9110 §9).
        headers: (name, value) in order. The default fields are not added to a browser's request.
        body: the content.
        is_browser: whether a browser sent the request and controls its headers and timeout.
        initiators: all hosts that led to the request, including the host of the user-submitted URL
            or of the feed. A user cookie is sent only if all these hosts may receive it. Empty if
            no user cookies may be sent.
        jar: the cookies set during the visit, to which cookies of the response are added. A browser
            sends its own cookies.
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
        """Return whether a browser's request comes from the same site, or from no page.

        User cookies are added only to such requests. Otherwise a page of another site could read
        the user's private content: the browser does not know about the added cookies, so it lets
        pages read responses that allow any origin.
        """
        return self._site in _OWN

    @property
    def is_navigation(self) -> bool:
        """Return whether it is a top-level navigation or a redirect from one."""
        return self._site == "none"

    @property
    def _site(self) -> str:
        field = "sec-fetch-site"
        return next((value for name, value in self.headers if name.lower() == field), "")


MAX_ORIGINS = 4096
_URL = re.compile(r"(https?://[^/?#]*)([^#\0-\x20\x7f]*)")
_FORBIDDEN = re.compile(r"[\r\n\0]")


class Requests:
    """Serialiser of requests.

    Args:
        guard: policy for IP addresses in URLs.
        fields: default header fields, which are not added to a browser's requests.
    """

    def __init__(self, guard: AddressGuard, fields: Mapping[str, str]) -> None:
        self._guard = guard
        self._lines = {name.lower(): f"{name}: {value}" for name, value in fields.items()}
        self._origins = RecentItems[str, ClientRequest](MAX_ORIGINS)

    def connection_request(self, url: str) -> ClientRequest:
        """Return the aiohttp request that selects a connection to the origin of a URL.

        Raises:
            BlockedAddressError: the host is an IP address that is not permitted.
            InvalidURL: the URL has no host.
        """
        return self._request_to(_split(url)[0])

    def _request_to(self, origin: str) -> ClientRequest:
        if origin not in self._origins:
            address = URL(f"{origin}/", encoded=True)
            if not address.raw_host:
                raise InvalidURL(origin)
            self._check_literal(address.raw_host)
            self._origins[origin] = ClientRequest(
                hdrs.METH_GET, address.with_user(None), loop=asyncio.get_running_loop()
            )
        return self._origins[origin]

    def head(self, request: OutgoingRequest, cookies: str = "", user_agent: str = "") -> bytes:
        """Serialise the head of a request.

        Args:
            request: the request.
            cookies: the user's cookies for it.
            user_agent: replacement of the default or the browser's User-Agent; empty to keep it.

        Raises:
            InvalidURL: the URL has no host, or characters that must be escaped.
            ValueError: a field contains a line break.
        """
        origin, target = _split(request.url)
        encoding = _encoding(request)
        headers = [*request.headers]
        if cookies:  # the user's cookies come before cookies set by pages
            of_page = [value for name, value in headers if name.lower() == "cookie"]
            encoded = cookies.encode().decode(encoding)
            headers = _with(headers, hdrs.COOKIE, "; ".join((encoded, *of_page)))
        if user_agent:
            headers = _with(headers, hdrs.USER_AGENT, user_agent.encode().decode(encoding))
        if request.body:
            headers = _with(headers, hdrs.CONTENT_LENGTH, str(len(request.body)))
        names = {name.lower() for name, _ in headers}
        lines = [f"{request.method} {target} HTTP/1.1"]
        if "host" not in names:
            lines.append(f"Host: {self._request_to(origin).headers[hdrs.HOST]}")
        if not request.is_browser:
            lines += [line for name, line in self._lines.items() if name not in names]
        lines += [f"{name}: {value}" for name, value in headers]
        if _FORBIDDEN.search("".join(lines)):
            raise ValueError("A header field contains a line end.")
        return "\r\n".join([*lines, "", ""]).encode(encoding)

    def _check_literal(self, name: str) -> None:
        """Check a host that is an IP address; the resolver checks host names."""
        is_literal = ":" in name or name.replace(".", "").isdecimal()
        if is_literal and not self._guard.permits(name):
            raise BlockedAddressError(name, name)


def _with(headers: Iterable[tuple[str, str]], name: str, value: str) -> list[tuple[str, str]]:
    """Return fields with one more field, which replaces those of the same name."""
    return [*(each for each in headers if each[0].lower() != name.lower()), (name, value)]


def _split(url: str) -> tuple[str, str]:
    """Return (origin, request target)."""
    match = _URL.fullmatch(url)
    if match is None:
        raise InvalidURL(url)
    origin, target = match.groups()
    path, mark, query = target.partition("?")
    return origin, f"{path or '/'}{mark if query else ''}{query}"


def _encoding(request: OutgoingRequest) -> str:
    """Return the encoding of the header fields; latin-1 restores the bytes that a browser sent."""
    return "latin-1" if request.is_browser else "utf-8"
