"""Finds the element that holds an article, by where paragraphs with commas are (Arc90's way).

Each paragraph gives points to what it stands in, the more the nearer; links take them away again.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from lxml import etree
from lxml.etree import _Element as Element

from archiver.html.reader.coverage import Coverage
from archiver.html.reader.measures import Measure, leads_to_picture, measure_all
from archiver.html.reader.names import (
    HEADINGS,
    SCORED,
    SENTENCE,
    is_beside,
    named,
    weigh,
)
from archiver.html.reader.paragraphs import has_block, part_at_breaks, wrap_loose_text
from archiver.html.reader.tree import remove, replace
from archiver.html.reader.unlikely import seems_beside, targets_in

LEVELS = 5
"""So many elements above a paragraph get points for it."""
TOP = 5
FEWEST_IN_SERIES = 3
"""So many siblings of one name that have something to read are one text."""

_SHORTEST = 25
_SENTENCE_END = re.compile(r"\.(?: |$)")
_EMPTY_GOES = frozenset({"div", "section", "header"} | HEADINGS)
_BASE = {
    "div": 5,
    **dict.fromkeys(("pre", "td", "blockquote"), 3),
    **dict.fromkeys(("address", "ol", "ul", "dl", "dd", "dt", "li", "form"), -3),
    **dict.fromkeys((*HEADINGS, "th"), -5),
}
_STAYS = frozenset({"div", "article", "section", "p", "ol", "ul", "pre", "table", "dl", "figure"})
_LEADING = frozenset({"h1", "blockquote", "pre", "dl"})
_SECTIONS = frozenset({"section", "article"})
_HOLDERS = frozenset({"main", "center", "form", "fieldset", "details", "blockquote"})
"""Elements that pages put blocks and loose text into side by side, as custom elements do."""
_ITEMS = frozenset({"li", "dd"})
"""The same of these where they hold a ``div``; the text of a plain list item stays as it is."""

_GUARDED = frozenset({"table", "code", "pre", "math", "figure"}) | HEADINGS
"""What stands in them is never unlikely by name."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The chosen element, and what stands beside it and belongs to it, in order."""

    top: Element
    parts: tuple[Element, ...]


class Scores:
    """The points of the elements of one page.

    Args:
        body: is changed: loose text becomes paragraphs, what is unlikely goes.
        strict: whether what is unlikely by its name goes.
        weighted: whether names count.
    """

    def __init__(self, body: Element, *, strict: bool, weighted: bool) -> None:
        self._body = body
        self._weighted = weighted
        part_at_breaks(body)
        self._scored = _prepare(body, strict=strict)
        self.measures = measure_all(body)
        self._scores: dict[Element, float] = {}

    def choose(self) -> Choice:
        """The element of the article, with its siblings that belong to it."""
        for element in self._scored:
            self._give_points(element)
        ranked = sorted(
            ((self._final(each, score), n, each) for n, (each, score) in self._ranked()),
            key=lambda each: (-each[0], each[1]),
        )[:TOP]
        if not ranked or ranked[0][2].tag == "body":
            return Choice(self._body, tuple(self._body))
        for score, _, element in ranked:
            self._scores[element] = score
        top = self._common_parent([(score, each) for score, _, each in ranked])
        top = self._climb(top)
        series = Coverage(self._body, self.measures).series_of(top)
        if series is not None:
            return Choice(series, (series,))
        return self._widened(Choice(top, tuple(self._with_siblings(top))))

    def _widened(self, choice: Choice) -> Choice:
        """The choice, or what holds much more of the page's prose."""
        top = Coverage(self._body, self.measures).widen(choice.top, choice.parts)
        if top is choice.top:
            return choice
        return Choice(top, tuple(top) if top is self._body else (top,))

    def _ranked(self) -> Iterator[tuple[int, tuple[Element, float]]]:
        yield from enumerate(self._scores.items())

    def _give_points(self, element: Element) -> None:
        measure = self.measures.get(element)
        if measure is None or (measure.text < _SHORTEST and element.tag != "a"):
            return
        points = 2 + measure.commas + min(measure.text // 100, 3)
        above = element.getparent()
        for level in range(LEVELS):
            if above is None or above.getparent() is None:
                return
            if above not in self._scores:
                self._scores[above] = self._start(above)
            self._scores[above] += points / (1 if level == 0 else 2 if level == 1 else level * 3)
            above = above.getparent()

    def _start(self, element: Element) -> float:
        return _BASE.get(element.tag, 0) + (weigh(element) if self._weighted else 0)

    def _final(self, element: Element, score: float) -> float:
        return score * (1 - self._measure(element).link_density)

    def _measure(self, element: Element) -> Measure:
        return self.measures.get(element) or Measure()

    def _common_parent(self, ranked: list[tuple[float, Element]]) -> Element:
        """What holds three more of the best, where they are nearly as good as the best of all."""
        best, top = ranked[0]
        others = [
            set(each.iterancestors())
            for score, each in ranked[1:]
            if best > 0 and score / best >= 0.75
        ]
        if len(others) < 3:
            return top
        above = top.getparent()
        while above is not None and above.tag != "body":
            if sum(above in each for each in others) >= 3:
                return above
            above = above.getparent()
        return top

    def _climb(self, top: Element) -> Element:
        """Go up while there are more points above, and out of what holds nothing else."""
        last = self._scores.setdefault(top, self._start(top))
        least = last / 3
        above = top.getparent()
        while above is not None and above.tag != "body":
            score = self._scores.get(above)
            if score is not None:
                if score < least:
                    break
                if score > last:
                    top = above
                    break
                last = score
            above = above.getparent()
        above = top.getparent()
        while (
            above is not None
            and above.tag != "body"
            and (top.tag == "figure" or _is_wrapper(above))
        ):
            top, above = above, above.getparent()
        self._scores.setdefault(top, self._start(top))
        return top

    def _with_siblings(self, top: Element) -> Iterator[Element]:
        score = self._scores[top]
        least = max(10.0, score * 0.2)
        name = top.get("class") or ""
        siblings = list(top.getparent()) if top.getparent() is not None else [top]
        alike = self._alike(siblings, name)
        is_series = bool(alike - {top})
        for sibling in siblings:
            if sibling.tag == "nav" and sibling is not top:
                continue
            belongs = self._belongs(sibling, name, score, least)
            if belongs or sibling is top or sibling in alike or (is_series and _leads(sibling)):
                if sibling.tag not in _STAYS:
                    sibling.tag = "div"
                yield sibling

    def _alike(self, siblings: list[Element], name: str) -> set[Element]:
        """Siblings by whose classes and content they are of a kind: cells, sections, posts.

        Where most are, the short ones are, too.
        """
        named = [each for each in siblings if _is_alike(each, name)]
        found = {each for each in named if self._is_prose(each)}
        is_series = len(found) >= FEWEST_IN_SERIES and 2 * len(found) > len(named)
        return set(named) if is_series else found

    def _belongs(self, sibling: Element, name: str, top: float, least: float) -> bool:
        score = self._scores.get(sibling)
        same = 0.2 * top if name and sibling.get("class") == name else 0.0
        if score is not None and score + same >= least:
            return True
        if sibling.tag != "p":
            return False
        measure = self._measure(sibling)
        if measure.text > SENTENCE:
            return measure.link_density < 0.25
        is_sentence = _SENTENCE_END.search(" ".join("".join(sibling.itertext()).split()))
        return measure.text > 0 and measure.linked == 0 and is_sentence is not None

    def _is_prose(self, element: Element) -> bool:
        """Whether there is something to read or see, and not to follow."""
        measure = self._measure(element)
        shows = measure.kept or measure.pictures or measure.text > SENTENCE
        return bool(shows) and measure.link_density < 0.25


def _leads(element: Element) -> bool:
    """Whether it is what a text in sections has beside them: its title, a motto, code."""
    return element.tag in _LEADING and not is_beside(named(element))


def _is_wrapper(element: Element) -> bool:
    """Whether there is one child, alone or under its heading: a section is both."""
    return len(element) == 1 or (len(element) == 2 and element[0].tag in HEADINGS)


def _is_alike(element: Element, name: str) -> bool:
    """Whether an element shares most of its classes with those given: cells, sections, posts."""
    theirs, ours = set((element.get("class") or "").split()), set(name.split())
    return bool(ours) and 2 * len(theirs & ours) >= max(len(ours), len(theirs))


def _prepare(body: Element, *, strict: bool) -> list[Element]:
    """Drop what is unlikely, make paragraphs; return what is scored, in document order."""
    # Text directly in `body` belongs to no element that can be chosen or copied.
    wrap_loose_text(body)
    scored: list[Element] = []
    targets = targets_in(body) if strict else frozenset()
    stack: list[tuple[Element, bool]] = [(each, False) for each in reversed(body)]
    while stack:
        element, guarded = stack.pop()
        tag = element.tag
        if strict and not guarded and seems_beside(element, targets):
            remove(element)
            continue
        if tag in _EMPTY_GOES and _is_empty(element):
            remove(element)
            continue
        if tag == "div" and not guarded:
            element = _settle_block(element)
            tag = element.tag
        elif not guarded and (tag in _SECTIONS or _is_holder(element)):
            wrap_loose_text(element)
        if tag in SCORED or (tag == "a" and _shows_picture(element)):
            scored.append(element)
        inside = guarded or tag in _GUARDED
        stack.extend((each, inside) for each in reversed(element))
    return scored


def _is_holder(element: Element) -> bool:
    """Return whether loose text in an element could be lost when one of its blocks is chosen."""
    if element.tag in _ITEMS:
        return any(child.tag == "div" for child in element)
    return (element.tag in _HOLDERS or "-" in element.tag) and has_block(element)


def _shows_picture(link: Element) -> bool:
    return leads_to_picture(link) and next(link.iterdescendants("img"), None) is not None


def _is_empty(element: Element) -> bool:
    if element.text and not element.text.isspace():
        return False
    return all(
        each.tag in {"br", "hr"} and not (each.tail and each.tail.strip()) for each in element
    )


def _settle_block(block: Element) -> Element:
    """A block that is a paragraph becomes one; loose text in any other does."""
    wrap_loose_text(block)
    children = list(block)
    if len(children) == 1 and children[0].tag == "p" and not _has_own_text(block):
        only = children[0]
        if not has_block(only) and _link_density(only) < 0.25:
            for name in ("id", "dir", "lang"):
                if block.get(name) and not only.get(name):
                    only.set(name, block.get(name))
            block.remove(only)
            replace(block, only)
            return only
    if not has_block(block):
        block.tag = "p"
    return block


def _has_own_text(block: Element) -> bool:
    return bool(block.text and block.text.strip()) or any(
        each.tail and each.tail.strip() for each in block
    )


def _link_density(element: Element) -> float:
    if next(element.iterdescendants("a"), None) is None:
        return 0.0
    return measure_all(element)[element].link_density


def make_root(parts: tuple[Element, ...]) -> Element:
    """One element around all parts; they are taken out of the page."""
    root = etree.Element("div")
    for each in parts:
        each.tail = None
        root.append(each)
    return root
