"""Pages that tree builders make more of than was written: nested deep, or formatted again.

What lies deep costs time quadratic in the depth. A formatting element that is left open is built
again in every block that follows (HTML §13.2.4.3), so that a few kilobytes grow to gigabytes.
"""

import re
from collections import Counter
from typing import Final

MOST_DEPTH: Final = 4000
"""Deeper than any page made by people; browsers flatten what is below 512."""

MOST_REBUILT: Final = 256
"""Formatting elements that are open, on average, where another element begins."""

_ALIKE = 3
"""So many alike, with all their attributes, are built again (HTML §13.2.4.3)."""

_SPACE = r"\t\n\f\r "
_FLAT = (
    "area|base|br|col|embed|hr|img|input|link|meta|param|source|track|wbr"
    "|p|li|dt|dd|td|th|tr|tbody|thead|tfoot|option|optgroup|rb|rt|rp|rtc|colgroup"
)
"""Elements that can't hold others, or whose end tags are often left out."""
_TAG = re.compile(rf"<(/?)(?!(?:{_FLAT})[{_SPACE}/>])([a-z][^{_SPACE}/>]*+)".encode())
_START = re.compile(rf"<(?!(?:{_FLAT})[{_SPACE}/>])[a-z]".encode())
_REBUILT = "b|big|code|em|font|i|s|small|strike|strong|tt|u"
"""Formatting elements but ``a`` and ``nobr``, of which a new one closes the last."""
_REBUILT_START = re.compile(rf"<(?:{_REBUILT})[{_SPACE}/>]".encode())
_ANY_TAG = re.compile(rf"<(?:(/)?({_REBUILT})(?=[{_SPACE}/>])([^<>]*+)|[a-z])".encode())


def is_too_deep(html: str) -> bool:
    """Whether building its tree would take much more than its length lets expect."""
    if html.count("<") <= MOST_DEPTH:
        return False
    lowered = html.encode("utf-8", "replace").lower()
    return _is_nested(lowered) or _is_rebuilt(lowered)


def _is_nested(html: bytes) -> bool:
    """Whether elements are nested too deep; an end tag closes what has its name, or nothing."""
    if len(_START.findall(html)) <= MOST_DEPTH:
        return False
    opened: Counter[bytes] = Counter()
    depth = 0
    for slash, name in _TAG.findall(html):
        if not slash:
            opened[name] += 1
            depth += 1
            if depth > MOST_DEPTH:
                return True
        elif opened[name]:
            opened[name] -= 1
            depth -= 1
    return False


def _is_rebuilt(html: bytes) -> bool:
    """Whether too many formatting elements are open where others begin."""
    if len(_REBUILT_START.findall(html)) <= MOST_REBUILT:
        return False
    opened: dict[bytes, list[bytes]] = {}
    alike: Counter[tuple[bytes, bytes]] = Counter()
    open_now = rebuilt = seen = 0
    for slash, name, attributes in _ANY_TAG.findall(html):
        seen += 1
        if not slash:
            rebuilt += open_now
        if name and not slash:
            opened.setdefault(name, []).append(attributes)
            alike[name, attributes] += 1
            open_now += alike[name, attributes] <= _ALIKE
        elif opened.get(name):
            key = (name, opened[name].pop())
            open_now -= alike[key] <= _ALIKE
            alike[key] -= 1
    return rebuilt > MOST_REBUILT * seen
