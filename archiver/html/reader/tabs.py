"""Panels of which a page shows one at a time, by their tabs: here they stand one under another.

Each says first what its tab says: for which system or language its code is.
"""

from collections.abc import Iterator
from itertools import islice

from lxml import etree
from lxml.etree import _Element as Element

from archiver.html.reader.tree import around, first_text, lead_with, remove

LONGEST_TAB = 80
_MOST_ELEMENTS = 200
_TABLISTS = etree.XPath("descendant::*[@role='tablist']")
_LABELLED = etree.XPath("descendant::*[@role='tabpanel'][@aria-labelledby]")
_HIDING = ("hidden", "aria-hidden", "style")


def settle_tabs(body: Element) -> None:
    """Show panels of code whose tab is not chosen, and name every panel by its tab."""
    found = [*_by_role(body), *_by_label(body)]
    coded = around(body.iter("pre")) if found else set()
    for holder, tabs, panels in found:
        names = [first_text(each, LONGEST_TAB) for each in tabs]
        are_names = all(0 < len(each) <= LONGEST_TAB for each in names)
        if 1 < len(tabs) == len(panels) and are_names and not coded.isdisjoint(panels):
            for name, panel in zip(names, panels, strict=True):
                _name(panel, name)
            remove(holder)


def _by_role(body: Element) -> Iterator[tuple[Element, list[Element], list[Element]]]:
    """Lists of tabs with their panels, as WAI-ARIA names them (§5.4, tab, tablist, tabpanel)."""
    lists = _TABLISTS(body)
    labelled = {each.get("aria-labelledby"): each for each in _LABELLED(body)} if lists else {}
    for element in lists:
        inner = islice(element.iter(), _MOST_ELEMENTS)
        tabs = [each for each in inner if each.get("role") == "tab"]
        named = [labelled[each.get("id")] for each in tabs if each.get("id") in labelled]
        yield element, tabs, named or _panels(element.getnext())


def _panels(behind: Element | None) -> list[Element]:
    if behind is None:
        return []
    return [each for each in behind if each.get("role") == "tabpanel"]


def _by_label(body: Element) -> Iterator[tuple[Element, list[Element], list[Element]]]:
    """Blocks of labels of buttons of which one can be on, before a block of as many others."""
    buttons = {each.get("id") for each in body.iter("input") if each.get("type") == "radio"}
    for block in body.iter("div") if buttons else ():
        behind = block.getnext()
        tabs = [each for each in block if each.tag != "input"]
        are_labels = all(each.tag == "label" and each.get("for") in buttons for each in tabs)
        if tabs and are_labels and behind is not None:
            yield block, tabs, [*behind]


def _name(panel: Element, name: str) -> None:
    for each in _HIDING:
        panel.attrib.pop(each, None)
    line = etree.Element("p")
    etree.SubElement(line, "strong").text = name
    lead_with(panel, line)
