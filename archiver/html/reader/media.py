"""Pictures and recordings as a page that ran its scripts would show them."""

import re
from itertools import islice
from typing import Final
from urllib.parse import unquote

from lxml import etree
from lxml.etree import _Element as Element

from archiver.html.reader.names import HEADINGS
from archiver.html.reader.tree import around, first_text, outermost, remove, replace
from archiver.references.css import lead_css
from archiver.references.elements import HTML
from archiver.references.lazy import LAZY, is_placeholder
from archiver.references.srcset import read_candidates
from archiver.references.use import Use, resolve

SMALLEST: Final = 2
"""Pixels a side: what is smaller counts visits."""

LONGEST_FILE_NAME: Final = 200
"""Characters of a heading that may be the name of a file."""

_FILE = re.compile(r"[^\s/]+\.(?:jpe?g|png|gif|webp|avif|svg)", re.IGNORECASE)
_LONGEST_STYLE = 2048
_BACKGROUNDS = ("data-bg", "data-background", "data-background-image")
_SIZE = re.compile(r"\s*([0-9]{1,5})(?:\.[0-9]{0,9})?(?:px)?\s*")
_STYLE_SIZE = re.compile(
    r"(?:^|;)\s*(width|height)\s*:\s*([0-9]{1,5})(?:\.[0-9]{0,9})?px", re.IGNORECASE
)
_WIDTH = re.compile(r"([0-9]{1,5})w|([0-9]{1,2}(?:\.[0-9]{1,3})?)x")
_IN_JSON = re.compile(
    r"https?:(?:\\?/){2}[^\s\"'<>\\]+(?:\\?/[^\s\"'<>\\]+)*\.(?:jpe?g|png|webp|gif)"
)


def settle_media(body: Element) -> None:
    """Undo what loads later, take the better of twins, give everything its size."""
    for twin in outermost(body, "noscript"):
        _settle_twin(twin)
    for element in list(body.iter("img", "source", "video", "audio")):
        _undo_laziness(element)
    for image in list(body.iter("img")):
        _settle_image(image)
    pictured = [
        each for each in body.iter("figure", "div", "span", "a") if _is_called_picture(each)
    ]
    holding = around(body.iter("img", "svg", "video")) if pictured else set()
    for element in pictured:
        if element not in holding:
            _show_background(element)
    for heading in list(body.iter(*HEADINGS)):
        _drop_file_name(heading)


def _settle_twin(twin: Element) -> None:
    """What is for browsers without scripts takes the place of what waits for them."""
    images = list(twin.iter("img"))
    if not images:
        remove(twin)
        return
    if len(images) == 1:
        _drop_waiting(twin, images[0])
        _drop_waiting_behind(twin, images[0])
    holder = etree.Element("span")
    holder.text = twin.text
    for child in list(twin):
        holder.append(child)
    replace(twin, images[0] if len(holder) == 1 and holder[0] is images[0] else holder)


def _drop_waiting(twin: Element, image: Element) -> None:
    """Take away what an image waits behind: one without scripts' work, and one that is blurred."""
    before = _pictured_alone(twin.getprevious())
    if before is None:
        return
    waiting = before if before.tag == "img" else next(before.iter("img"))
    for name in ("width", "height", "alt", "id"):
        if waiting.get(name) and not image.get(name):
            image.set(name, waiting.get(name))
    remove(before)
    blurred = _pictured_alone(twin.getprevious())
    if blurred is not None:
        shown = next(blurred.iter("img"))
        sizes = [(each.get("width"), each.get("height")) for each in (shown, image)]
        if all(sizes[0]) and sizes[0] == sizes[1]:
            remove(blurred)


def _drop_waiting_behind(twin: Element, image: Element) -> None:
    """Take away what waits right behind for the same picture."""
    behind = None if (twin.tail or "").strip() else twin.getnext()
    if behind is None or behind.tag != "img" or not is_placeholder(behind.get("src") or ""):
        return
    if image.get("src") in {value for _, value in behind.attrib.items()}:
        remove(behind)


def _pictured_alone(before: Element | None) -> Element | None:
    """An element that holds an image and no words, right before what follows."""
    if before is None or (before.tail and before.tail.strip()):
        return None
    is_one = len(list(before.iter("img"))) == 1
    has_words = any(text.strip() for text in before.itertext())
    return before if is_one and not has_words else None


def _undo_laziness(element: Element) -> None:
    """Put what scripts would have loaded in the place of what held it (``references.lazy``)."""
    rules = HTML[element.tag]

    def value_of(name: str) -> str:
        return str(element.get(name) or "")

    for eager, lazy in LAZY.items():
        if eager in rules and is_placeholder(value_of(eager)):
            meant = (name for name in lazy if resolve(rules.get(name), value_of))
            if name := next(meant, None):
                element.set(eager, value_of(name))


def _settle_image(image: Element) -> None:
    width, height = _size(image, "width"), _size(image, "height")
    if 0 <= width < SMALLEST and 0 <= height < SMALLEST:
        remove(image)
        return
    if is_placeholder(image.get("src") or "") and not _is_drawn(image):
        best = largest(image.get("srcset") or "") or _source_of(image) or _in_settings(image)
        if best:
            image.set("src", best)
    for name, value in (("width", width), ("height", height)):
        if value > 0:
            image.set(name, str(value))
        elif name in image.attrib:
            del image.attrib[name]


def _is_drawn(image: Element) -> bool:
    """Whether an image is its own data, and not only a place held by some."""
    source = image.get("src") or ""
    return source.startswith("data:image/") and len(source) > _LONGEST_HOLDER


_LONGEST_HOLDER = 400


def largest(srcset: str) -> str:
    """The largest candidate of a ``srcset``; empty if there is none."""
    best, most = "", -1.0
    for url, descriptors in read_candidates(srcset):
        found = _WIDTH.match(descriptors)
        size = float(found[1] or found[2]) if found else 1.0
        if size > most and not is_placeholder(url):
            best, most = url, size
    return best


def _source_of(image: Element) -> str:
    above = image.getparent()
    if above is None or above.tag != "picture":
        return ""
    return next(filter(None, (largest(each.get("srcset") or "") for each in above)), "")


def _in_settings(image: Element) -> str:
    """The address of an image in any attribute that scripts read settings from."""
    for name, value in image.attrib.items():
        if name.startswith("data-") and len(value) <= _LONGEST_STYLE:
            found = _IN_JSON.search(value)
            if found:
                return found[0].replace("\\/", "/")
    return ""


def _size(element: Element, name: str) -> int:
    """The width or height in pixels; -1 where it is not given."""
    found = _SIZE.fullmatch(element.get(name) or "")
    if found:
        return int(found[1])
    style = element.get("style") or ""
    if len(style) > _LONGEST_STYLE:
        return -1
    sizes = {match[1].lower(): int(match[2]) for match in _STYLE_SIZE.finditer(style)}
    return sizes.get(name, -1)


def _is_called_picture(element: Element) -> bool:
    return bool(element.tag == "figure" or element.get("role") == "img")


def _show_background(element: Element) -> None:
    """The background of what is called a picture becomes one."""
    url = next((element.get(each) for each in _BACKGROUNDS if element.get(each)), "")
    url = url or _background(element) or next(filter(None, map(_background, element)), "")
    if url:
        image = etree.Element("img", src=url, alt=element.get("aria-label") or "")
        element.insert(0, image)
        image.tail, element.text = element.text, None


def _drop_file_name(heading: Element) -> None:
    """Take away a heading that only names the file of the picture beside it."""
    said = first_text(heading, LONGEST_FILE_NAME)
    if _FILE.fullmatch(said) is None:
        return
    beside = [*islice(heading.itersiblings(), 2), *islice(heading.itersiblings(preceding=True), 1)]
    images = (image for each in beside for image in islice(each.iter("img"), 2))
    if any(said.casefold() in unquote(each.get("src") or "").casefold() for each in images):
        remove(heading)


def _background(element: Element) -> str:
    style = element.get("style") or ""
    if "url(" not in style or len(style) > _LONGEST_STYLE:
        return ""
    found: list[str] = []

    def see(reference: str, use: Use) -> None:
        if use is Use.IMAGE and reference.strip() and not is_placeholder(reference):
            found.append(reference.strip())

    lead_css(style, see)
    return found[0] if found else ""
