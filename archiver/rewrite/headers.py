"""Which header fields of an archived response act when it is replayed.

``Content-Language`` stays; ``Location``, ``Refresh`` and ``Link`` lead into the archive. Every
other field is shown as ``X-Archive-Orig-<name>``, so that it can be read and does nothing: policies
(Content-Security-Policy, Strict-Transport-Security, Clear-Site-Data, Service-Worker-Allowed …) were
given for another origin. Cookies are left out: they were secrets. What describes the bytes
(``Content-Type``, ``Content-Encoding``, ``Content-Length``) is for the one who serves them.
"""

import re
from collections.abc import Callable, Iterable
from typing import Final

from archiver.references.link_header import LoadingLink, read_link_header
from archiver.references.relations import AHEAD
from archiver.references.use import Use
from archiver.rewrite.url_rewriter import UrlRewriter
from archiver.rewrite.values import rewrite_refresh
from archiver.urls.parse import escape_bytes
from archiver.wire.head import readable

ORIGINAL_PREFIX: Final = "X-Archive-Orig-"

_KEPT = frozenset({"content-language"})
_LEFT_OUT = frozenset({"set-cookie", "set-cookie2"})
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9a-zA-Z-]{1,128}")
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_MOST_FIELDS = 100
_LONGEST_VALUE = 4096

_LINK_PARAMETERS = ("as", "media", "type", "fetchpriority")


def rewrite_headers(fields: Iterable[tuple[str, str]], links: UrlRewriter) -> list[tuple[str, str]]:
    """The fields to replay a response with.

    Args:
        fields: (name, value) as they were.
        links: of the response's URL; what a redirect leads to gets the modifier of its pages.
    """
    acting: list[tuple[str, str]] = []
    shown: list[tuple[str, str]] = []
    for given, value in fields:
        name = given.lower()
        if name in _LEFT_OUT or not _TOKEN.fullmatch(name) or len(value) > _LONGEST_VALUE:
            continue
        clean = _CONTROL.sub(" ", value)
        shown.append((ORIGINAL_PREFIX + name, readable(clean)))
        if name in _KEPT:
            acting.append((name.title(), clean))
        elif name in _REWRITTEN and (rewritten := _REWRITTEN[name](clean, links)):
            acting.append((name.title(), rewritten))
    return acting + shown[:_MOST_FIELDS]


def _location(value: str, links: UrlRewriter) -> str:
    return links.lead(escape_bytes(value), Use.ANCHOR) or ""


def _refresh(value: str, links: UrlRewriter) -> str:
    return rewrite_refresh(value, lambda url: links.lead(url, Use.ANCHOR))


def _link(value: str, links: UrlRewriter) -> str:
    """Only links that load something are kept: others could be taken for the archive's own.

    What is only preloaded the page asks for itself, if it needs it, or else scripts would have.
    """
    kept = []
    for link in read_link_header(value):
        if link.relations <= AHEAD:
            continue
        led = links.lead(escape_bytes(link.reference), link.use)
        kept += [_write_link(led, link)] if led else []
    return ", ".join(kept)


def _write_link(path: str, link: LoadingLink) -> str:
    rel = " ".join(sorted(link.relations))
    given = link.parameters
    others = (f'; {name}="{given[name]}"' for name in _LINK_PARAMETERS if name in given)
    return f'<{path}>; rel="{rel}"{"".join(others)}'


_REWRITTEN: Final[dict[str, Callable[[str, UrlRewriter], str]]] = {
    "location": _location,
    "refresh": _refresh,
    "link": _link,
}
