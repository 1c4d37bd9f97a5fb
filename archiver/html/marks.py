"""Marks that tell what stands in a page's place, by its title and its source. Pure."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from selectolax.lexbor import LexborHTMLParser

from archiver.html.signals import MOST_COUNTED

_LOOKED_AT: Final = 128 << 10
"""Characters of the source: what stands in a page's place is short."""
_MOST_PATTERNS = 256


@dataclass(frozen=True, slots=True)
class Mark:
    """What tells whose a page is: all that is given of title and source must be there.

    Attributes:
        name: whose.
        title, source: regular expressions, whatever the case; empty where nothing is asked.
    """

    name: str
    title: str = ""
    source: str = ""


def marked_by(marks: Iterable[Mark], tree: LexborHTMLParser, source: str, text: str) -> str:
    """The name of the first mark that a page bears; empty where it bears none.

    Args:
        marks: that are looked for.
        tree: of the page.
        source: of the page.
        text: the start of what can be read of it, as ``signals.readable_start`` gives it: of a
            page with more to read marks say nothing.
    """
    if len(text) >= MOST_COUNTED:
        return ""
    node = tree.css_first("title")
    title = (node.text() if node else "").strip()
    start = source[:_LOOKED_AT]
    for each in marks:
        if each.title and not _compiled(each.title).search(title):
            continue
        if each.source and not _compiled(each.source).search(start):
            continue
        return each.name
    return ""


@lru_cache(_MOST_PATTERNS)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)
