"""Addresses as people paste them: without a scheme, and with what tells who sent them: pure."""

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase
from urllib.parse import unquote_plus

_SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*://")
_HOST = re.compile(
    r"(?:(?P<name>(?:(?!-)[\w-]+\.)+[^\W\d_][\w-]+\.?)|localhost|(?:\d{1,3}\.){3}\d{1,3}|\[[\da-fA-F:.]+\])"
    r"(?::(?P<port>[0-9]{1,5}))?(?:[/?#]|$)"
)


def with_scheme(given: str) -> str:
    """An address with a scheme before it, where a person left it out.

    It is ``https://``; but ``http://`` for a number, for localhost and for a port other than 443:
    what stands there seldom has a certificate.

    >>> with_scheme("example.org/x"), with_scheme("127.0.0.1:8080/x"), with_scheme("two words")
    ('https://example.org/x', 'http://127.0.0.1:8080/x', 'two words')
    """
    text = given.strip()
    host = None if _SCHEME.match(text) else _HOST.match(text)
    if not host:
        return text
    is_plain = host["port"] != "443" and (host["port"] or not host["name"])
    return f"http{'' if is_plain else 's'}://{text}"


def words_of(given: str) -> str:
    """What was typed where an address belongs, if it is words to be searched for; or nothing.

    Several lines are addresses, and so is what begins with a scheme, whatever is wrong with it.

    >>> words_of("red kite"), words_of("example.org"), words_of("https://two words")
    ('red kite', '', '')
    """
    text = given.strip()
    is_address = "\n" in text or _SCHEME.match(with_scheme(text))
    return "" if is_address else text


def without_trackers(url: str, trackers: Sequence[str]) -> str:
    """An address without those parameters of its query that are named, with ``*`` for anything.

    What else is in the query stays as it was written, in its order.

    >>> without_trackers("https://a.example/?id=1&utm_source=x#part", ["utm_*"])
    'https://a.example/?id=1#part'
    """
    rest, hash_, fragment = url.partition("#")
    path, mark, query = rest.partition("?")
    if not mark:
        return url
    pairs = query.split("&")
    kept = [each for each in pairs if not _is_one(each, trackers)]
    if len(kept) == len(pairs):
        return url
    return path + (f"?{'&'.join(kept)}" if kept else "") + hash_ + fragment


def _is_one(pair: str, trackers: Sequence[str]) -> bool:
    name = unquote_plus(pair.partition("=")[0]).lower()
    return bool(name) and any(fnmatchcase(name, each.lower()) for each in trackers)
