"""HTML parsing in linear time.

Parsers look whether an attribute is there already before they add it, one by one. Text that is no
tag, in a script, say, is cut like one: nothing is left that any parser, in whatever state, could
take for a tag with many more than ``MOST_ATTRIBUTES``.

What lies deep costs time quadratic in the depth. A formatting element that is left open is built
again in every block that follows (HTML §13.2.4.3), so that a few kilobytes grow to gigabytes.
"""

import re
from collections import Counter
from itertools import count
from typing import Final

from selectolax.lexbor import LexborHTMLParser

from archiver.http.urls import join
from archiver.pages.reference_attributes import clean_reference


def base_of(tree: LexborHTMLParser, url: str) -> str:
    """The base of a parsed page at an address: the first one it names counts (HTML §4.2.3)."""
    element = tree.css_first("base[href]")
    given = (element.attributes.get("href") or "") if element else ""
    return join(url, clean_reference(given)) or url


_NUMBER = re.compile(r"-?[0-9]{1,9}")
_PIXELS = re.compile(r"[0-9]{1,5}")
_COLUMNS = re.compile(r"[1-9][0-9]{0,2}|1000")
_LENGTH = r"(?:[0-9]{1,5}(?:\.[0-9]{1,5})?(?:px|r?em|vw|vh)|calc\([a-z0-9\s.+*/-]{1,80}\))"
_CONDITION = r"\([a-z-]{1,30}:\s*[0-9.]{1,9}(?:px|r?em)\)"
_CONDITIONS = rf"{_CONDITION}(?:\s+and\s+{_CONDITION}){{0,3}}"

SIZES: Final = re.compile(rf"(?:{_CONDITIONS}\s+{_LENGTH},\s*){{0,20}}{_LENGTH}")
"""How wide a picture is shown, by the width of the window."""

_SAID = {
    "dir": re.compile("ltr|rtl|auto", re.IGNORECASE),
    "lang": re.compile("(?:[a-z]{2,3}(?:-[a-z0-9]{1,8}){0,8})?", re.IGNORECASE),
    "width": _PIXELS,
    "height": _PIXELS,
    "colspan": _COLUMNS,
    "rowspan": re.compile("[0-9]{1,4}"),
    "span": _COLUMNS,
    "scope": re.compile("row|col|rowgroup|colgroup", re.IGNORECASE),
    "start": _NUMBER,
    "value": _NUMBER,
    "preload": re.compile("none|metadata|auto|", re.IGNORECASE),
    "sizes": SIZES,
}
_KINDS = {
    "ol": re.compile("[1aAiI]"),
    "source": re.compile(
        r"[\w.+-]{1,80}/[\w.+-]{1,80}(?:\s*;\s*\w{1,20}=(?:[\w.+-]{1,80}|\"[^\"]{0,80}\"))?",
        re.ASCII,
    ),
}
"""What ``type`` may say."""


def may_say(tag: str, name: str, value: str) -> bool:
    """Whether a value is valid for an attribute of an element; those not known here may say all."""
    allowed = _KINDS.get(tag) if name == "type" else _SAID.get(name)
    return allowed is None or allowed.fullmatch(value) is not None


MOST_ATTRIBUTES: Final = 128
"""Far more than any element has that people or their programs wrote."""

MOST_MERGED: Final = 64
"""Of so many ``<html>`` and ``<body>`` tags are the attributes put together."""

_MOST_ROUNDS = 8
_SPACE = r"\t\n\f\r "
_RUN = rf"[^{_SPACE}/>]"
_VALUE = rf"""(?:"[^"]*+"|'[^']*+'|[^{_SPACE}>"'][^{_SPACE}>]*+)"""
_ATTRIBUTE = rf"(?>[{_SPACE}/]*+{_RUN}[^{_SPACE}/>=]*+(?:[{_SPACE}]*+=[{_SPACE}]*+{_VALUE})?)"
_TAG = rf"<[a-zA-Z/]{_RUN}*+"
_TAME = re.compile(
    rf"(?>(?:[^<]++|<[a-zA-Z/][^<>\"']{{0,{MOST_ATTRIBUTES}}}+>|<(?![a-zA-Z/])|"
    rf"(?!{_TAG}{_ATTRIBUTE}{{{MOST_ATTRIBUTES + 1}}}){_TAG})*)"
)
"""What holds no tag with too many attributes.

Any ``<`` may begin a tag, whatever stands around it: each is looked at from, though only so far,
and once for all that follow it without space, since they would go on alike. Most tags are short,
without quotation marks, and seen at once to be tame."""

_KEPT = MOST_ATTRIBUTES - 8
"""So many are left of too many, so that what ends the tag then is not one too many again."""

_FLOOD = re.compile(rf"({_TAG}{_ATTRIBUTE}{{{_KEPT}}})((?>{_ATTRIBUTE}+))")
"""A tag with too many attributes: what is kept, and what is not."""

_CLOSER = re.compile(
    rf"</(?:script|style|title|textarea|xmp|iframe|noembed|noframes)[{_SPACE}/]*+>|--!?>",
    re.IGNORECASE,
)
"""The end of what holds no tags, which must not go; where it is none, its ``>`` ends the tag."""

_MERGED_START = re.compile("<[hHbB][tToO][mMdD][lLyY]")
_MERGED = re.compile(rf"<(?=(?:html|body)[{_SPACE}/])", re.IGNORECASE)


def limit_attributes(html: str) -> str:
    """A page without the attributes that are too many."""
    for _ in range(_MOST_ROUNDS):
        shorter = _cut(html)
        if len(shorter) == len(html):
            break
        html = shorter
    return _limit_merged(html)


def _cut(html: str) -> str:
    """Cut each flood once; one in a value of what is kept is left for the next time."""
    out: list[str] = []
    at = 0
    while at < len(html):
        tame = _TAME.match(html, at)
        end = tame.end() if tame else at
        out.append(html[at:end])
        at = end
        flood = _FLOOD.match(html, at)
        if flood:
            closer = _CLOSER.search(flood[2])
            out.append(flood[1])
            at = flood.start(2) + closer.start() if closer else flood.end()
    return "".join(out)


def _limit_merged(html: str) -> str:
    if len(_MERGED_START.findall(html)) <= MOST_MERGED:
        return html
    number = count(1)
    return _MERGED.sub(lambda _: "<" if next(number) <= MOST_MERGED else "</", html)


MOST_DEPTH: Final = 4000
"""Deeper than any page made by people; browsers flatten what is below 512."""

MOST_REBUILT: Final = 256
"""Formatting elements that are open, on average, where another element begins."""

_ALIKE = 3
"""So many alike, with all their attributes, are built again (HTML §13.2.4.3)."""

_FLAT = (
    "area|base|br|col|embed|hr|img|input|link|meta|param|source|track|wbr"
    "|p|li|dt|dd|td|th|tr|tbody|thead|tfoot|option|optgroup|rb|rt|rp|rtc|colgroup"
)
"""Elements that can't hold others, or whose end tags are often left out."""
_TAG_DEPTH = re.compile(rf"<(/?)(?!(?:{_FLAT})[{_SPACE}/>])([a-z][^{_SPACE}/>]*+)".encode())
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
    for slash, name in _TAG_DEPTH.findall(html):
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


def parse(html: str) -> LexborHTMLParser | None:
    """The tree of a page; None of one nested too deep to be parsed in good time."""
    return None if is_too_deep(html) else LexborHTMLParser(limit_attributes(html))
