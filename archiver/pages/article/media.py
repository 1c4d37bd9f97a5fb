"""Normalisation of images, audio, video, SVG and captions of an article."""

import re
from itertools import islice
from typing import Final

from lxml import etree
from lxml.etree import _Element as Element

from archiver.pages.article.tree import (
    Marked,
    ancestors,
    lengths,
    outermost,
    prepend,
    remove,
    replace,
    text_in,
)
from archiver.pages.css_references import rewrite_css
from archiver.pages.foreign_elements import PRESENTATION
from archiver.pages.references import (
    BACKGROUNDS,
    HTML,
    LAZY,
    LAZY_IMAGES,
    Use,
    is_image_url,
    is_placeholder,
    is_preview,
    read_candidates,
    resolve,
)

_CAPTIONED = ("img", "svg", "video", "audio", "table", "pre", "math", "blockquote")


def normalise_captions(root: Element) -> None:
    """Make the captions of an article valid (HTML §4.4.12).

    A caption for which no figure is found becomes a ``div``.
    """
    loose = [each for each in root.iter("figcaption") if _figure_of(each) is None]
    sizes = lengths(root) if loose else {}
    pictured = ancestors(root.iter(*_CAPTIONED)) if loose else set()
    for caption in loose:
        if _figure_of(caption) is None:
            _find_figure(caption, sizes, pictured)
    for figure in root.iter("figure"):
        _normalise_figure(figure)


def _figure_of(caption: Element) -> Element | None:
    return next(caption.iterancestors("figure"), None)


def _find_figure(caption: Element, sizes: dict[Element, int], pictured: set[Element]) -> None:
    """Move a caption into an adjacent figure, or make the ``div`` around it a figure.

    If neither is possible, the caption becomes a ``div``.
    """
    above = caption.getparent()
    for beside in (caption.getprevious(), caption.getnext()):
        if beside is not None and beside.tag == "figure" and beside.find(".//figcaption") is None:
            remove(caption)
            caption.tail = None
            beside.append(caption)
            return
    is_all = sizes[above] == sizes[caption]
    if above.tag == "div" and is_all and above in pictured:
        above.tag = "figure"
    else:
        caption.tag = "div"


def _normalise_figure(figure: Element) -> None:
    captions = [each for each in figure.iter("figcaption") if _figure_of(each) is figure]
    for caption in captions[1:]:
        caption.tag = "div"
    if not captions:
        return
    caption = captions[0]
    for each in caption.iterchildren("span"):
        # A margin separated a sentence from the credit.
        if not each.tail and text_in(each).endswith((".", "!", "?")):
            each.tail = " "
    if next(figure.iter("figcaption", *_CAPTIONED)) is caption:
        prepend(figure, caption)
    else:
        remove(caption)
        caption.tail = None
        figure.append(caption)


ICON: Final = 32
"""Maximum width and height of an icon in pixels."""

MAX_RULES: Final = 300
MAX_SHEET: Final = 64 << 10
_RULE = re.compile(r"([^{}]{1,500})\{([^{}]{0,2000})\}")
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_SELECTOR = re.compile(r"(?:\.|#)?[A-Za-z_][\w-]*")
_NUMBER = re.compile(r"\s*([0-9]{1,6}(?:\.[0-9]{0,6})?)\s*(?:px)?\s*")
_BETWEEN = re.compile(r"[\s,]+")
_SHAPES = ("path", "rect", "circle", "ellipse", "line", "polyline", "polygon", "text")

Rules = dict[str, dict[str, str]]


def normalise_drawings(body: Element) -> None:
    """Normalise every SVG of a page.

    An SVG that contains only an image is replaced by the image, an icon is removed, and the style
    rules of other SVGs become attributes.
    """
    for drawing in outermost(body, "svg"):
        if (picture := _only_picture(drawing)) is not None:
            replace(drawing, picture)
        elif is_icon(drawing):
            remove(drawing)
        else:
            _apply_styles(drawing)


def _only_picture(drawing: Element) -> Element | None:
    """Return the image of an SVG with one image and no shapes, as ``<img>``; otherwise None."""
    images = [*islice(drawing.iter("image"), 2)]
    if len(images) != 1 or next(drawing.iter(*_SHAPES), None) is not None:
        return None
    source = images[0].get("href") or images[0].get("xlink:href") or ""
    return None if is_placeholder(source) else etree.Element("img", src=source, alt="")


def is_icon(drawing: Element) -> bool:
    """Return whether an SVG is an icon, or contains nothing visible."""
    if next(drawing.iter(*_SHAPES), None) is None:
        return True
    sides = _sides(drawing)
    return bool(sides) and max(sides) <= ICON


def _sides(drawing: Element) -> tuple[float, ...]:
    style = _declarations(drawing.get("style") or "", {"width", "height"})
    edges = [
        _NUMBER.fullmatch(drawing.get(name) or style.get(name) or "")
        for name in ("width", "height")
    ]
    sides = tuple(float(each[1]) for each in edges if each)
    if sides:
        return sides
    box = _BETWEEN.split((drawing.get("viewbox") or "").strip())
    if len(box) != 4 or drawing.get("width") or drawing.get("height"):
        return ()
    try:
        return float(box[2]), float(box[3])
    except ValueError:
        return ()


def _apply_styles(drawing: Element) -> None:
    rules = _read_rules(drawing)
    for element in drawing.iter():
        if not isinstance(element.tag, str):
            continue
        styles: dict[str, str] = dict(rules.get(element.tag, {})) if rules else {}
        for name in (element.get("class") or "").split()[:8] if rules else ():
            styles.update(rules.get(f".{name}", {}))
        if rules and element.get("id"):
            styles.update(rules.get(f"#{element.get('id')}", {}))
        if style := element.get("style"):
            styles.update(_declarations(style, PRESENTATION))
        for name, value in styles.items():
            element.set(name, value)


def _read_rules(drawing: Element) -> Rules:
    """Remove the style sheets in an SVG and return their declarations by selector.

    Only selectors that are a single tag, class or id are returned.
    """
    rules: Rules = {}
    for sheet in list(drawing.iter("style")):
        text = _COMMENT.sub("", (sheet.text or "")[:MAX_SHEET])
        for selectors, block in _RULE.findall(text)[:MAX_RULES]:
            declarations = _declarations(block, PRESENTATION)
            for selector in map(str.strip, selectors.split(",")):
                if _SELECTOR.fullmatch(selector):
                    rules.setdefault(selector, {}).update(declarations)
        remove(sheet)
    return rules


def _declarations(style: str, names: frozenset[str] | set[str]) -> dict[str, str]:
    values = {}
    for declaration in style[:4096].split(";"):
        name, colon, value = declaration.partition(":")
        name = name.strip().lower()
        if colon and name in names:
            values[name] = value.replace("!important", "").strip()
    return values


SMALLEST: Final = 2
"""An image whose width and height are both below this number of pixels is a tracking pixel."""

_MAX_BESIDE = 20
_PREVIEW = re.compile(r"thumbnail|placeholder|preview|blur|lqip", re.IGNORECASE)
"""Classes of preview images that a script replaces with the full image."""

_MAX_STYLE = 2048
_SIZE = re.compile(r"\s*([0-9]{1,5})(?:\.[0-9]{0,9})?(?:px)?\s*")
_STYLE_SIZE = re.compile(
    r"(?:^|;)\s*(width|height)\s*:\s*([0-9]{1,5})(?:\.[0-9]{0,9})?px", re.IGNORECASE
)
_WIDTH = re.compile(r"([0-9]{1,5})w|([0-9]{1,2}(?:\.[0-9]{1,3})?)x")


def normalise_media(body: Element, marked: Marked) -> None:
    """Undo lazy loading, replace placeholders by their ``<noscript>`` images, and set sizes."""
    for noscript in outermost(body, "noscript"):
        _use_noscript_fallback(noscript)
    for element in list(body.iter("img", "source", "video", "audio")):
        _undo_laziness(element)
    for image in list(body.iter("img")):
        _normalise_image(image)
    for picture in body.iter("picture"):
        if next(picture.getparent().iter("img"), None) is None:
            _add_image(picture)
    named = _named_pictures(marked)
    blocks = body.iter("figure", "div", "span", "a") if named else body.iter("figure")
    pictured = [each for each in blocks if each.tag == "figure" or each in named]
    holding = ancestors(body.iter("img", "svg", "video")) if pictured else set()
    done: set[Element] = set()
    for element in pictured:
        is_new = element not in holding and done.isdisjoint(element.iterancestors())
        if is_new and _show_background(element):
            done.add(element)


def _use_noscript_fallback(noscript: Element) -> None:
    """Replace a lazy image by its ``<noscript>`` fallback."""
    images = list(noscript.iter("img"))
    if not images:
        remove(noscript)
        return
    if len(images) == 1:
        _drop_placeholder(noscript, images[0])
    holder = etree.Element("span")
    holder.text = noscript.text
    for child in list(noscript):
        holder.append(child)
    replace(noscript, images[0] if len(holder) == 1 and holder[0] is images[0] else holder)


def _drop_placeholder(noscript: Element, image: Element) -> None:
    """Remove the placeholder and previews before a ``<noscript>`` image.

    The image gets the size, alternative text and id of the placeholder.
    """
    before = _pictured_alone(noscript.getprevious())
    if before is None:
        return
    waiting = before if before.tag == "img" else next(before.iter("img"))
    for name in ("width", "height", "alt", "id"):
        if waiting.get(name) and not image.get(name):
            image.set(name, waiting.get(name))
    parent = noscript.getparent()
    remove(before)
    for each in list(islice(parent, _MAX_BESIDE)):
        if each.tag == "img" and each is not image and _PREVIEW.search(each.get("class") or ""):
            remove(each)
    blurred = _pictured_alone(noscript.getprevious())
    if blurred is not None:
        placeholder = next(blurred.iter("img"))
        sizes = [(each.get("width"), each.get("height")) for each in (placeholder, image)]
        if all(sizes[0]) and sizes[0] == sizes[1]:
            remove(blurred)


def _pictured_alone(before: Element | None) -> Element | None:
    """Return the preceding element if it contains one image and no text; otherwise None."""
    if before is None or (before.tail and before.tail.strip()):
        return None
    is_one = len(list(before.iter("img"))) == 1
    has_words = any(text.strip() for text in before.itertext())
    return before if is_one and not has_words else None


def _undo_laziness(element: Element) -> None:
    """Copy URLs from lazy-loading attributes to those that browsers load (``references.LAZY``)."""
    rules = HTML[element.tag]

    def value_of(name: str) -> str:
        return str(element.get(name) or "")

    names_present = element.keys()
    for eager, lazy in LAZY.items():
        names = [name for name in lazy if name in names_present]
        if eager not in rules or not names:
            continue
        is_waiting = is_placeholder(value_of(eager))
        if is_waiting or is_preview(value_of):
            sources = (name for name in names if resolve(rules.get(name), value_of))
            name = next(
                (each for each in sources if is_waiting or is_image_url(value_of(each))), ""
            )
            if name:
                element.set(eager, value_of(name))
                _drop_size_of_pixel(element)


def _drop_size_of_pixel(image: Element) -> None:
    """Remove the size of a placeholder of one pixel."""
    for side in ("width", "height"):
        if 0 <= _size(image, side) < SMALLEST:
            image.attrib.pop(side, None)


def _normalise_image(image: Element) -> None:
    width, height = _size(image, "width"), _size(image, "height")
    if 0 <= width < SMALLEST and 0 <= height < SMALLEST:
        remove(image)
        return
    if is_placeholder(image.get("src") or "") and not _is_inline_image(image):
        best = largest(image.get("srcset") or "") or _source_of(image)
        if best:
            image.set("src", best)
        elif (image.get("src") or "data:").startswith("data:"):
            remove(image)
            return
    for name, value in (("width", width), ("height", height)):
        if value > 0:
            image.set(name, str(value))
        elif name in image.attrib:
            del image.attrib[name]


def _is_inline_image(image: Element) -> bool:
    """Return whether an image is a ``data:`` URL and not just a placeholder."""
    source = image.get("src") or ""
    return source.startswith("data:image/") and len(source) > _MAX_HOLDER


_MAX_HOLDER = 400


def largest(srcset: str) -> str:
    """Return the URL of the largest image in a ``srcset``; empty if there is none."""
    best, most = "", -1.0
    for url, descriptors in read_candidates(srcset):
        match = _WIDTH.match(descriptors)
        size = float(match[1] or match[2]) if match else 1.0
        if size > most and not is_placeholder(url):
            best, most = url, size
    return best


def _source_of(image: Element) -> str:
    above = image.getparent()
    if above is None or above.tag != "picture":
        return ""
    return next(filter(None, (largest(each.get("srcset") or "") for each in above)), "")


def _size(element: Element, name: str) -> int:
    """Return the width or height in pixels; -1 if it is not given."""
    digits = _SIZE.fullmatch(element.get(name) or "")
    if digits:
        return int(digits[1])
    style = element.get("style") or ""
    if len(style) > _MAX_STYLE:
        return -1
    sizes = {match[1].lower(): int(match[2]) for match in _STYLE_SIZE.finditer(style)}
    return sizes.get(name, -1)


def _add_image(picture: Element) -> None:
    """Add an ``<img>`` to a ``<picture>`` that has only sources, as a script would."""
    sets = (largest(each.get("srcset") or "") for each in picture.iter("source"))
    if best := next(filter(None, sets), ""):
        etree.SubElement(picture, "img", src=best, alt="")


_BACKGROUND_NAMES = {*BACKGROUNDS, *LAZY_IMAGES, "data-bgset"}


def _named_pictures(marked: Marked) -> set[Element]:
    """Return the elements with the role of an image, and empty ones that name a background."""
    backgrounds = (each for name in _BACKGROUND_NAMES for each in marked[name])
    return {each for each in marked["role"] if each.get("role") == "img"}.union(
        each for each in backgrounds if not len(each) and not (each.text or "").strip()
    )


def _show_background(element: Element) -> bool:
    """Insert the background image of an element as an ``<img>``; return whether it has one."""
    url = next((element.get(each) for each in BACKGROUNDS if element.get(each)), "")
    values = (element.get(each) or "" for each in LAZY_IMAGES)
    url = url or next(filter(is_image_url, values), "")
    url = _in_css(url) if "(" in url else url or largest(element.get("data-bgset") or "")
    url = url or _background(element) or next(filter(None, map(_background, element)), "")
    if url:
        image = etree.Element("img", src=url, alt=element.get("aria-label") or "")
        element.insert(0, image)
        image.tail, element.text = element.text, None
    return bool(url)


def _background(element: Element) -> str:
    return _in_css(element.get("style") or "")


def _in_css(style: str) -> str:
    """Return the URL of the first image in CSS declarations or in a CSS value; empty if none."""
    if "url(" not in style or len(style) > _MAX_STYLE:
        return ""
    urls: list[str] = []

    def see(reference: str, use: Use) -> None:
        if use is Use.PAINT and reference.strip() and not is_placeholder(reference):
            urls.append(reference.strip())

    rewrite_css(style, see)
    return urls[0] if urls else ""
