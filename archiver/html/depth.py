"""Pages nested so deep that tree builders take time quadratic in it."""

import re

MOST_DEPTH = 4000
"""Deeper than any page made by people; browsers flatten what is below 512."""
_TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9]*)")
_FLAT = frozenset(
    "area base br col embed hr img input link meta param source track wbr "
    "p li dt dd td th tr tbody thead tfoot option optgroup rb rt rp rtc colgroup".split()
)
"""Elements that can't hold others, or whose end tags are often left out."""


def is_too_deep(html: str) -> bool:
    """Whether elements are nested deeper than ``MOST_DEPTH``, give or take what is left open."""
    if html.count("<") <= MOST_DEPTH:
        return False
    depth = 0
    for tag in _TAG.finditer(html):
        if tag[2].lower() in _FLAT:
            continue
        depth = max(depth - 1, 0) if tag[1] else depth + 1
        if depth > MOST_DEPTH:
            return True
    return False
