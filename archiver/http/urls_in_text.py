"""URLs in running text and in the markup of notes.

A URL may contain any non-ASCII letter. Brackets around a URL do not belong to it, and neither does
the punctuation at the end of a sentence. Chinese and Japanese punctuation ends a URL even if no
space follows.
"""

import re
from collections.abc import Iterator
from html import unescape
from typing import NamedTuple

# Brackets and quotation marks of any script, CJK punctuation, and invisible characters.
_ENDS = (
    r"\s<>\"`\x00-\x1f\x7f"
    "\u00ab\u00bb\u2018\u201a\u201c-\u201e\u2039\u203a\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff"
    "\u3001-\u3003\u3008-\u3011\u3014-\u301b\u301d-\u301f\u2014"
    "\uff01\uff02\uff07-\uff09\uff0c\uff0e\uff1a\uff1b\uff1c\uff1e\uff1f"
    "\uff3b\uff3d\uff5b\uff5d\uff5f-\uff64\u060c\u061b\u061f\u0964\u0965"
)
_PLAIN = rf"[^{_ENDS}()\[\]{{}}]"
# Balanced parentheses belong to a URL, up to two deep: "(see https://x.example/a_(b))". So do
# braces, names in brackets in a query (?tag[]=a), and an IPv6 address.
_URL = re.compile(
    rf"https?://(?:\[[0-9a-f:.%]{{2,60}}\])?"
    rf"(?>(?:{_PLAIN}++"
    rf"|\((?>(?:{_PLAIN}++|\({_PLAIN}*+\))*)\)"
    rf"|\{{{_PLAIN}*+\}}"
    rf"|\[[\w.-]{{0,60}}\](?=[=\[]))+)",
    re.IGNORECASE,
)
_ONLY_URL = re.compile(rf"https?://(?:[^{_ENDS}\[\]{{}}]|\uff08[^{_ENDS}]*\uff09)++", re.IGNORECASE)
_NEXT_URL = re.compile(r"[,;|](?=https?://)", re.IGNORECASE)
_TRAILING = ".,;:!?'*_~\\|\u2026\u2019\u201d\u3002"
_AMPERSAND = re.compile("&(?:amp|#38|#x26);", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"(?:href|src|cite|url)\s{0,9}=\s{0,9}[\"']?\Z", re.IGNORECASE)
_MOST_BEFORE = 40


class FoundUrl(NamedTuple):
    """URL in a text, and where it starts and ends there."""

    url: str
    start: int
    end: int


def urls_in_text(text: str) -> Iterator[FoundUrl]:
    """Yield the http(s) URLs in a text, without the punctuation around them.

    >>> [found.url for found in urls_in_text("(https://a.example/b_(c)), https://d.example/e.")]
    ['https://a.example/b_(c)', 'https://d.example/e']
    """
    for match in _URL.finditer(text):
        whole, start = match[0], match.start()
        if text[max(0, start - 1) : start] in ("[", "<"):  # [[url|title]], <url|title>
            whole = whole.partition("|")[0]
        for part in _NEXT_URL.split(whole):
            url = part.rstrip(_TRAILING)
            yield FoundUrl(_without_references(text, start, url), start, start + len(url))
            start += len(part) + 1


def is_only_url(line: str) -> bool:
    """Return whether a line consists only of URLs, separated as ``split_urls`` expects.

    In such a line, a full stop at the end belongs to the URL.
    """
    return _ONLY_URL.fullmatch(line) is not None


def split_urls(line: str) -> list[str]:
    """Split a line of URLs at the ``,``, ``;`` or ``|`` between them."""
    return _NEXT_URL.split(line)


def first_url_in(text: str) -> str:
    """Return the first URL in a text; empty if there is none."""
    return next((match.url for match in urls_in_text(text)), "")


def _without_references(text: str, start: int, url: str) -> str:
    """Replace character references in a URL that was found in HTML.

    All are replaced if the URL is in an attribute, otherwise only those of ``&``.
    """
    if "&" not in url:
        return url
    if _ATTRIBUTE.search(text, max(0, start - _MOST_BEFORE), start):
        return unescape(url)
    return _AMPERSAND.sub("&", url)
