"""URLs as browsers parse and serialise them (WHATWG URL), and the names made from them."""

import re
from hashlib import md5

import ada_url

from archiver.errors import InvalidUrl
from archiver.model.capture import HashUrl
from archiver.model.row_problems import NO_SCHEME, OTHER_SCHEME, TOO_LONG
from archiver.urls.pasted import with_scheme

MOST_CHARACTERS = 8192
"""Longer addresses are refused: servers refuse them too, and every index row holds one."""
MOST_OF_HOST = 253
"""Characters; no name that can be looked up has more (RFC 1035 §2.3.4)."""
_HASH_URL = re.compile(r"[0-9a-f]{32}\Z")
_SCHEME = re.compile(r"([a-zA-Z][a-zA-Z0-9+.-]*):")
_FORBIDDEN = re.compile("[\0\ud800-\udfff]")
_BEYOND_ASCII = re.compile("[\x80-\xff]")
_KEPT = ("http://", "https://")
# What a browser's parser gives back as it is: a name that is no number and needs no Unicode, no
# port, no segment that could be "." or "..", nothing that is escaped or has to be.
_AS_IT_IS = re.compile(
    r"https?://(?![^/]*xn--)(?:[a-z0-9-]++\.)++[a-z]++"
    r"(?:/(?:[\w~!$&'()*+,;=:@-][\w~!$&'()*+,;=:@.%-]*+)?+)++"
    r"(?:\?[\w~!$&()*+,;=:@/?.%-]*+)?+",
    re.ASCII,
)


def parse_url(given: str) -> str:
    """Parse what a person gave and serialise it as browsers do, without its fragment.

    Raises:
        InvalidUrl: it is no http(s) URL that can be kept; the message says why.
    """
    text = given.strip()
    if len(text) <= MOST_CHARACTERS and _AS_IT_IS.fullmatch(text):
        return _with_a_name(text)
    if not text:
        raise InvalidUrl("This is empty. An address starts with https:// or http://.")
    if len(text) > MOST_CHARACTERS:
        raise InvalidUrl(TOO_LONG, most=MOST_CHARACTERS)
    if _FORBIDDEN.search(text):
        raise InvalidUrl("The address holds characters that no address may hold.")
    return _serialise(text)


def join(base: str, reference: str) -> str | None:
    """Resolve a reference; the absolute http(s) URL without fragment, or None if it is none."""
    if len(reference) > MOST_CHARACTERS:
        return None
    try:
        url = ada_url.join_url(base, reference)
    except ValueError:
        return None
    if not url.startswith(_KEPT) or len(url) > MOST_CHARACTERS:
        return None
    return url.partition("#")[0]


def redirect_target(url: str, status: int, location: str | None) -> str | None:
    """Where a response leads (RFC 9110 §10.2.2): absolute, without fragment; None if nowhere.

    Args:
        url: that was asked for.
        status: of the response; only a 3xx leads anywhere.
        location: its Location, each byte a character (latin-1).
    """
    if location is None or not 300 <= status < 400:
        return None
    return join(url, escape_bytes(location))


def escape_bytes(field: str) -> str:
    """A URL of a header field, its bytes beyond ASCII escaped as they came, as browsers do.

    Args:
        field: each byte a character (latin-1).
    """
    return _BEYOND_ASCII.sub(lambda found: f"%{ord(found[0]):02X}", field)


def hash_url(url: str) -> HashUrl:
    """The lower-case hex MD5 of a serialised URL: the name of its entry."""
    return HashUrl(md5(url.encode(), usedforsecurity=False).hexdigest())


def is_hash_url(text: str) -> bool:
    """Whether a text has the form of a hash_url."""
    return _HASH_URL.match(text) is not None


def is_kept(url: str) -> bool:
    """Whether a serialised URL is one of those that can be kept."""
    return url.startswith(_KEPT)


def host(url: str) -> str:
    """The host of a serialised URL, with its port where that is not the scheme's own."""
    authority = url.split("/", 3)[2]
    return authority.rpartition("@")[2]


def _serialise(text: str) -> str:
    try:
        href = ada_url.normalize_url(text)
    except ValueError:
        raise _why_not(text) from None
    if not href.startswith(_KEPT):
        scheme = href.partition(":")[0]
        if "." in scheme:
            raise _suggest_scheme(text)
        raise InvalidUrl(OTHER_SCHEME, scheme=scheme)
    if "@" in href and "@" in href.split("/", 3)[2]:
        raise InvalidUrl(
            "The address holds a user name or password, which the archive would give away. "
            "Remove what stands before the @."
        )
    url: str = href.partition("#")[0]
    if len(url) > MOST_CHARACTERS:
        raise InvalidUrl(TOO_LONG, most=MOST_CHARACTERS)
    return _with_a_name(url)


def _with_a_name(url: str) -> str:
    """A serialised URL whose host has a name that can be looked up."""
    if len(url) > MOST_OF_HOST and len(host(url).partition(":")[0]) > MOST_OF_HOST:
        raise InvalidUrl("This is not an address a browser would accept.")
    return url


def _why_not(text: str) -> InvalidUrl:
    if _SCHEME.match(text):
        return InvalidUrl("This is not an address a browser would accept.")
    return _suggest_scheme(text)


def _suggest_scheme(text: str) -> InvalidUrl:
    if " " not in text and "." in text:
        meant = with_scheme(text[:200])
        meant = meant if "://" in meant else f"https://{meant}"
        return InvalidUrl(NO_SCHEME, meant=meant)
    return InvalidUrl("This is not an address. An address starts with https:// or http://.")
