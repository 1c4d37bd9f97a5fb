"""Holds a choice against the whole page: what leaves much of its prose out was too narrow.

Points gather where paragraphs are many. A thread whose posts are not marked as paragraphs, or a
manual in sections, has its best element in one post or one section; the page has more to read.
"""

from lxml.etree import _Element as Element

from archiver.html.reader.measures import Measure
from archiver.html.reader.names import SENTENCE

MUCH = 0.5
"""So much more prose than what was chosen has, and what holds it is chosen instead."""

MOST_LINKED = 0.33
"""The share of links in what is added; lists of other pages have more."""

FEWEST, A_TENTH = 3, 0.1
"""So many others that add so much are of one series."""

_BESIDE = ("nav", "aside", "footer", "header", "form")


class Coverage:
    """How much prose the elements of a page hold: text that is no link and in no navigation."""

    def __init__(self, body: Element, measures: dict[Element, Measure]) -> None:
        self._body = body
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

    def series_of(self, top: Element) -> Element | None:
        """What holds ``top`` and three or more others of its name, as deep and with prose.

        Posts of a thread stand in rows and cells of tables of their own.
        """
        name = top.get("class")
        above = list(top.iterancestors())
        alike = [
            each
            for each in (self._body.iter(top.tag) if name else ())
            if each is not top and each.get("class") == name and self._is_prose(each)
        ]
        depth = len(above)
        alike = [each for each in alike if sum(1 for _ in each.iterancestors()) == depth]
        if len(alike) < FEWEST or above[0] in {each.getparent() for each in alike}:
            return None
        shared = _shared(above, alike)
        prose, links = self._held(shared)
        gained = sum(self._held(each)[0] for each in alike)
        is_matter = links < MOST_LINKED * (prose + links) and gained > A_TENTH * self._held(top)[0]
        return shared if is_matter and shared.tag not in {"body", "html"} else None

    def _is_prose(self, element: Element) -> bool:
        prose, linked = self._held(element)
        return prose > SENTENCE and linked < MOST_LINKED * prose

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


def _shared(above: list[Element], others: list[Element]) -> Element:
    """The nearest of the elements above one that hold all others, too."""
    held = [set(each.iterancestors()) for each in others]
    return next(each for each in above if all(each in one for one in held))
