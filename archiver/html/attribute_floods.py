"""Start tags with so many attributes that parsers take time quadratic in their number.

Parsers look whether an attribute is there already before they add it, one by one. Text that is no
tag, in a script, say, is cut like one: nothing is left that any parser, in whatever state, could
take for a tag with many more than ``MOST_ATTRIBUTES``.
"""

import re
from itertools import count
from typing import Final

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
