"""Strangers' drawings (SVG) made harmless: nothing runs, links, loads or goes on without end.

A drawing is shown as an image and sent with a policy that lets it do nothing; this holds where it
is taken out of the archive, too.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Final

from lxml import etree

MOST_DRAWING: Final = 32 << 10
MOST_DRAWN: Final = 5_000
"""Elements that are drawn, those that are referred to as often as they are: a few lines can say a
billion."""
_NAMES: Final = """
    svg g defs symbol use title desc style switch path rect circle ellipse line polyline polygon
    text tspan linearGradient radialGradient stop clipPath mask pattern marker filter feBlend
    feColorMatrix feComponentTransfer feComposite feDropShadow feFlood feFuncA feFuncB feFuncG
    feFuncR feGaussianBlur feMerge feMergeNode feOffset
"""
_ALLOWED: Final = frozenset(f"{{http://www.w3.org/2000/svg}}{name}" for name in _NAMES.split())
_ROOT: Final = "{http://www.w3.org/2000/svg}svg"
_STYLE: Final = "{http://www.w3.org/2000/svg}style"
_POINTS: Final = frozenset({"href", "{http://www.w3.org/1999/xlink}href"})
_LOADS = re.compile(
    r"\\|@import|image\s*\(|image-set|src\s*\(|url\(\s*+['\"]?+\s*+(?!#)", re.IGNORECASE
)
"""In CSS; whatever is spelt with escapes may mean the same."""
_REFERENCE = re.compile(r"(?:^\s*|url\(\s*['\"]?\s*)#([^'\")\s]+)", re.IGNORECASE)
_RULE = re.compile(r"([^{}]*)\{([^{}]*)\}")
_CLASSES = re.compile(r"\s*\.[\w-]+\s*(?:,\s*\.[\w-]+\s*)*")
_ANY: Final = ""


def harmless(content: bytes) -> bytes | None:
    """A drawing without what runs, links or loads; None where it is no SVG that can be shown."""
    if len(content) > MOST_DRAWING:
        return None
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True
    )
    try:
        root = etree.fromstring(content, parser)
    except (etree.XMLSyntaxError, ValueError):
        return None
    declared = root.getroottree().docinfo.internalDTD
    if root.tag != _ROOT or (declared is not None and [*declared.iterentities()]):
        return None
    for element in [*root.iter()]:
        _clean(element)
    packed: bytes = etree.tostring(root)
    return packed if len(packed) <= MOST_DRAWING and _is_light(root) else None


def _clean(element: etree._Element) -> None:
    """Take an element away that is not to be there, or its attributes."""
    parent = element.getparent()
    text = f"{element.text or ''}{element.tail or ''}" if isinstance(element.tag, str) else ""
    if element.tag not in _ALLOWED or _LOADS.search(text):
        if parent is not None:
            parent.remove(element)
        return
    for name, value in element.attrib.items():
        leads_out = name in _POINTS and not value.strip().startswith("#")
        if leads_out or str(name).lower().startswith("on") or _LOADS.search(str(value)):
            del element.attrib[name]


def _is_light(root: etree._Element) -> bool:
    """Whether a browser has drawn it soon; what refers to itself is endless."""
    named = {str(name): each for each in root.iter() if (name := each.get("id"))}
    styled = _styled(root)
    waiting, drawn = [root], 0
    while waiting and drawn <= MOST_DRAWN:
        element = waiting.pop()
        drawn += 1
        waiting += element
        waiting += [named[each] for each in _referred(element, styled) if each in named]
    return not waiting


def _referred(element: etree._Element, styled: Mapping[str, list[str]]) -> Iterator[str]:
    """The ids that an element refers to, by its attributes and by its classes."""
    for value in element.attrib.values():
        yield from _REFERENCE.findall(str(value))
    for each in (_ANY, *(element.get("class") or "").split()):
        yield from styled.get(each, ())


def _styled(root: etree._Element) -> dict[str, list[str]]:
    """The ids that style sheets refer to, by class; for every element where it is not by class."""
    found: dict[str, list[str]] = defaultdict(list)
    for sheet in root.iter(_STYLE):
        for selector, body in _RULE.findall("".join(sheet.itertext())):
            classes = re.findall(r"[\w-]+", selector) if _CLASSES.fullmatch(selector) else [_ANY]
            for each in classes:
                found[each] += _REFERENCE.findall(body)
    return found
