"""Addresses as people paste them: without a scheme, and with what tells who sent them: pure."""

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase
from urllib.parse import unquote_plus

_SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*://")
_HOST = re.compile(r"(?:[\w-]+\.)+[\w-]{2,}\.?(?::[0-9]{1,5})?(?:[/?#]|$)")


def with_scheme(given: str) -> str:
    """An address with ``https://`` before it, where a person left the scheme out.

    >>> with_scheme("example.org/x"), with_scheme("http://a.example"), with_scheme("two words")
    ('https://example.org/x', 'http://a.example', 'two words')
    """
    text = given.strip()
    return f"https://{text}" if not _SCHEME.match(text) and _HOST.match(text) else text


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
