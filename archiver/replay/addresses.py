"""Replay addresses."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import unquote

from archiver.errors import InvalidUrl
from archiver.http.urls import parse_url

PREFIX = "/web"

EVERY = "*"
"""Stands where a timestamp would: all captures of a URL."""


class Modifier(StrEnum):
    """What the one who asks takes the capture for."""

    NONE = ""
    IDENTITY = "id_"
    IMAGE = "im_"
    STYLE = "cs_"
    SCRIPT = "js_"
    FRAME = "if_"


_OTHERS = {"fw_": Modifier.FRAME, "oe_": Modifier.IMAGE, "mp_": Modifier.NONE}
"""Modifiers other archives write, and what they come to here."""

_MOMENT = re.compile(r"([0-9]{1,14}|\*|)((?:id|im|cs|js|if|fw|oe|mp)_)?/")
_SCHEME = re.compile(r"(https?):/{1,2}(?!/)", re.IGNORECASE)
_ENCODED = re.compile(r"https?%3a", re.IGNORECASE)
_ANY_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:(?![0-9])", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ReplayAddress:
    """What a replay path asks for.

    Attributes:
        timestamp_prefix: up to 14 digits; empty for the latest; ``*`` for all captures.
        modifier: what it is taken for.
        url: the URI-R, serialised, without fragment.
    """

    timestamp_prefix: str
    modifier: Modifier
    url: str


def replay_path(timestamp: str, modifier: Modifier, url: str, *, prefix: str = PREFIX) -> str:
    """The root-relative path of a memento, so that the archive works under any host name.

    >>> replay_path("20240229120001", Modifier.IMAGE, "https://example.com/a.png?b")
    '/web/20240229120001im_/https://example.com/a.png?b'
    """
    moment = f"{timestamp}{modifier}"
    return f"{prefix}/{moment}/{url}" if moment else f"{prefix}/{url}"


PathWriter = Callable[[ReplayAddress], str]
"""Writes where a memento is asked for, with the permission to do so where it needs one."""


def plain_path(address: ReplayAddress) -> str:
    """The path of a memento that needs no permission of its own."""
    return replay_path(address.timestamp_prefix, address.modifier, address.url)


@dataclass(frozen=True, slots=True)
class PathWriters:
    """How the addresses in what is replayed are written.

    Attributes:
        requisite: of what a page loads.
        frame: of documents within a page.
        link: of pages that a page links to.
        redirect: of what a capture is answered with instead.
    """

    requisite: PathWriter = plain_path
    frame: PathWriter = plain_path
    link: PathWriter = plain_path
    redirect: PathWriter = plain_path


PLAIN = PathWriters()


def parse_replay_path(path_and_query: str, *, prefix: str = PREFIX) -> ReplayAddress:
    """Read a path as it stood in the request, its query belonging to the archived URL.

    ``http:/example.com`` (proxies and path normalisers merge slashes), a URL without a scheme
    (``http`` is taken) and a percent-encoded one are understood.

    Raises:
        InvalidUrl: what it asks for is not a URL that can be in an archive.
    """
    rest = path_and_query.removeprefix(prefix).removeprefix("/")
    found = _MOMENT.match(rest)
    timestamp, modifier = "", Modifier.NONE
    if found and (found[1] or found[2]):
        timestamp, modifier = found[1], _modifier(found[2] or "")
        rest = rest[found.end() :]
    return ReplayAddress(timestamp, modifier, parse_url(_whole(rest)))


def parse_archived_url(text: str) -> str:
    """The URL that stands in one of our paths, serialised; read as ``parse_replay_path`` does.

    Raises:
        InvalidUrl: it is none that can be in an archive.
    """
    return parse_url(_whole(text))


def _modifier(text: str) -> Modifier:
    return _OTHERS[text] if text in _OTHERS else Modifier(text)


def _whole(text: str) -> str:
    """The URL with its scheme and both slashes."""
    if not text:
        raise InvalidUrl("No URL is given: write it after /web/, such as /web/https://example.com/")
    given = unquote(text) if _ENCODED.match(text) else text
    scheme = _SCHEME.match(given)
    if scheme:
        return f"{scheme[1]}://{given[scheme.end() :]}"
    return given if _ANY_SCHEME.match(given) else f"http://{given}"
