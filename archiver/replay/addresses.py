"""Addresses of replayed captures, such as ``/web/20240229120001/https://example.com/``."""

import re
from collections.abc import Callable
from dataclasses import dataclass, fields
from enum import StrEnum
from urllib.parse import unquote

from archiver.errors import InvalidUrl
from archiver.http.urls import parse_url

PREFIX = "/web"

ALL_CAPTURES = "*"
"""Value that an address of all captures of a URL has instead of a timestamp."""


class Modifier(StrEnum):
    """The kind of content that the client expects of a capture."""

    NONE = ""
    IDENTITY = "id_"
    IMAGE = "im_"
    STYLE = "cs_"
    SCRIPT = "js_"
    FRAME = "if_"


_MODIFIER_ALIASES = {"fw_": Modifier.FRAME, "oe_": Modifier.IMAGE, "mp_": Modifier.NONE}
"""Modifiers of other archives and their equivalents here."""

_MOMENT = re.compile(r"([0-9]{1,14}|\*|)((?:id|im|cs|js|if|fw|oe|mp)_)?/")
_SCHEME = re.compile(r"(https?):/{1,2}(?!/)", re.IGNORECASE)
_ENCODED = re.compile(r"https?%3a", re.IGNORECASE)
_ANY_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:(?![0-9])", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ReplayAddress:
    """The parts of a replay path.

    Attributes:
        timestamp_prefix: up to 14 digits; empty for the latest; ``*`` for all captures.
        modifier: the expected kind of content.
        url: the URI-R, serialised, without fragment.
    """

    timestamp_prefix: str
    modifier: Modifier
    url: str


def replay_path(timestamp: str, modifier: Modifier, url: str, *, prefix: str = PREFIX) -> str:
    """Return the root-relative path of a memento, which works under any host name.

    >>> replay_path("20240229120001", Modifier.IMAGE, "https://example.com/a.png?b")
    '/web/20240229120001im_/https://example.com/a.png?b'
    """
    moment = f"{timestamp}{modifier}"
    return f"{prefix}/{moment}/{url}" if moment else f"{prefix}/{url}"


PathWriter = Callable[[ReplayAddress], str]
"""Function that returns the path of a memento, with an access token if it is needed."""


def plain_path(address: ReplayAddress) -> str:
    """Return the path of a memento without an access token."""
    return replay_path(address.timestamp_prefix, address.modifier, address.url)


@dataclass(frozen=True, slots=True)
class PathWriters:
    """Path writers for each kind of reference in a replayed document.

    Attributes:
        requisite: writer for page requisites.
        shared: writer for page requisites that browsers may load with CORS, which need an access
            token.
        frame: writer for documents in frames of a page.
        link: writer for pages that a page links to.
        redirect: writer for the targets of redirects.
    """

    requisite: PathWriter = plain_path
    shared: PathWriter = plain_path
    frame: PathWriter = plain_path
    link: PathWriter = plain_path
    redirect: PathWriter = plain_path

    def below(self, origin: str) -> "PathWriters":
        """Return writers of absolute URLs, for documents whose base URL is not on this server."""
        return PathWriters(*(_below(origin, getattr(self, each.name)) for each in fields(self)))


def _below(origin: str, write: PathWriter) -> PathWriter:
    def write_url(address: ReplayAddress) -> str:
        path = write(address)
        return path if "://" in path[:8] else origin + path

    return write_url


PLAIN = PathWriters()


def parse_replay_path(path_and_query: str) -> ReplayAddress:
    """Parse the path and query of a replay request; the query belongs to the archived URL.

    The archived URL may also be percent-encoded, have no scheme (``http`` is assumed), or have one
    slash as in ``http:/example.com``, because proxies and path normalisers merge slashes.

    Raises:
        InvalidUrl: the URL is invalid or cannot be in an archive.
    """
    path = path_and_query.removeprefix(PREFIX).removeprefix("/")
    match = _MOMENT.match(path)
    timestamp, modifier = "", Modifier.NONE
    if match and (match[1] or match[2]):
        named = match[2] or ""
        timestamp, modifier = match[1], _MODIFIER_ALIASES.get(named) or Modifier(named)
        path = path[match.end() :]
    return ReplayAddress(timestamp, modifier, parse_url(_with_scheme(path)))


def parse_archived_url(text: str) -> str:
    """Parse an archived URL in the forms that ``parse_replay_path`` accepts; serialise it.

    Raises:
        InvalidUrl: the URL is invalid or cannot be in an archive.
    """
    return parse_url(_with_scheme(text))


def _with_scheme(text: str) -> str:
    """Return the URL with its scheme and both slashes."""
    if not text:
        raise InvalidUrl(
            "The URL is missing. Add it after /web/, for example /web/https://example.com/"
        )
    url = unquote(text) if _ENCODED.match(text) else text
    scheme = _SCHEME.match(url)
    if scheme:
        return f"{scheme[1]}://{url[scheme.end() :]}"
    return url if _ANY_SCHEME.match(url) else f"http://{url}"
