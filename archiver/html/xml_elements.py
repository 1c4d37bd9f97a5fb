"""The elements of an XML document that browsers know: those of SVG, MathML and HTML.

Entities are not resolved and nothing is fetched; a document that breaks is read up to there.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import unescape
from typing import Final

from lxml import etree

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
        name: local, lower case, as ``references`` has it.
        kind: ``svg``, ``math``, or empty for HTML.
        attributes: those without a namespace, and XLink's as ``xlink:href``.
        text: what stands in a style element; empty for others.
    """

    name: str
    kind: str
    attributes: dict[str, str | None]
    text: str


@dataclass(frozen=True, slots=True)
class XmlStyle:
    """A style sheet that an ``xml-stylesheet`` instruction names."""

    href: str


def walk_xml(text: str) -> Iterator[XmlElement | XmlStyle]:
    """Everything of a document that may point somewhere, in the order in which it ends."""
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
            found = _instruction(node) if event == "pi" else _element(node)
            if found:
                yield found
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
    found = XmlElement(local, kind, attributes, (node.text or "") if local == "style" else "")
    _drop(node)
    return found


def _drop(node: etree._Element) -> None:
    """Let go of what was read: a long document holds a bounded tree."""
    node.clear(keep_tail=False)
