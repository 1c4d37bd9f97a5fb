"""Panels that are shown by a click: tabs, accordions and disclosures.

A panel with content is shown below the name of its tab, or below its button, which becomes a
heading.
"""

import re
from collections.abc import Iterator
from itertools import chain, islice

from lxml import etree
from lxml.etree import _Element as Element

from archiver.pages.article.elements import (
    FORM_CONTROLS,
    HEADINGS,
    SENTENCE,
    UNLIKELY_ROLES,
    is_boilerplate_name,
    named,
)
from archiver.pages.article.scoring import Measure, measure_in
from archiver.pages.article.tree import Marked, ancestors, bare, first_text, prepend, remove

MAX_LABEL = 200
MAX_TAB = 80
MAX_LINKED = 0.33
"""Maximum link density of a panel with content; menus have a higher one."""

_SHORTEST = 20
_MAX_ELEMENTS = 200
_MAX_PANELS = 300
_LEVELS = 40
_MARKS = ("role", "aria-expanded", "data-toggle", "data-bs-toggle")
"""Attributes of which tab lists and buttons of panels have at least one."""

_TAB_TOGGLES = frozenset({"tab", "pill"})
_HIDING = ("hidden", "aria-hidden", "style")
_AROUND = frozenset({"nav", "header", "footer", "form", "dialog", "aside"})
_ROLES = UNLIKELY_ROLES | {"listbox", "tooltip", "search", "banner", "contentinfo", "menuitem"}
_NOT_CONTENT = re.compile(
    r"modal|menu|drawer|overlay|pop-?(?:up|over)|tooltip|lightbox|off-?canvas|dropdown|toast"
    r"|cookie|consent|search|share|lang",
    re.IGNORECASE,
)
_MORE = re.compile(
    r"(?:read|show|see|view|load|learn)\s+(?:more|all|less|full.*|answers?|solution|details)"
    r"|more|expand(?:\s+all)?|continue reading|(?:mehr|alles?)\s+(?:an)?zeigen|weiterlesen"
    r"|mehr(?: lesen)?|lire (?:la suite|plus)|voir plus|afficher (?:la suite|plus)"
    r"|(?:leer|ver) m\u00e1s"
    r"|leggi (?:tutto|di pi\u00f9)|ler mais|lees (?:meer|verder)|\u7d9a\u304d\u3092\u8aad\u3080"
    r"|\u3082\u3063\u3068\u898b\u308b|\u9605\u8bfb\u66f4\u591a|\u5c55\u5f00",
    re.IGNORECASE,
)
"""Labels of buttons that show the rest of a text."""

_Tabs = tuple[Element, list[Element], list[Element]]
_Measures = dict[Element, Measure]


def normalise_panels(body: Element, marked: Marked) -> None:
    """Show the panels with content, and turn the buttons that name them into headings."""
    concerned = {
        *body.iter("button"),
        *chain.from_iterable(marked[each] for each in _MARKS),
    }
    buttons = [each for each in body.iterdescendants() if each in concerned] if concerned else []
    lists = [each for each in buttons if each.get("role") == "tablist"]
    toggles = [each for each in buttons if _toggled_by(each) in _TAB_TOGGLES]
    tabs = [*_by_role(marked, lists), *_by_toggle(body, marked, toggles), *_by_label(body)]
    triggers = [*islice(filter(_is_trigger, buttons), _MAX_PANELS)]
    if tabs or triggers:
        measures: _Measures = {}
        _normalise_tabs(body, tabs, measures)
        _normalise_disclosures(marked, triggers, measures)
    _normalise_headings(body)


def _normalise_tabs(body: Element, tab_lists: list[_Tabs], measures: _Measures) -> None:
    """Show code and prose of unselected tabs, and label every panel with the name of its tab."""
    coded = ancestors(body.iter("pre")) if tab_lists else set()
    for holder, tabs, panels in tab_lists:
        names = [first_text(each, MAX_TAB) for each in tabs]
        are_names = all(0 < len(each) <= MAX_TAB for each in names)
        if not (1 < len(tabs) == len(panels) and are_names):
            continue
        if not coded.isdisjoint(panels) or all(
            _is_content(each, SENTENCE // 2, measures) for each in panels
        ):
            for name, panel in zip(names, panels, strict=True):
                _show_with_name(panel, name)
            remove(holder)


def _is_trigger(element: Element) -> bool:
    """Return whether an element may be a button that shows a panel."""
    if element.tag == "button" or element.get("role") == "button":
        return True
    if element.get("aria-expanded") is not None:
        return True
    return "collapse" in {element.get("data-toggle"), element.get("data-bs-toggle")}


def _by_role(marked: Marked, lists: list[Element]) -> Iterator[_Tabs]:
    """Yield tab lists with their tabs and panels, as in WAI-ARIA (§5.4, tab, tablist, tabpanel)."""
    all_panels = [each for each in marked["role"] if each.get("role") == "tabpanel"]
    labelled = {each.get("aria-labelledby"): each for each in all_panels}
    tabs_by_id = {each.get("id"): each for each in all_panels}
    for element in lists:
        inner = islice(element.iter(), _MAX_ELEMENTS)
        tabs = [each for each in inner if each.get("role") == "tab"]
        panels = [
            labelled.get(each.get("id"))
            if each.get("id")
            else tabs_by_id.get(each.get("aria-controls", ""))
            for each in tabs
        ]
        named_panels = [each for each in panels if each is not None]
        yield element, tabs, named_panels or _panels(element.getnext())


def _panels(behind: Element | None) -> list[Element]:
    if behind is None:
        return []
    return [each for each in behind if each.get("role") == "tabpanel"]


def _by_toggle(body: Element, marked: Marked, toggles: list[Element]) -> Iterator[_Tabs]:
    """Yield tabs of Bootstrap without roles: (list of tabs, tabs, panels they name)."""
    by_id = {each.get("id"): each for each in marked["id"]} if toggles else {}
    lists: dict[Element, list[Element]] = {}
    for each in toggles[:_MAX_PANELS]:
        lists.setdefault(next(each.iterancestors("ul", "ol", "nav", "div"), body), []).append(each)
    for holder, tabs in lists.items():
        panels = (by_id.get(_target_of(each)) for each in tabs)
        if holder.get("role") != "tablist":
            yield holder, tabs, [each for each in panels if each is not None]


def _toggled_by(element: Element) -> str:
    return element.get("data-toggle") or element.get("data-bs-toggle") or ""


def _by_label(body: Element) -> Iterator[_Tabs]:
    """Yield tabs made of radio buttons: (block with the labels, labels, panels after the block)."""
    buttons = {each.get("id") for each in body.iter("input") if each.get("type") == "radio"}
    for block in body.iter("div") if buttons else ():
        behind = block.getnext()
        tabs = [each for each in block if each.tag != "input"]
        are_labels = all(each.tag == "label" and each.get("for") in buttons for each in tabs)
        if tabs and are_labels and behind is not None:
            yield block, tabs, [*behind]


def _show_with_name(panel: Element, name: str) -> None:
    _show(panel)
    line = etree.Element("p")
    etree.SubElement(line, "strong").text = name
    prepend(panel, line)


def _show(panel: Element) -> None:
    for each in _HIDING:
        panel.attrib.pop(each, None)


def _normalise_headings(body: Element) -> None:
    """Replace each button that contains the whole text of a heading by its text."""
    for heading in body.iter(*HEADINGS, "summary", "dt"):
        for button in list(islice(heading.iter("button"), _MAX_ELEMENTS)):
            text = first_text(button, MAX_LABEL)
            if text and text == first_text(heading, MAX_LABEL):
                button.tag = "span"


def _normalise_disclosures(marked: Marked, triggers: list[Element], measures: _Measures) -> None:
    """Show panels that a button opens, and turn the button into a heading."""
    places = {each.get("id"): each for each in marked["id"]} if triggers else {}
    for trigger in triggers:
        line = _line_of(trigger)
        panel = _panel_of(trigger, line, places)
        if panel is None or _is_in_frame(trigger) or not _is_content(panel, _SHORTEST, measures):
            continue
        _show(panel)
        label = first_text(trigger, MAX_LABEL)
        if line is not trigger:
            trigger.tag = "span" if trigger.tag == "button" else trigger.tag
        elif _MORE.fullmatch(bare(label)) or not label:
            remove(trigger)
        elif len(label) <= MAX_LABEL and next(trigger.iter(*HEADINGS), None) is None:
            trigger.tag = "h3"
            etree.strip_tags(trigger, "div", "p", "button")


def _line_of(trigger: Element) -> Element:
    """Return the heading or term that a trigger is in, or the trigger itself."""
    above = islice(trigger.iterancestors(), 3)
    return next((each for each in above if each.tag in HEADINGS or each.tag == "dt"), trigger)


def _panel_of(trigger: Element, line: Element, places: dict[str, Element]) -> Element | None:
    """Return the element that a trigger opens; None if there is none.

    This is the element whose id the trigger names, or else the next element, if it is hidden.
    """
    names = (trigger.get("aria-controls") or "", _target_of(trigger))
    panel = next((places[each] for each in names if each in places), None)
    if panel is None:
        behind = line.getnext()
        is_hidden = behind is not None and any(each in behind.attrib for each in _HIDING)
        panel = behind if is_hidden else None
    return panel if panel is not None and trigger not in {*panel.iter(trigger.tag)} else None


def _target_of(trigger: Element) -> str:
    """Return the id that a trigger names as its target; empty if it names none."""
    target = (
        trigger.get("data-bs-target") or trigger.get("data-target") or trigger.get("href") or ""
    )
    return target[1:] if target.startswith("#") else ""


def _is_content(panel: Element, shortest: int, measures: _Measures) -> bool:
    """Return whether a panel holds text that is not a menu, dialog or form."""
    if panel.get("role") in _ROLES or panel.tag in _AROUND or is_boilerplate_name(named(panel)):
        return False
    if _NOT_CONTENT.search(named(panel)) or next(panel.iter(*FORM_CONTROLS), None) is not None:
        return False
    measure = measure_in(panel, measures)
    return measure.text - measure.linked >= shortest and measure.link_density <= MAX_LINKED


def _is_in_frame(trigger: Element) -> bool:
    """Return whether a trigger belongs to the site's frame: navigation, header, footer, form."""
    return any(
        each.tag in _AROUND or each.get("role") in _ROLES
        for each in islice(trigger.iterancestors(), _LEVELS)
    )
