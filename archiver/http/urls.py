"""URL parsing and serialisation as in browsers (WHATWG URL), and cleaning of pasted URLs."""

import re
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from hashlib import md5
from urllib.parse import unquote, unquote_plus

import ada_url

from archiver.errors import NO_SCHEME, OTHER_SCHEME, URL_TOO_LONG, InvalidUrl
from archiver.model.capture import HashUrl

_SCHEME_PASTED = re.compile(
    r"[a-z][a-z0-9+.-]*://|(?:about|blob|data|javascript|mailto|tel):(?=\S)", re.IGNORECASE
)
_HOST = re.compile(
    r"(?:(?P<name>(?:(?!-)[\w-]+\.)+[^\W\d_][\w-]+\.?)|localhost|(?:\d{1,3}\.){3}\d{1,3}|\[[\da-fA-F:.]+\])"
    r"(?::(?P<port>[0-9]{1,5}))?(?:[/?#]|$)"
)
_NAME = re.compile(r"[\w.-]+")
_WRAPPED = re.compile(
    r"(?:(?:[a-z-]{1,30}-)?extension:|chrome-distiller:|about:|read:|res:)[^\s]*?"
    r"[?&#](?:(?:url|uri|u)=)?(?:(?P<coded>https?%3a[^&#]*)|(?P<plain>https?:[^\s]*))"
    r"|(?:view-source|feed):(?:(?P<whole>https?:[^\s]*)|(?P<feed>//[^\s]*))",
    re.IGNORECASE,
)
_ENDINGS = (
    "js mjs ts tsx jsx css scss html htm xhtml php asp aspx jsp txt rst adoc tex bib log json "
    "jsonl xml yml yaml toml ini cfg conf env csv tsv sql ipynb rb kt cpp hpp lua bat pdf "
    "epub djvu doc docx odt rtf xls xlsx ods ppt pptx odp png jpg jpeg gif webp avif svg ico "
    "mp3 ogg flac wav mp4 mkv avi webm tar gz tgz bz2 xz 7z rar exe dmg iso deb rpm apk warc "
    "wacz"
)
_FILES = frozenset(_ENDINGS.split())
"""File name extensions that are not top-level domains (IANA Root Zone Database)."""
_FILES_AND_DOMAINS = frozenset({"md", "py", "java", "zip", "mov", "mobi"})
"""File name extensions that are also top-level domains.

``readme.md`` is taken as a file name, but ``www.example.md`` as a host.
"""


def with_scheme(address: str) -> str:
    """Add a scheme to a user-supplied address without one.

    The scheme is ``https://``. It is ``http://`` for IP addresses, localhost and ports other than
    443, because servers there seldom have a certificate.

    >>> with_scheme("example.org/x"), with_scheme("127.0.0.1:8080/x"), with_scheme("two words")
    ('https://example.org/x', 'http://127.0.0.1:8080/x', 'two words')
    """
    text = unwrapped(address.strip())
    host = None if _SCHEME_PASTED.match(text) else _HOST.match(text)
    if not host:
        return text
    is_plain = host["port"] != "443" and (host["port"] or not host["name"])
    return f"http{'' if is_plain else 's'}://{text}"


def unwrapped(address: str) -> str:
    """Return the address of the page that is shown at an internal address of a browser.

    Such internal addresses are those of suspended tabs, reader views, page sources and feeds.

    >>> unwrapped("about:reader?url=https%3A%2F%2Fa.example%2F")
    'https://a.example/'
    >>> unwrapped("chrome-extension://abc/suspended.html#ttl=A&uri=https://a.example/?b=1&c=2")
    'https://a.example/?b=1&c=2'
    """
    match = None if address.startswith(_HTTP) else _WRAPPED.match(address.strip())
    if not match:
        return address
    if match["feed"]:
        return f"http:{match['feed']}"
    return match["plain"] or match["whole"] or unquote(match["coded"])


def search_words(address: str) -> str:
    """Return text typed into the address field if it is a search query; otherwise empty.

    Text with several lines counts as addresses, and so does text that begins with a scheme, even if
    it is an invalid URL. Text that looks like a file name is a query.

    >>> search_words("red kite"), search_words("example.org"), search_words("https://two words")
    ('red kite', '', '')
    >>> search_words("node.js"), search_words("www.gov.md"), search_words("mailto:a@b")
    ('node.js', '', '')
    """
    text = address.strip()
    if "\n" not in text and _is_file_name(text):
        return text
    is_address = "\n" in text or _SCHEME_PASTED.match(with_scheme(text))
    return "" if is_address else text


def address_in(words: str) -> str:
    """Return the address that the user may have meant by a search query; empty if there is none.

    >>> address_in("node.js"), address_in("Example.org/x"), address_in("red kite")
    ('https://node.js', 'https://Example.org/x', '')
    """
    text = words.strip()
    if any(each.isspace() for each in text):
        return ""
    address = with_scheme(text)
    return address if address.lower().startswith(("http://", "https://")) else ""


def _is_file_name(text: str) -> bool:
    stem, dot, ending = text.lower().rpartition(".")
    if not (stem and dot and _NAME.fullmatch(stem)):
        return False
    return ending in _FILES or (ending in _FILES_AND_DOMAINS and "." not in stem)


def without_trackers(url: str, trackers: Sequence[str]) -> str:
    """Remove query parameters with names that match a pattern; ``*`` matches any characters.

    The rest of the query keeps its spelling and order.

    >>> without_trackers("https://a.example/?id=1&utm_source=x#part", ["utm_*"])
    'https://a.example/?id=1#part'
    """
    before_fragment, hash_, fragment = url.partition("#")
    path, mark, query = before_fragment.partition("?")
    if not mark:
        return url
    pairs = query.split("&")
    pairs_kept = [each for each in pairs if not _is_tracker(each, trackers)]
    if len(pairs_kept) == len(pairs):
        return url
    return path + (f"?{'&'.join(pairs_kept)}" if pairs_kept else "") + hash_ + fragment


def _is_tracker(pair: str, trackers: Sequence[str]) -> bool:
    name = unquote_plus(pair.partition("=")[0]).lower()
    return bool(name) and any(fnmatchcase(name, each.lower()) for each in trackers)


MAX_CHARACTERS = 8192
"""Maximum length of a URL. Many servers reject longer URLs, and index rows would grow."""
MAX_OF_HOST = 253
"""Maximum length of a host name that can be looked up (RFC 1035 §2.3.4)."""
_HASH_URL = re.compile(r"[0-9a-f]{32}\Z")
_SCHEME = re.compile(r"([a-zA-Z][a-zA-Z0-9+.-]*):")
_FORBIDDEN = re.compile("[\0\ud800-\udfff]")
_BEYOND_ASCII = re.compile("[\x80-\xff]")
_HTTP = ("http://", "https://")


def parse_url(address: str) -> str:
    """Parse a user-supplied URL and serialise it as browsers do, without its fragment.

    Raises:
        InvalidUrl: the text is not an http(s) URL that can be archived; the message says why.
    """
    text = address.strip()
    if not text:
        raise InvalidUrl("The URL is empty. It must start with https:// or http://.")
    if len(text) > MAX_CHARACTERS:
        raise InvalidUrl(URL_TOO_LONG, most=MAX_CHARACTERS)
    if _FORBIDDEN.search(text):
        raise InvalidUrl("The URL contains characters that are not allowed in URLs.")
    return _serialise(text)


_ROUTE = re.compile(r"/[^#]|!/?[^/]")
"""Start of a fragment that is a route of a web application, not a place in a page."""


def parse_entry_url(user_input: str) -> str:
    """Parse the URL of an entry like ``parse_url``, but keep the route of a web application.

    A route is a fragment such as ``#/settings`` or ``#!about``, which selects the content. Other
    fragments are places in a page and are removed.

    >>> parse_entry_url("https://a.example/#/b"), parse_entry_url("https://a.example/#b")
    ('https://a.example/#/b', 'https://a.example/')

    Raises:
        InvalidUrl: ``parse_url`` rejects the text, or the URL with its route is too long.
    """
    url = parse_url(user_input)
    if "#" not in user_input or not _ROUTE.match(user_input.partition("#")[2]):
        return url
    address: str = ada_url.normalize_url(user_input.strip())
    route = address.partition("#")[2]
    if len(url) + len(route) >= MAX_CHARACTERS:
        raise InvalidUrl(URL_TOO_LONG, most=MAX_CHARACTERS)
    return f"{url}#{route}"


def without_route(url: str) -> str:
    """Return the URL that is requested for the URL of an entry.

    >>> without_route("https://a.example/#/b")
    'https://a.example/'
    """
    return url.partition("#")[0]


def join(base: str, reference: str) -> str | None:
    """Resolve a reference to an absolute http(s) URL without fragment; None for other URLs.

    A user name and password are removed, so that they are neither sent nor recorded.
    """
    if len(reference) > MAX_CHARACTERS:
        return None
    try:
        url: str = ada_url.join_url(base, reference)
    except ValueError:
        return None
    if not url.startswith(_HTTP) or len(url) > MAX_CHARACTERS:
        return None
    return _without_user(url).partition("#")[0]


def _without_user(url: str) -> str:
    scheme, slashes, location = url.partition("//")
    authority = location.partition("/")[0]
    user, at, _ = authority.rpartition("@")
    return f"{scheme}{slashes}{location[len(user) + 1 :]}" if at else url


def redirect_target(url: str, status: int, headers: Iterable[tuple[str, str]]) -> str | None:
    """Return the target of a redirect (RFC 9110 §10.2.2), absolute and without fragment, or None.

    The first ``Location`` field that is not empty is used, as in browsers.

    Args:
        url: the requested URL.
        status: HTTP status of the response; only a 3xx status redirects.
        headers: (name, value) pairs with names in lower case and values decoded as latin-1.
    """
    if not 300 <= status < 400:
        return None
    location = next((value for name, value in headers if name == "location" and value), "")
    return join(url, escape_bytes(location)) if location else None


def escape_bytes(field: str) -> str:
    """Percent-encode the non-ASCII bytes of a URL in a header field, as browsers do.

    Args:
        field: the field value, decoded as latin-1.
    """
    return _BEYOND_ASCII.sub(lambda match: f"%{ord(match[0]):02X}", field)


def hash_url(url: str) -> HashUrl:
    """Return the lower-case hex MD5 of a serialised URL, which identifies its entry."""
    return HashUrl(md5(url.encode(), usedforsecurity=False).hexdigest())


def is_hash_url(text: str) -> bool:
    """Return whether a text has the form of a hash_url."""
    return _HASH_URL.match(text) is not None


def is_archivable(url: str) -> bool:
    """Return whether a serialised URL can be archived."""
    return url.startswith(_HTTP)


def host(url: str) -> str:
    """Return the host of a serialised URL, with its port unless it is the scheme's default."""
    authority = url.split("/", 3)[2]
    return authority.rpartition("@")[2]


def _serialise(text: str) -> str:
    try:
        href = ada_url.normalize_url(text)
    except ValueError:
        raise _error_for(text) from None
    if not href.startswith(_HTTP):
        scheme = href.partition(":")[0]
        if "." in scheme:
            raise _suggest_scheme(text)
        raise InvalidUrl(OTHER_SCHEME, scheme=scheme)
    if "@" in href and "@" in href.split("/", 3)[2]:
        raise InvalidUrl(
            "The URL contains a user name or password, which would be stored in the archive. "
            "Remove the part before the @."
        )
    url: str = href.partition("#")[0]
    if len(url) > MAX_CHARACTERS:
        raise InvalidUrl(URL_TOO_LONG, most=MAX_CHARACTERS)
    if len(url) > MAX_OF_HOST and len(host(url).partition(":")[0]) > MAX_OF_HOST:
        raise InvalidUrl("This is not a valid URL.")
    return url


def _error_for(text: str) -> InvalidUrl:
    if _SCHEME.match(text):
        return InvalidUrl("This is not a valid URL.")
    return _suggest_scheme(text)


def _suggest_scheme(text: str) -> InvalidUrl:
    if " " not in text and "." in text:
        suggestion = with_scheme(text[:200])
        suggestion = suggestion if "://" in suggestion else f"https://{suggestion}"
        return InvalidUrl(NO_SCHEME, meant=suggestion)
    return InvalidUrl("This is not a URL. A URL starts with https:// or http://.")
