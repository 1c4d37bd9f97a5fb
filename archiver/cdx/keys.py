"""Which SURT keys a URL and a match type mean."""

from enum import StrEnum

from archiver.errors import InputError, InvalidUrl
from archiver.urls.parse import parse_url
from archiver.urls.surt import surt

_LAST = "\U0010ffff"
"""Sorts after every character of a key."""


class MatchType(StrEnum):
    """Which URLs are meant."""

    EXACT = "exact"
    PREFIX = "prefix"
    HOST = "host"
    DOMAIN = "domain"


def match_of(url: str, given: str) -> tuple[str, MatchType]:
    """The URL without its star, and the match type that is given or that the star means.

    Raises:
        InputError: there is no URL, or no such match type.
    """
    if not url:
        raise InputError("Say which captures are wanted: url=example.com, or url=example.com/*.")
    if given and given not in list(MatchType):
        raise InputError("matchType is one of exact, prefix, host and domain.")
    if given:
        return url.removesuffix("*"), MatchType(given)
    if url.startswith("*."):
        return url.removeprefix("*."), MatchType.DOMAIN
    if url.endswith("*"):
        return url.removesuffix("*"), MatchType.PREFIX
    return url, MatchType.EXACT


def key_range(url: str, match: MatchType) -> tuple[str, str]:
    """The SURT keys that a URL and a match type mean: from the first up to, not with, the last.

    Raises:
        InputError: the URL is none.
    """
    key = _key(url)
    host, _, path = key.partition(")")
    match match:
        case MatchType.EXACT:
            return key, key + "\0"
        case MatchType.HOST:
            return f"{host})", f"{host}){_LAST}"
        case MatchType.DOMAIN:
            return f"{host})", f"{host},{_LAST}"
        case MatchType.PREFIX:
            start = f"{host}){path}"
            if url[-1:] in ("/", "?") and not start.endswith(url[-1]):
                start += url[-1]
            return start, start + _LAST


def _key(url: str) -> str:
    try:
        return surt(parse_url(url if "://" in url else f"http://{url}"))
    except InvalidUrl as error:
        raise InputError(f"url: {error}") from error
