"""SVG and MathML elements.

The XML parser resolves no entities and fetches nothing; malformed documents are read up to the
error.

The lists of allowed elements contain none with scripts, animation, external content or HTML: no
``script``, ``style``, ``foreignObject``, ``image``, ``animate``, ``annotation-xml`` or filter.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import unescape
from typing import Final

from lxml import etree
from selectolax.lexbor import LexborHTMLParser, LexborNode

from archiver.pages.references import ROOTS, element_kind, kind_inside


class ForeignContent:
    """Detection of SVG and MathML in HTML, with a cache so that no ancestor is visited twice.

    Args:
        root: the root of the page, or of a template's content.
    """

    def __init__(self, root: LexborHTMLParser | LexborNode) -> None:
        self._is_there = root.css_first(", ".join(ROOTS)) is not None
        self._inside: dict[int, str] = {}

    def kind(self, node: LexborNode) -> str:
        """Return ``svg`` or ``math``; empty for HTML."""
        return element_kind(_name(node), self._around(node)) if self._is_there else ""

    def _around(self, node: LexborNode) -> str:
        path: list[LexborNode] = []
        above = node.parent
        while above is not None and above.mem_id not in self._inside:
            path.append(above)
            above = above.parent
        kind = self._inside[above.mem_id] if above is not None else ""
        for element in reversed(path):
            name = _name(element)
            kind = kind_inside(name, element_kind(name, kind))
            self._inside[element.mem_id] = kind
        return kind


def _name(node: LexborNode) -> str:
    return (node.tag or "").lower()


_KINDS: Final = {
    "http://www.w3.org/2000/svg": "svg",
    "http://www.w3.org/1998/Math/MathML": "math",
    "http://www.w3.org/1999/xhtml": "",
}
_XLINK: Final = "{http://www.w3.org/1999/xlink}"
_HREF = re.compile(r"""(?:^|[\t\n\r ])href[\t\n\r ]*+=[\t\n\r ]*+(?:"([^"]*+)"|'([^']*+)')""")
_PIECE = 1 << 16


@dataclass(frozen=True, slots=True)
class XmlElement:
    """One element.

    Attributes:
        name: local name in lower case, as in ``references``.
        kind: ``svg``, ``math``, or empty for HTML.
        attributes: attributes without a namespace, and those of XLink, such as ``xlink:href``.
        text: the content of a style element; empty for others.
    """

    name: str
    kind: str
    attributes: dict[str, str | None]
    text: str


@dataclass(frozen=True, slots=True)
class XmlStyle:
    """Style sheet named by an ``xml-stylesheet`` instruction."""

    href: str


def walk_xml(text: str) -> Iterator[XmlElement | XmlStyle]:
    """Yield the elements and style sheet instructions of XML, in the order of their ends."""
    parser = etree.XMLPullParser(
        events=("end", "pi"),
        encoding="utf-8",
        resolve_entities=False,
        load_dtd=False,
        no_network=True,
        huge_tree=False,
        remove_comments=True,
    )
    payload = text.encode("utf-8", "replace")
    for start in range(0, len(payload), _PIECE):
        try:
            parser.feed(payload[start : start + _PIECE])
        except etree.XMLSyntaxError:
            yield from _seen(parser)
            return
        yield from _seen(parser)


def _seen(parser: "etree.XMLPullParser[etree._Element]") -> Iterator[XmlElement | XmlStyle]:
    try:
        for event, node in parser.read_events():
            event_node = _instruction(node) if event == "pi" else _element(node)
            if event_node:
                yield event_node
    except etree.XMLSyntaxError:
        return


def _instruction(node: etree._Element) -> XmlStyle | None:
    if getattr(node, "target", "") != "xml-stylesheet":
        return None
    href = _HREF.search(node.text or "")
    return XmlStyle(unescape(href[1] or href[2] or "")) if href else None


def _element(node: etree._Element) -> XmlElement | None:
    name = etree.QName(node)
    kind = _KINDS.get(name.namespace or "")
    if kind is None:
        _drop(node)
        return None
    local = name.localname.lower()
    attributes: dict[str, str | None] = {
        key.replace(_XLINK, "xlink:").lower(): value
        for key, value in node.attrib.items()
        if not key.startswith("{") or key.startswith(_XLINK)
    }
    element = XmlElement(local, kind, attributes, (node.text or "") if local == "style" else "")
    _drop(node)
    return element


def _drop(node: etree._Element) -> None:
    """Free processed nodes, so that a long document has a bounded tree."""
    node.clear(keep_tail=False)


SVG: Final = frozenset(
    "svg circle clipPath defs desc ellipse g line linearGradient marker mask path pattern polygon "
    "polyline radialGradient rect stop symbol text textPath tspan use".split()
)
_GEOMETRY = (
    "x y x1 y1 x2 y2 cx cy r rx ry fx fy dx dy d points width height viewBox transform rotate "
    "preserveAspectRatio refX refY markerWidth markerHeight markerUnits orient offset spreadMethod "
    "gradientUnits gradientTransform patternUnits patternContentUnits patternTransform "
    "clipPathUnits maskUnits maskContentUnits startOffset textLength lengthAdjust pathLength"
)
_PAINTED = (
    "fill fill-opacity fill-rule stroke stroke-width stroke-opacity stroke-linecap stroke-linejoin "
    "stroke-dasharray stroke-dashoffset stroke-miterlimit opacity color stop-color stop-opacity "
    "clip-path clip-rule mask marker-start marker-mid marker-end paint-order vector-effect "
    "text-anchor dominant-baseline alignment-baseline baseline-shift font-family font-size "
    "font-style font-weight letter-spacing word-spacing text-decoration display visibility "
    "shape-rendering text-rendering writing-mode"
)
PRESENTATION: Final = frozenset(_PAINTED.split())
"""Presentation attributes, equivalent to style properties (SVG 2 §6.6)."""

SVG_ATTRIBUTES: Final = (
    frozenset(_GEOMETRY.split()) | PRESENTATION | {"href", "role", "aria-label", "id"}
)
MATHML: Final = frozenset(
    "math annotation maction menclose merror mfrac mi mlabeledtr mmultiscripts mn mo mover mpadded "
    "mphantom mprescripts mroot mrow ms mspace msqrt mstyle msub msubsup msup mtable mtd mtext mtr "
    "munder munderover none semantics".split()
)
MATHML_ATTRIBUTES: Final = frozenset(
    "display displaystyle scriptlevel mathvariant mathsize mathcolor mathbackground stretchy fence "
    "separator lspace rspace minsize maxsize symmetric largeop movablelimits accent accentunder "
    "form width height depth voffset linethickness columnspan rowspan columnalign rowalign frame "
    "rowspacing columnspacing columnlines rowlines notation encoding alttext intent arg".split()
)
