"""HTML parsing in linear time.

HTML parsers compare each attribute of a tag with all earlier ones. So the number of attributes per
tag is limited to about ``MAX_ATTRIBUTES`` before parsing. Text that only looks like a tag, as in a
script, is limited too, because a parser in another state may read it as a tag.

Deep nesting costs time quadratic in the depth. An unclosed formatting element is reconstructed in
every following block (HTML §13.2.4.3), so that the tree of a few kilobytes can take gigabytes.
``is_too_deep`` detects both, and ``parse`` rejects such pages.
"""

import re
from collections import Counter
from itertools import count
from typing import Final

from selectolax.lexbor import LexborHTMLParser, LexborNode

from archiver.http.urls import join
from archiver.pages.references import clean_reference


def base_of(tree: LexborHTMLParser, url: str) -> str:
    """Return the base URL of a parsed page; only the first ``<base>`` counts (HTML §4.2.3)."""
    element = tree.css_first("base[href]")
    href = (element.attributes.get("href") or "") if element else ""
    return join(url, clean_reference(href)) or url


_NUMBER = re.compile(r"-?[0-9]{1,9}")
_PIXELS = re.compile(r"[0-9]{1,5}")
_COLUMNS = re.compile(r"[1-9][0-9]{0,2}|1000")
_LENGTH = r"(?:[0-9]{1,5}(?:\.[0-9]{1,5})?(?:px|r?em|vw|vh)|calc\([a-z0-9\s.+*/-]{1,80}\))"
_CONDITION = r"\([a-z-]{1,30}:\s*[0-9.]{1,9}(?:px|r?em)\)"
_CONDITIONS = rf"{_CONDITION}(?:\s+and\s+{_CONDITION}){{0,3}}"

SIZES: Final = re.compile(rf"(?:{_CONDITIONS}\s+{_LENGTH},\s*){{0,20}}{_LENGTH}")
"""Valid values of the ``sizes`` attribute."""

_VALUE_PATTERNS = {
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
_TYPE_PATTERNS = {
    "ol": re.compile("[1aAiI]"),
    "source": re.compile(
        r"[\w.+-]{1,80}/[\w.+-]{1,80}(?:\s*;\s*\w{1,20}=(?:[\w.+-]{1,80}|\"[^\"]{0,80}\"))?",
        re.ASCII,
    ),
}
"""Valid values of the ``type`` attribute by element."""


def is_valid_value(tag: str, name: str, value: str) -> bool:
    """Return whether a value is valid for an attribute of an element.

    Any value of an attribute without a rule is valid.
    """
    allowed = _TYPE_PATTERNS.get(tag) if name == "type" else _VALUE_PATTERNS.get(name)
    return allowed is None or allowed.fullmatch(value) is not None


MAX_ATTRIBUTES: Final = 128
"""Maximum number of attributes of a tag; no real page has nearly as many."""

MAX_MERGED: Final = 64
"""Maximum number of ``<html>`` and ``<body>`` tags whose attributes are merged."""

_MAX_ROUNDS = 8
_SPACE = r"\t\n\f\r "
_RUN = rf"[^{_SPACE}/>]"
_VALUE = rf"""(?:"[^"]*+"|'[^']*+'|[^{_SPACE}>"'][^{_SPACE}>]*+)"""
_ATTRIBUTE = rf"(?>[{_SPACE}/]*+{_RUN}[^{_SPACE}/>=]*+(?:[{_SPACE}]*+=[{_SPACE}]*+{_VALUE})?)"
_TAG = rf"<[a-zA-Z/]{_RUN}*+"
_FEW_ATTRIBUTES = re.compile(
    rf"(?>(?:[^<]++|<[a-zA-Z/][^<>\"']{{0,{MAX_ATTRIBUTES}}}+>|<(?![a-zA-Z/])|"
    rf"(?!{_TAG}{_ATTRIBUTE}{{{MAX_ATTRIBUTES + 1}}}){_TAG})*)"
)
"""Text without a tag that has too many attributes.

Any ``<`` may begin a tag in some parser state, so each is checked, but only up to the first
attribute beyond the limit. A sequence of ``<`` without white space in between is checked once,
because the same attributes follow each of them. A separate alternative matches short tags without
quotation marks quickly, because most tags are like that.
"""

_MAX_COPIED_ATTRIBUTES = MAX_ATTRIBUTES - 8
"""Number of attributes that an excessive tag keeps.

It is below the limit, because a few more may follow the removed part.
"""

_EXCESSIVE_TAG = re.compile(rf"({_TAG}{_ATTRIBUTE}{{{_MAX_COPIED_ATTRIBUTES}}})((?>{_ATTRIBUTE}+))")
"""Tag with too many attributes: the part to keep, and the part to remove."""

_RAW_TEXT_END = re.compile(
    rf"</(?:script|style|title|textarea|xmp|iframe|noembed|noframes)[{_SPACE}/]*+>|--!?>",
    re.IGNORECASE,
)
"""End of a raw text element or of a comment; the removed part of a tag ends before it.

The end mark is kept, because a parser may be inside such an element or comment, and ends it there.
"""

_MERGED_START = re.compile("<[hHbB][tToO][mMdD][lLyY]")
_MERGED = re.compile(rf"<(?=(?:html|body)[{_SPACE}/])", re.IGNORECASE)


def limit_attributes(html: str) -> str:
    """Remove excessive attributes from a page."""
    for _ in range(_MAX_ROUNDS):
        shorter = _cut(html)
        if len(shorter) == len(html):
            break
        html = shorter
    return _limit_merged(html)


def _cut(html: str) -> str:
    """Cut each excessive tag once; a tag inside a kept attribute value is cut in the next round."""
    out: list[str] = []
    pos = 0
    while pos < len(html):
        tame = _FEW_ATTRIBUTES.match(html, pos)
        end = tame.end() if tame else pos
        out.append(html[pos:end])
        pos = end
        flood = _EXCESSIVE_TAG.match(html, pos)
        if flood:
            closer = _RAW_TEXT_END.search(flood[2])
            out.append(flood[1])
            pos = flood.start(2) + closer.start() if closer else flood.end()
    return "".join(out)


def _limit_merged(html: str) -> str:
    if len(_MERGED_START.findall(html)) <= MAX_MERGED:
        return html
    number = count(1)
    return _MERGED.sub(lambda _: "<" if next(number) <= MAX_MERGED else "</", html)


MAX_DEPTH: Final = 4000
"""Maximum nesting, deeper than any real page; browsers limit the depth to 512."""

MAX_REBUILT: Final = 256
"""Maximum average number of open formatting elements at the start of an element."""

_MAX_IDENTICAL = 3
"""Number of identical formatting elements that are reconstructed (HTML §13.2.4.3)."""

_NOT_NESTED = (
    "area|base|br|col|embed|hr|img|input|link|meta|param|source|track|wbr"
    "|p|li|dt|dd|td|th|tr|tbody|thead|tfoot|option|optgroup|rb|rt|rp|rtc|colgroup"
)
"""Elements that cannot contain others, or whose end tags are often omitted."""
_NESTING_TAG = re.compile(rf"<(/?)(?!(?:{_NOT_NESTED})[{_SPACE}/>])([a-z][^{_SPACE}/>]*+)".encode())
_START = re.compile(rf"<(?!(?:{_NOT_NESTED})[{_SPACE}/>])[a-z]".encode())
_REBUILT = "b|big|code|em|font|i|s|small|strike|strong|tt|u"
"""Formatting elements that can be nested in themselves.

``a`` and ``nobr`` cannot: their start tags close an open element of the same name.
"""
_REBUILT_START = re.compile(rf"<(?:{_REBUILT})[{_SPACE}/>]".encode())
_ANY_TAG = re.compile(rf"<(?:(/)?({_REBUILT})(?=[{_SPACE}/>])([^<>]*+)|[a-z])".encode())


def is_too_deep(html: str) -> bool:
    """Return whether parsing would take much longer than the length suggests."""
    if html.count("<") <= MAX_DEPTH:
        return False
    lowered = html.encode("utf-8", "replace").lower()
    return _is_nested(lowered) or _is_rebuilt(lowered)


def _is_nested(html: bytes) -> bool:
    """Return whether elements are nested too deep; end tags without a start tag are ignored."""
    if len(_START.findall(html)) <= MAX_DEPTH:
        return False
    opened: Counter[bytes] = Counter()
    depth = 0
    for slash, name in _NESTING_TAG.findall(html):
        if not slash:
            opened[name] += 1
            depth += 1
            if depth > MAX_DEPTH:
                return True
        elif opened[name]:
            opened[name] -= 1
            depth -= 1
    return False


def _is_rebuilt(html: bytes) -> bool:
    """Return whether too many formatting elements are open, on average, at each start tag."""
    if len(_REBUILT_START.findall(html)) <= MAX_REBUILT:
        return False
    opened: dict[bytes, list[bytes]] = {}
    alike: Counter[tuple[bytes, bytes]] = Counter()
    open_now = rebuilt = count = 0
    for slash, name, attributes in _ANY_TAG.findall(html):
        count += 1
        if not slash:
            rebuilt += open_now
        if name and not slash:
            opened.setdefault(name, []).append(attributes)
            alike[name, attributes] += 1
            open_now += alike[name, attributes] <= _MAX_IDENTICAL
        elif opened.get(name):
            key = (name, opened[name].pop())
            open_now -= alike[key] <= _MAX_IDENTICAL
            alike[key] -= 1
    return rebuilt > MAX_REBUILT * count


MAX_SHADOWS: Final = 5000
"""Maximum number of shadow roots whose content is put into the page."""

_SHADOW_MODE = "shadowrootmode"


def parse(html: str) -> LexborHTMLParser | None:
    """Return the tree of a page with its declarative shadow roots opened; None if too deep."""
    if is_too_deep(html):
        return None
    tree = LexborHTMLParser(limit_attributes(html))
    if _SHADOW_MODE in html:
        _open_shadow_roots(tree)
    return tree


def _open_shadow_roots(tree: LexborHTMLParser) -> None:
    """Replace the content of hosts by their shadow trees, as displayed (HTML §4.12.3, DOM §4.8)."""
    opened: set[int] = set()
    roots = tree.template_fragments()[::-1]
    for _ in range(MAX_SHADOWS):
        root = roots.pop() if roots else None
        if root is None:
            return
        template = root.parent
        host = template.parent if template is not None else None
        if template is None or host is None:
            continue
        if (template.attributes.get(_SHADOW_MODE) or "").lower() not in {"open", "closed"}:
            continue
        roots += reversed(root.template_fragments())
        if host.mem_id not in opened:
            opened.add(host.mem_id)
            _open_shadow_root(root, template, host)


def _open_shadow_root(root: LexborNode, template: LexborNode, host: LexborNode) -> None:
    """Put the content of a shadow root into its host, with the host's children in its slots."""
    content = [each for each in host.iter(include_text=True) if each.mem_id != template.mem_id]
    children_by_slot: dict[str, list[LexborNode]] = {}
    for each in content:
        name = (each.attributes.get("slot") or "") if each.is_element_node else ""
        children_by_slot.setdefault(name, []).append(each)
    for slot in root.css("slot"):
        assigned = children_by_slot.pop(slot.attributes.get("name") or "", [])
        for each in assigned:
            slot.insert_before(each, move=True)
        if assigned:
            slot.decompose()
    for children in children_by_slot.values():
        for each in children:
            each.decompose()
    for each in [*root.iter(include_text=True)]:
        template.insert_before(each, move=True)
    template.decompose()
