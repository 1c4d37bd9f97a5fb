"""Completion of an extracted article: addresses, link targets, writing modes.

It is by one of two names, and by ``dir``, and nothing else. Of lines from top to bottom known are
the page's own ``style`` attributes and elements, and the sheets that come with it.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from urllib.parse import unquote

from lxml import etree
from lxml.etree import _Element as Element
from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError

from archiver.http.urls import join
from archiver.pages.article.elements import HEADINGS, KEPT_EMPTY
from archiver.pages.article.tree import first_text, lengths, remove, unwrap
from archiver.pages.parsing import SIZES
from archiver.pages.reference_attributes import clean_reference
from archiver.pages.reference_values import read_candidates
from archiver.pages.writing_modes import PROPERTY, VERTICAL, rules_in, said_by

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


_EMPTY_GOES = frozenset({"p", "div", "span", "section", "figure", "li", "ul", "ol"} | HEADINGS)
_DESCRIPTOR = re.compile(r"([0-9]{1,6})w|([0-9]{1,3}(?:\.[0-9]{1,5})?)x")
_SOURCES = {
    "img": ("src",),
    "video": ("src", "poster"),
    "audio": ("src",),
    "source": ("src",),
    "a": ("href",),
    "blockquote": ("cite",),
    "q": ("cite",),
}


def finish(root: Element, url: str, base: str) -> None:
    """Make an article stand by itself.

    Args:
        root: of the article.
        url: of the page.
        base: that references are resolved against.
    """
    _settle_targets(root)
    for element in list(root.iter(*_SOURCES)):
        _resolve(element, url, base)
    _drop_empty(root)
    for element in list(root.iter("pre")):
        element.text = (element.text or "").lstrip("\n") if not len(element) else element.text
    for played in root.iter("video", "audio"):
        played.set("controls", "")
        played.set("preload", "metadata" if not played.get("poster") else "none")
    for heading in root.iter("h1"):
        heading.tag = "h2"


def set_apart(root: Element, part: int) -> None:
    """Give the ids of a part of an article names that no other part of it has."""
    for element in root.iter():
        for name, value in element.attrib.items():
            if name == "id":
                element.set(name, f"p{part}-{value}")
            elif name.rpartition("}")[2] == "href" and value.startswith("#"):
                element.set(name, f"#p{part}-{value[1:]}")
            elif "url(#" in value:
                element.set(name, value.replace("url(#", f"url(#p{part}-"))


def _settle_targets(root: Element) -> None:
    """Keep an id where a link leads to it, and of headings; an anchor's name is its id."""
    wanted = {unquote(each) for each in _fragments(root)}
    seen: set[str] = set()
    for element in root.iter():
        name = element.get("id") or (element.get("name") if element.tag == "a" else None)
        if name is None:
            continue
        is_target = name in wanted or element.tag in HEADINGS
        if is_target and name not in seen and not any(each.isspace() for each in name):
            seen.add(name)
            element.set("id", name)
        elif "id" in element.attrib and not _is_drawing(element):
            del element.attrib["id"]


def _is_drawing(element: Element) -> bool:
    """Parts of drawings name each other in other ways, too."""
    above = element.getparent()
    return above is not None and above.tag in {"svg", "defs", "g", "symbol"}


def _fragments(root: Element) -> Iterator[str]:
    for link in root.iter("a"):
        _, mark, fragment = (link.get("href") or "").partition("#")
        if mark and fragment:
            yield fragment


def _resolve(element: Element, url: str, base: str) -> None:
    for name in _SOURCES[element.tag]:
        value = element.get(name)
        if value is not None:
            _set(element, name, _absolute(value, url, base, is_link=element.tag == "a"))
    if element.get("srcset"):
        _set(element, "srcset", _absolute_set(element.get("srcset"), base))
        _settle_sizes(element)


def _absolute(value: str, url: str, base: str, *, is_link: bool) -> str | None:
    value = value.strip()
    if value.startswith("data:image/"):
        return "".join(value.split())
    if not is_link:
        return join(base, value) if value else None
    if value.startswith("#"):
        return value
    page, mark, fragment = value.partition("#")
    absolute = join(base, page) if page else url
    if not (absolute and fragment):
        return absolute
    return f"#{fragment}" if absolute == url.partition("#")[0] else f"{absolute}{mark}{fragment}"


def _absolute_set(value: str, base: str) -> str | None:
    """The candidates that can be resolved, each with its descriptor: all of one kind, each once."""
    candidates: dict[str, str] = {}
    for given, descriptors in read_candidates(value):
        absolute = join(base, given)
        if absolute and absolute.startswith(("http:", "https:")):
            candidates.setdefault(_descriptor(descriptors), absolute)
    if any(each.endswith("w") for each in candidates):
        candidates = {each: url for each, url in candidates.items() if each.endswith("w")}
    return ", ".join(f"{url} {each}".strip() for each, url in candidates.items()) or None


def _descriptor(given: str) -> str:
    """How wide or dense a candidate is; empty for what says nothing."""
    found = _DESCRIPTOR.match(given)
    if found is None:
        return ""
    if found[1]:
        return f"{int(found[1])}w" if int(found[1]) else ""
    density = float(found[2])
    return "" if density in {0, 1} else f"{density:g}x"


def _settle_sizes(element: Element) -> None:
    """Widths are chosen among by ``sizes``; a picture is as wide as the window by default."""
    if not (element.get("srcset") or "").endswith("w"):
        element.attrib.pop("sizes", None)
    elif SIZES.fullmatch(element.get("sizes") or "") is None:
        element.set("sizes", "100vw")


def _set(element: Element, name: str, value: str | None) -> None:
    if value:
        element.set(name, value)
    else:
        del element.attrib[name]


def _drop_empty(root: Element) -> None:
    """From the inside out, so that what holds nothing but empty elements is empty, too.

    White space that is marked parts words, and indents code.
    """
    for element in reversed(list(root.iter())):
        if element is root or element.tag not in _EMPTY_GOES:
            continue
        if len(element) or (element.text and element.text.strip()) or "id" in element.attrib:
            continue
        if element.tag == "span":
            unwrap(element)
        elif element.tag not in KEPT_EMPTY:
            remove(element)
