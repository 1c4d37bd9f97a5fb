"""Text set from top to bottom, or from right to left: kept as the page set it.

It is by one of two names, and by ``dir``, and nothing else. Of lines from top to bottom known are
the page's own ``style`` attributes and elements, and the sheets that come with it.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from lxml import etree
from lxml.etree import _Element as Element
from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError

from archiver.html.reader.tree import first_text, lengths
from archiver.html.writing_modes import PROPERTY, VERTICAL, rules_in, said_by
from archiver.references.use import clean_reference
from archiver.urls.parse import join

_MOST_CSS, _MOST_SELECTED = 1_000_000, 1000
_MOST_LEVELS = 40
_MOST_OF = 0.5
"""The share of a page's text in what its article may stand in."""

_MARK = "data-writing"
_TEXT_OF_ALL = 1000
"""Characters of a text by which its script is known."""
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
"""Hebrew, Arabic, Syriac, Thaana, N'Ko and others (UAX 44, bidirectional classes R and AL)."""
_TURNED = etree.XPath("boolean(descendant::*[@dir])")

Sheets = Sequence[tuple[str, str]]
"""Style sheets of files of their own, as they are needed: addresses, with what is in them."""


def mark_writing(page: LexborHTMLParser, source: str, base: str, sheets: Sheets) -> str | None:
    """Mark what a parsed page, whose style elements are still there, sets in some direction.

    The mode of all of the page comes back; None where it says nothing of directions.
    """
    if PROPERTY not in source and not sheets:
        return None
    for selector, mode in rules_in(_css(page, base, sheets)):
        for element in _selected(page, selector):
            element.attrs[_MARK] = mode
    modes = [_mode_of(element.attributes) for element in page.css("html, body")]
    return next(filter(None, reversed(modes)), "")


def page_direction(page: LexborHTMLParser) -> str:
    """What a page says of all of it: ``rtl``, ``ltr``, ``auto``, or nothing."""
    said = [(each.attributes.get("dir") or "").lower() for each in page.css("html, body")]
    return next(filter(None, reversed(said)), "")


def lines_of(body: Element, mode: str | None, direction: str) -> tuple[str, str]:
    """How the article of a page is set, where all of the page is set in that mode and direction.

    What holds most of the text of what it stands in is gone down into, and the innermost counts:
    ``vertical-rl``, ``vertical-lr``, or empty if it is not vertical; and as ``page_direction``.
    """
    for inner in _down(body) if mode is not None or _TURNED(body) else ():
        mode = _mode_of(inner.attrib) or mode
        direction = (inner.get("dir") or "").lower() or direction
    return mode if mode and VERTICAL.fullmatch(mode) else "", direction


def set_lines(root: Element, mode: str, direction: str) -> None:
    """Let an article say how it is set; of vertical lines nothing in it says so of its own.

    Where a page does not say in which direction it is read, most letters of the article do.
    """
    for block in root.iter("div"):
        if VERTICAL.fullmatch(block.get("class") or ""):
            del block.attrib["class"]
    if mode:
        root.set("class", mode)
    if direction == "rtl" or (direction != "ltr" and _is_right_to_left(root)):
        root.set("dir", "rtl")


def _is_right_to_left(root: Element) -> bool:
    text = first_text(root, 4 * _TEXT_OF_ALL)[: 4 * _TEXT_OF_ALL]
    if text.isascii() or _RIGHT_TO_LEFT.search(text) is None:
        return False
    letters = [each for each in text if each.isalpha()][:_TEXT_OF_ALL]
    return len(_RIGHT_TO_LEFT.findall("".join(letters))) > len(letters) / 2


def _down(body: Element) -> Iterator[Element]:
    """What holds most of the text of a page, from the outside in."""
    sizes, element = lengths(body), body
    for _ in range(_MOST_LEVELS):
        inner = max(element, key=lambda each: sizes.get(each, 0), default=None)
        if inner is None or sizes.get(inner, 0) < _MOST_OF * sizes[body]:
            return
        yield inner
        element = inner


def _css(page: LexborHTMLParser, base: str, sheets: Sheets) -> str:
    """What sheets say, in the order of the page; what those import comes before them."""
    left = dict(sheets)
    given = []
    for each in page.css("style, link[rel~='stylesheet' i][href]"):
        said = each.attributes
        shown = (said.get("media") or "").strip().lower() != "print"
        if each.tag == "style":
            given.append(each.text() or "")
            continue
        sheet = left.pop(join(base, clean_reference(said.get("href") or "")) or "", "")
        if shown and "alternate" not in (said.get("rel") or "").lower().split():
            given.append(sheet)
    return "\n".join([*left.values(), *given])[:_MOST_CSS]


def _selected(page: LexborHTMLParser, selector: str) -> list[LexborNode]:
    try:
        return page.css(selector)[:_MOST_SELECTED]
    except SelectolaxError:
        return []


def _mode_of(attributes: Mapping[str, str | None]) -> str:
    """The mode of one element: its own style before what sheets give it."""
    return said_by(attributes.get("style") or "") or attributes.get(_MARK) or ""
