"""Drawings in a page: what its styles say becomes attributes, and icons go."""

import re
from typing import Final

from lxml.etree import _Element as Element

from archiver.html.foreign_allowed import PRESENTATION
from archiver.html.reader.tree import outermost, remove

ICON: Final = 32
"""Pixels a side: what is no larger is an icon."""

MOST_RULES: Final = 300
LONGEST_SHEET: Final = 64 << 10
_RULE = re.compile(r"([^{}]{1,500})\{([^{}]{0,2000})\}")
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_SELECTOR = re.compile(r"(?:\.|#)?[A-Za-z_][\w-]*")
_NUMBER = re.compile(r"\s*([0-9]{1,6}(?:\.[0-9]{0,6})?)\s*(?:px)?\s*")
_BETWEEN = re.compile(r"[\s,]+")
_SHAPES = ("path", "rect", "circle", "ellipse", "line", "polyline", "polygon", "text")

Rules = dict[str, dict[str, str]]


def settle_drawings(body: Element) -> None:
    """Settle every drawing of a page."""
    for drawing in outermost(body, "svg"):
        if is_icon(drawing):
            remove(drawing)
        else:
            _apply_styles(drawing)


def is_icon(drawing: Element) -> bool:
    """Whether a drawing is an icon, or holds nothing that is shown."""
    if next(drawing.iter(*_SHAPES), None) is None:
        return True
    sides = _sides(drawing)
    return bool(sides) and max(sides) <= ICON


def _sides(drawing: Element) -> tuple[float, ...]:
    style = _declarations(drawing.get("style") or "", {"width", "height"})
    found = [
        _NUMBER.fullmatch(drawing.get(name) or style.get(name) or "")
        for name in ("width", "height")
    ]
    sides = tuple(float(each[1]) for each in found if each)
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
        meant: dict[str, str] = dict(rules.get(element.tag, {})) if rules else {}
        for name in (element.get("class") or "").split()[:8] if rules else ():
            meant.update(rules.get(f".{name}", {}))
        if rules and element.get("id"):
            meant.update(rules.get(f"#{element.get('id')}", {}))
        if style := element.get("style"):
            meant.update(_declarations(style, PRESENTATION))
        for name, value in meant.items():
            element.set(name, value)


def _read_rules(drawing: Element) -> Rules:
    """The simple rules of a drawing's own style sheets, by selector."""
    rules: Rules = {}
    for sheet in list(drawing.iter("style")):
        text = _COMMENT.sub("", (sheet.text or "")[:LONGEST_SHEET])
        for selectors, block in _RULE.findall(text)[:MOST_RULES]:
            meant = _declarations(block, PRESENTATION)
            for selector in map(str.strip, selectors.split(",")):
                if _SELECTOR.fullmatch(selector):
                    rules.setdefault(selector, {}).update(meant)
        remove(sheet)
    return rules


def _declarations(style: str, wanted: frozenset[str] | set[str]) -> dict[str, str]:
    found = {}
    for declaration in style[:4096].split(";"):
        name, colon, value = declaration.partition(":")
        name = name.strip().lower()
        if colon and name in wanted:
            found[name] = value.replace("!important", "").strip()
    return found
