"""Emphasis around blocks goes into each of them (HTML §3.2.5.2.5): phrases hold no block."""

from collections.abc import Container

from lxml import etree
from lxml.etree import _Element as Element

from archiver.html.reader.paragraphs import wrap_loose_text

_SILENT = frozenset({"span", "rt", "ruby", "time", "q", "bdo"})
"""What says nothing of each block in it."""

_FILLED = frozenset({"p", "div", "li", "dd", "td"})
_MOST = 4
"""What a block is emphasised by at once. A page may nest far more, all of it around many blocks."""


def open_up(phrases: list[Element]) -> dict[Element, str]:
    """Make blocks of phrases that hold some, the innermost first; what each of them said."""
    opened = {}
    for phrase in reversed(phrases):
        if phrase.tag not in _SILENT:
            opened[phrase] = phrase.tag
        _make_block(phrase)
        if phrase in opened:
            wrap_loose_text(phrase)
    return opened


def push_in(
    elements: list[Element], opened: dict[Element, str], holding: Container[Element]
) -> None:
    """Say in each block what is said around it, each thing once.

    Args:
        elements: of the article, in order.
        opened: what was opened up, with its name before.
        holding: what blocks stand in.
    """
    around: dict[Element, tuple[str, ...]] = {}
    for element in elements:
        names = around.get(element.getparent(), ())
        name = opened.get(element)
        if name is not None and name not in names and len(names) < _MOST:
            names = (*names, name)
        if names:
            around[element] = names
    for element, names in around.items():
        if element.tag in _FILLED and element not in holding and (element.text or len(element)):
            _fill(element, names)


def _make_block(phrase: Element) -> None:
    phrase.tag = "div"
    for name, value in phrase.attrib.items():
        if name not in {"id", "lang", "dir"} or not value:
            del phrase.attrib[name]


def _fill(block: Element, names: tuple[str, ...]) -> None:
    """Put all that a block holds into elements of these names, the first around the others."""
    for name in reversed(names):
        inner = etree.Element(name)
        inner.text, block.text = block.text, None
        inner.extend(list(block))
        block.append(inner)
