"""The address that a page names as its own (RFC 6596).

Only what can be believed: of several that differ none holds, and a page that names the root of a
site and is not at one itself names no other address of its own, but the site.
"""

from collections.abc import Iterable
from typing import Final
from urllib.parse import urlsplit

from selectolax.lexbor import LexborHTMLParser

from archiver.html.base import base_of
from archiver.references.link_header import LONGEST
from archiver.references.use import clean_reference
from archiver.urls.parse import escape_bytes, join
from archiver.wire.link_field import link_values

MOST_LINKS: Final = 20
_LINKS: Final = "head link[rel~='canonical' i][href]"


def canonical_of(tree: LexborHTMLParser, url: str) -> str:
    """The other address that a parsed page names as its own, absolute; empty if it names none."""
    links = tree.css(_LINKS)[:MOST_LINKS]
    if not links:
        return ""
    return _only([each.attributes["href"] or "" for each in links], base_of(tree, url), url)


def canonical_in_header(link_header: str, url: str) -> str:
    """The same of the ``Link`` fields of a response: no ``<base>`` moves these (RFC 8288 §3.2).

    Args:
        link_header: their values, joined with commas, one character a byte.
        url: of the response.
    """
    links = link_values(link_header[:LONGEST])
    named = [
        at for at, parameters in links if "canonical" in parameters.get("rel", "").lower().split()
    ]
    return _only(map(escape_bytes, named[:MOST_LINKS]), url, url)


def _only(references: Iterable[str], base: str, url: str) -> str:
    given = filter(None, map(clean_reference, references))
    named = {join(base, each) for each in given}
    found = named.pop() if len(named) == 1 else None
    if not found or found == url or (_is_root(found) and not _is_root(url)):
        return ""
    return found


def _is_root(url: str) -> bool:
    parts = urlsplit(url)
    return parts.path in ("", "/") and not parts.query
