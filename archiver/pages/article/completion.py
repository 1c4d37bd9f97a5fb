"""Completion of an extracted article: absolute addresses, link targets, direction of text."""

import re
from collections.abc import Iterator
from urllib.parse import unquote

from lxml.etree import _Element as Element
from selectolax.lexbor import LexborHTMLParser

from archiver.http.urls import join
from archiver.pages.article.elements import HEADINGS, KEPT_EMPTY
from archiver.pages.article.tree import first_text, remove, text_in, unwrap
from archiver.pages.parsing import SIZES
from archiver.pages.references import read_candidates

_MAX_MARKED = 100
_MOST = 0.5
"""Minimum share of a page's text in an element that holds the article."""

_TEXT_OF_ALL = 1000
"""Maximum number of letters that are examined to detect the direction of a text."""
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
"""Hebrew, Arabic, Syriac, Thaana, N'Ko and others (UAX 44, bidirectional classes R and AL)."""


def text_direction(page: LexborHTMLParser, body: Element, marked: list[Element]) -> str:
    """Return the ``dir`` attribute of a page's text, such as ``rtl``; empty if there is none.

    The innermost element that holds most of the text and has the attribute decides.

    Args:
        page: the parsed page, whose ``html`` and ``body`` elements are read.
        body: the body of the same page as an lxml tree.
        marked: its elements with a ``dir`` attribute, in order.
    """
    directions = [each.attributes.get("dir") for each in (page.root, page.body) if each]
    marked = marked[:_MAX_MARKED]
    least = _MOST * len(text_in(body)) if marked else 0
    directions += [each.get("dir") for each in marked if len(text_in(each)) >= least]
    return next((each.lower() for each in reversed(directions) if each), "")


def set_direction(root: Element, direction: str) -> None:
    """Mark a right-to-left article with ``dir``.

    If the page states no ``rtl`` or ``ltr``, the majority of the article's letters decides.
    """
    if direction == "rtl" or (direction != "ltr" and _is_right_to_left(root)):
        root.set("dir", "rtl")


def _is_right_to_left(root: Element) -> bool:
    text = first_text(root, 4 * _TEXT_OF_ALL)[: 4 * _TEXT_OF_ALL]
    if text.isascii() or _RIGHT_TO_LEFT.search(text) is None:
        return False
    letters = [each for each in text if each.isalpha()][:_TEXT_OF_ALL]
    return len(_RIGHT_TO_LEFT.findall("".join(letters))) > len(letters) / 2


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


def complete_article(root: Element, url: str, base: str) -> None:
    """Complete an article: absolute addresses, link targets, media controls, no empty elements.

    Args:
        root: the root of the article.
        url: the URL of the page.
        base: the URL that references are resolved against.
    """
    _normalise_targets(root)
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


def make_ids_unique(root: Element, part: int) -> None:
    """Make the ids in one part of an article distinct from those in its other parts."""
    for element in root.iter():
        for name, value in element.attrib.items():
            if name == "id":
                element.set(name, f"p{part}-{value}")
            elif name.rpartition("}")[2] == "href" and value.startswith("#"):
                element.set(name, f"#p{part}-{value[1:]}")
            elif "url(#" in value:
                element.set(name, value.replace("url(#", f"url(#p{part}-"))


def _normalise_targets(root: Element) -> None:
    """Keep ids of headings and of link targets; convert an anchor's name to an id."""
    targets = {unquote(each) for each in _fragments(root)}
    seen: set[str] = set()
    for element in root.iter():
        name = element.get("id") or (element.get("name") if element.tag == "a" else None)
        if name is None:
            continue
        is_target = name in targets or element.tag in HEADINGS
        if is_target and name not in seen and not any(each.isspace() for each in name):
            seen.add(name)
            element.set("id", name)
        elif "id" in element.attrib and not _is_drawing(element):
            del element.attrib["id"]


def _is_drawing(element: Element) -> bool:
    """Return whether an element is part of an SVG, where not only links refer to ids."""
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
        _normalise_sizes(element)


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
    """Return a srcset with absolute URLs; None if no candidate can be resolved.

    Of several candidates with the same descriptor, the first is kept. If any candidate has a width,
    those without a width are dropped.
    """
    candidates: dict[str, str] = {}
    for reference, descriptors in read_candidates(value):
        absolute = join(base, reference)
        if absolute and absolute.startswith(("http:", "https:")):
            candidates.setdefault(_descriptor(descriptors), absolute)
    if any(each.endswith("w") for each in candidates):
        candidates = {each: url for each, url in candidates.items() if each.endswith("w")}
    return ", ".join(f"{url} {each}".strip() for each, url in candidates.items()) or None


def _descriptor(text: str) -> str:
    """Return the width or density descriptor of a candidate; empty if it is invalid or ``1x``."""
    match = _DESCRIPTOR.match(text)
    if match is None:
        return ""
    if match[1]:
        return f"{int(match[1])}w" if int(match[1]) else ""
    density = float(match[2])
    return "" if density in {0, 1} else f"{density:g}x"


def _normalise_sizes(element: Element) -> None:
    """Set ``sizes`` if the candidates have widths; otherwise remove it.

    By default, an image is as wide as the window.
    """
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
    """Remove empty elements, innermost first, so that emptied parents go too.

    White space in a ``span`` is kept, because it can separate words or indent code.
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
