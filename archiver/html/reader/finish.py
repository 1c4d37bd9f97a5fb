"""The last step before an article is sanitised: addresses, targets of links, nothing empty."""

import re
from collections.abc import Iterator
from urllib.parse import unquote

from lxml.etree import _Element as Element

from archiver.html.attribute_values import SIZES
from archiver.html.reader.names import HEADINGS, KEPT_EMPTY
from archiver.html.reader.tree import remove, unwrap
from archiver.references.srcset import read_candidates
from archiver.urls.parse import join

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
