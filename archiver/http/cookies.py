"""Cookies of the user and of responses, and their matching to requests (RFC 6265).

The user's file is Netscape's ``cookies.txt``: seven fields to a line, separated by tabs. It has no
standard; curl, wget and yt-dlp read it, and browser extensions write it.
``http.cookiejar.MozillaCookieJar`` is not used, because it rejects a whole file for one bad line.
Here, bad lines are skipped and reported.
"""

import asyncio
import re
import time
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from email.utils import mktime_tz, parsedate_tz
from functools import cache
from ipaddress import ip_address
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from archiver.http.headers import readable

if TYPE_CHECKING:
    from publicsuffixlist import PublicSuffixList

MAX_COOKIES = 3000
MAX_LINE = 8192
MAX_HEADER = 8192
"""Maximum characters of the ``Cookie`` field of one request."""
HEADER = "# Netscape HTTP Cookie File"
_HTTP_ONLY = "#HttpOnly_"
_FIELDS = 7
_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9a-zA-Z-]{1,256}")
_VALUE = re.compile(r"[\x21-\x3a\x3c-\x7e ]{0,4096}")
_PATH = re.compile(r"/[\x21-\x7e]{0,1024}")
_HOST = re.compile(r"[a-z0-9_.-]{1,253}|\[?[0-9a-f:.]{2,45}\]?")
_CONTROL = re.compile(r"[\0-\x08\x0a-\x1f\x7f]")
_SECONDS = re.compile(r"-?[0-9]{1,12}")
_HAS_DOMAIN = re.compile(r";[ \t]*domain[ \t]*=", re.IGNORECASE)
_PREFIXES = ("__Secure-", "__Host-")


@dataclass(frozen=True, slots=True)
class Cookie:
    """One cookie.

    Attributes:
        host: the lower-case host that receives it.
        is_for_subdomains: whether subdomains of the host receive it too.
        path: the path prefix it is limited to.
        is_secure: whether it is sent over TLS only.
        expires: Unix seconds; 0 for a session cookie.
        name, value: as sent in the request.
        is_private: whether it comes from the user, or from a response to a request with private
            cookies.
    """

    host: str
    is_for_subdomains: bool
    path: str
    is_secure: bool
    expires: int
    name: str
    value: str
    is_private: bool = True

    def matches_host(self, host: str) -> bool:
        """Return whether a host matches the cookie's domain (§5.1.3).

        A cookie for an IP address matches no other host.
        """
        if host == self.host:
            return True
        is_beneath = host.endswith(f".{self.host}")
        return self.is_for_subdomains and is_beneath and not _is_address(self.host)

    def matches_path(self, path: str) -> bool:
        """Return whether a path matches the cookie's path (§5.1.4)."""
        if path == self.path:
            return True
        return path.startswith(self.path if self.path.endswith("/") else f"{self.path}/")

    @property
    def key(self) -> tuple[str, str, str]:
        """Return the key of the cookie: a later cookie with the same key replaces it (§5.3)."""
        return self.host, self.path, self.name


def read_cookies(text: str) -> tuple[list[Cookie], list[int]]:
    r"""Parse a cookie file; return its cookies and the numbers of invalid lines.

    Of several cookies with the same key, the last is used.

    >>> read_cookies(".a.example\tTRUE\t/\tTRUE\t0\tid\tx")[0][0].host
    'a.example'
    """
    by_key: dict[tuple[str, str, str], Cookie] = {}
    refused: list[int] = []
    for number, line in enumerate(text.splitlines(), 1):
        fields = line.removeprefix(_HTTP_ONLY)
        if not fields.strip() or fields.startswith("#"):
            continue
        cookie = _cookie(fields)
        if cookie is None or (len(by_key) >= MAX_COOKIES and cookie.key not in by_key):
            refused.append(number)
        else:
            by_key[cookie.key] = cookie
    return [*by_key.values()], refused


def parse_cookie_field(text: str, host: str, *, is_secure: bool) -> list[Cookie]:
    """Parse the ``Cookie`` field of a request to a host, as copied from a browser.

    Pairs that are not valid cookies are skipped. The cookies are sent to subdomains too.

    >>> [each.name for each in parse_cookie_field("a=b; c; d=e", "a.example", is_secure=True)]
    ['a', 'd']
    """
    below = "." in host and not _is_address(host)
    cookies = []
    for pair in re.sub(r"^\s*cookie:", "", text, flags=re.IGNORECASE).split(";")[:MAX_SET]:
        name, is_pair, value = (each.strip() for each in pair.partition("="))
        if is_pair and _NAME.fullmatch(name) and _VALUE.fullmatch(value):
            cookies.append(Cookie(host, below, "/", is_secure, 0, name, value))
    return cookies


def write_cookies(cookies: Iterable[Cookie]) -> str:
    """Return the text of a cookie file that ``read_cookies`` parses."""
    lines = [HEADER, ""]
    for each in cookies:
        dot = "." if each.is_for_subdomains else ""
        below, secure = map(_flag, (each.is_for_subdomains, each.is_secure))
        fields = (dot + each.host, below, each.path, secure, str(each.expires))
        lines.append("\t".join((*fields, each.name, each.value)))
    return "\n".join((*lines, ""))


def _flag(value: bool) -> str:
    return "TRUE" if value else "FALSE"


@dataclass(frozen=True, slots=True)
class CookieField:
    """The ``Cookie`` field of a request.

    Attributes:
        value: its value; empty without cookies.
        is_private: whether a private cookie matches the URL, even if it is not sent. The exchange
            is then recorded without cookies.
    """

    value: str = ""
    is_private: bool = False


NO_COOKIES = CookieField()


def cookies_for(
    url: str, cookies: Iterable[Cookie], now: float, initiators: Collection[str]
) -> CookieField:
    """Return the ``Cookie`` field for a request (§5.4).

    Args:
        url: the requested URL, serialised.
        cookies: the available cookies.
        now: Unix seconds.
        initiators: all hosts that led to the request (``OutgoingRequest``); ports are ignored. A
            private cookie is sent only if all of these hosts may receive it. If there are none, no
            private cookie is sent.
    """
    parts = urlsplit(url)
    host, path = parts.hostname or "", parts.path or "/"
    leading = {urlsplit(f"//{each}").hostname or "" for each in initiators}
    matching = [
        each
        for each in cookies
        if each.matches_host(host)
        and each.matches_path(path)
        and (parts.scheme == "https" or not each.is_secure)
        and (not each.expires or each.expires > now)
    ]
    sent = [
        each
        for each in matching
        if not each.is_private or (leading and all(_matches_www(each, other) for other in leading))
    ]
    is_private = any(each.is_private for each in matching)
    return CookieField(_write_field(sent), is_private)


def _write_field(cookies: Iterable[Cookie]) -> str:
    field = ""
    for each in sorted(cookies, key=lambda each: -len(each.path)):
        longer = f"{field}; {each.name}={each.value}" if field else f"{each.name}={each.value}"
        if len(longer) > MAX_HEADER:
            break
        field = longer
    return field


def _matches_www(cookie: Cookie, host: str) -> bool:
    """Return whether a host matches a cookie's host, with or without ``www.``."""
    other = host.removeprefix("www.") if host.startswith("www.") else f"www.{host}"
    return cookie.matches_host(host) or cookie.matches_host(other)


def _cookie(line: str) -> Cookie | None:
    fields = line.split("\t") if len(line) <= MAX_LINE else []
    if len(fields) == _FIELDS - 1:
        fields.append("")
    if len(fields) != _FIELDS:
        return None
    domain, below, path, secure, expires, name, value = fields
    host = domain.strip().lower().removeprefix(".").strip("[]")
    is_for_subdomains = below.strip().upper() == "TRUE"
    if not _HOST.fullmatch(host) or not _NAME.fullmatch(name) or not _VALUE.fullmatch(value):
        return None
    if is_for_subdomains and not _is_address(host) and "." not in host:
        return None  # a whole top-level domain
    moment = expires.strip().partition(".")[0]
    if not moment.isdecimal() or len(moment) > 15 or not _PATH.fullmatch(path):
        return None
    return Cookie(
        host, is_for_subdomains, path, secure.strip().upper() == "TRUE", int(moment), name, value
    )


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


MAX_PAIR = 4096
"""Maximum bytes of name and value of a cookie that a response sets (RFC 6265bis §5.6)."""
MAX_SET = 180
"""Maximum number of cookies of one visit; Chromium's limit for one domain."""
_DELETED = 1
"""Expiry of a deleted cookie, in the past."""


class VisitCookies:
    """Cookies set by the responses of one visit (RFC 6265 §5.3), for that visit only.

    Attributes:
        by_key: the cookies by key. A cookie that a response deleted stays here as an expired one.
    """

    def __init__(self) -> None:
        self.by_key: dict[tuple[str, str, str], Cookie] = {}

    def __bool__(self) -> bool:
        return bool(self.by_key)

    async def receive(
        self, url: str, headers: Iterable[tuple[str, str]], *, is_private: bool = False
    ) -> None:
        """Store the cookies of a response.

        Args:
            url: its URL.
            headers: its fields, names in lower case.
            is_private: whether it answers a request with private cookies.
        """
        for value in [value for name, value in headers if name == "set-cookie"]:
            suffixes = await asyncio.to_thread(_suffixes) if _HAS_DOMAIN.search(value) else None
            cookie = parse_set_cookie(value, url, time.time(), suffixes)
            if cookie and (cookie.key in self.by_key or len(self.by_key) < MAX_SET):
                self.by_key[cookie.key] = replace(cookie, is_private=is_private)

    def of(self, url: str) -> frozenset[Cookie]:
        """Return the unexpired cookies for a URL's host.

        The crawler compares two results to find out whether the cookies have changed.
        """
        if not self.by_key:
            return frozenset()
        now, parts = time.time(), urlsplit(url)
        return frozenset(
            each
            for each in self.by_key.values()
            if each.matches_host(parts.hostname or "") and (not each.expires or each.expires > now)
        )


@cache
def _suffixes() -> "PublicSuffixList":
    from publicsuffixlist import PublicSuffixList  # noqa: PLC0415 - reads its list, which takes 0.1 s

    return PublicSuffixList()


def parse_set_cookie(
    field: str, url: str, now: float, suffixes: "PublicSuffixList | None" = None
) -> Cookie | None:
    """Parse a ``Set-Cookie`` field (§5.2) of a response; None if browsers ignore it.

    Args:
        field: its value, decoded as latin-1.
        url: the URL of the response.
        now: Unix seconds.
        suffixes: the public suffixes; needed for a cookie with a domain.
    """
    pair, _, attribute_text = readable(field[:MAX_LINE]).partition(";")
    name, is_pair, value = (each.strip(" \t") for each in pair.partition("="))
    attributes = _attributes(attribute_text)
    parts = urlsplit(url)
    host, domain = parts.hostname or "", attributes.get("domain", "").lower().removeprefix(".")
    is_secure = "secure" in attributes
    is_too_long = len(f"{name}{value}".encode()) > MAX_PAIR
    if not is_pair or not name or is_too_long or _CONTROL.search(name + value):
        return None
    if is_secure and parts.scheme != "https":
        return None
    if name.startswith(_PREFIXES) and not is_secure:
        return None
    if name.startswith("__Host-") and (domain or attributes.get("path") != "/"):
        return None
    is_for_subdomains = bool(domain) and not _is_address(host)
    if is_for_subdomains and suffixes and suffixes.is_public(domain):
        is_for_subdomains, domain = False, domain if domain == host else "-"
    if domain and domain != host and not (is_for_subdomains and host.endswith(f".{domain}")):
        return None
    path = attributes.get("path", "")
    if not path.startswith("/"):
        path = parts.path.rpartition("/")[0] or "/"
    expires = _expiry(attributes, now)
    return Cookie(domain or host, is_for_subdomains, path, is_secure, expires, name, value)


def _attributes(text: str) -> dict[str, str]:
    """Return cookie attributes by lower-case name; the last of repeated attributes is used."""
    attributes = {}
    for each in text.split(";"):
        name, _, value = each.partition("=")
        attributes[name.strip(" \t").lower()] = value.strip(" \t")
    return attributes


def _expiry(attributes: Mapping[str, str], now: float) -> int:
    """Return the expiry of a cookie in Unix seconds; 0 for a session cookie."""
    if _SECONDS.fullmatch(lasts := attributes.get("max-age", "")):
        return max(int(now) + int(lasts), _DELETED)
    moment = parsedate_tz(attributes.get("expires", "")[:100])
    try:
        return max(int(mktime_tz(moment)), _DELETED) if moment else 0
    except (ValueError, OverflowError):
        return 0


NAME: Final = "cookies.txt"
MAX_BYTES: Final = 16 << 20


def cookies_in(content: bytes | None) -> list[Cookie]:
    """Parse the content of a cookie file; return no cookies for None."""
    return read_cookies(content.decode("utf-8", "replace"))[0] if content else []


class UserCookies:
    """Selection of the user's cookies for a request; ``load`` gets their file after each change."""

    def __init__(self) -> None:
        self._cookies: list[Cookie] = []

    def load(self, content: bytes | None) -> None:
        """Replace the cookies by those of this file content."""
        self._cookies = cookies_in(content)

    def field_for(
        self, url: str, initiators: Collection[str], jar: VisitCookies | None = None
    ) -> CookieField:
        """Return the ``Cookie`` field for a request.

        Args:
            url: the requested URL.
            initiators: all hosts that led to the request, as for ``cookies_for``.
            jar: the cookies set during the visit; they replace user cookies with the same key.
        """
        user_cookies = self._cookies
        if jar:
            user_cookies = [*({each.key: each for each in user_cookies} | jar.by_key).values()]
        return (
            cookies_for(url, user_cookies, time.time(), initiators) if user_cookies else NO_COOKIES
        )
