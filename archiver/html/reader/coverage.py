"""Holds a choice against the whole page: what leaves much of its prose out was too narrow.

Points gather where paragraphs are many. A thread whose posts are not marked as paragraphs, or a
manual in sections, has its best element in one post or one section; the page has more to read.
"""

from lxml.etree import _Element as Element

from archiver.html.reader.measures import Measure

MUCH = 0.5
"""So much more prose than what was chosen has, and what holds it is chosen instead."""

MOST_LINKED = 0.33
"""The share of links in what is added; lists of other pages have more."""

_BESIDE = ("nav", "aside", "footer", "header", "form")


class Coverage:
    """How much prose the elements of a page hold: text that is no link and in no navigation."""

    def __init__(self, body: Element, measures: dict[Element, Measure]) -> None:
        self._measures = measures
        self._beside: dict[Element, tuple[float, float]] = {}
        for element in body.iter(*_BESIDE):
            if not any(each.tag in _BESIDE for each in element.iterancestors()):
                self._set_beside(element)

    def widen(self, top: Element, parts: tuple[Element, ...]) -> Element:
        """What holds much more than the parts, or else ``top``."""
        covered = [sum(each) for each in zip(*map(self._held, parts), strict=True)]
        for above in list(top.iterancestors()):
            if above.tag == "html":
                break
            prose, linked = self._held(above)
            gain, links = prose - covered[0], linked - covered[1]
            if gain > MUCH * covered[0] and links < MOST_LINKED * (gain + links):
                top, covered = above, [prose, linked]
        return top

    def _set_beside(self, element: Element) -> None:
        prose, linked = self._held(element)
        for above in (element, *element.iterancestors()):
            before = self._beside.get(above, (0.0, 0.0))
            self._beside[above] = before[0] + prose, before[1] + linked

    def _held(self, element: Element) -> tuple[float, float]:
        """Characters of prose and of links in an element."""
        measure = self._measures.get(element)
        if measure is None:
            return 0.0, 0.0
        prose, linked = self._beside.get(element, (0.0, 0.0))
        return measure.worth - measure.linked - prose, measure.linked - linked
