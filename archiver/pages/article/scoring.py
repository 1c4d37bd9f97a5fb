"""Scoring of elements by their text.

Each paragraph adds points to its ancestors, more to nearer ones; links subtract points. So points
accumulate where paragraphs are dense. In a thread whose posts have no paragraph markup, or a manual
in sections, the best element is only one post or section; then an ancestor with much more prose is
chosen.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from lxml import etree
from lxml.etree import _Element as Element

from archiver.pages.article.blocks import has_block, part_at_breaks, wrap_loose_text
from archiver.pages.article.elements import (
    EMBEDDED,
    HEADINGS,
    KEPT_EMPTY,
    SCORED,
    SENTENCE,
    TEXTISH,
    class_weight,
    is_boilerplate_name,
    is_likely_boilerplate,
    named,
)
from archiver.pages.article.tree import remove, replace, text_in

INNER_LINK = 0.3
"""Weight of links within the page: tables of contents are more relevant than other links."""

PICTURE_WORTH = 100
"""Value in characters of a picture that links to a larger version: galleries have few words."""

_COMMAS = ",\u060c\ufe50\ufe10\ufe11\u2e41\u2e34\u2e32\uff0c"
_OTHER_COMMAS = tuple(_COMMAS[1:])
_PICTURE = re.compile(r"\.(?:jpe?g|png|gif|webp|avif|svg)(?:$|[?#])", re.IGNORECASE)
_COUNTED = {
    "li": "items",
    "input": "controls",
    **dict.fromkeys(("img", "svg"), "pictures"),
    **dict.fromkeys(EMBEDDED, "embedded"),
    **dict.fromkeys(("pre", "math", "blockquote", "dl"), "essential"),
}
_ALSO_COUNTED = frozenset({*_COUNTED, "ul", "ol", *HEADINGS, *KEPT_EMPTY})


@dataclass(slots=True)
class Measure:
    """Content of an element including its descendants.

    Amounts of text are in characters, with white space collapsed.
    """

    text: int = 0
    commas: int = 0
    linked: float = 0.0
    """Characters in links; those in links within the page have the weight ``INNER_LINK``."""

    headed: int = 0
    """Characters in headings."""

    listed: int = 0
    """Characters in lists."""

    textish: int = 0
    """Characters in elements that usually hold text, such as ``p`` and ``td`` (``TEXTISH``)."""

    tabled: int = 0
    """Characters in data tables."""

    paragraphs: int = 0
    pictures: int = 0
    linked_pictures: int = 0
    enlarged: int = 0
    """Number of pictures that link to larger versions."""

    items: int = 0
    controls: int = 0
    embedded: int = 0
    kept_empty: int = 0
    """Number of visible elements without text."""

    essential: int = 0
    """Number of code blocks, formulas, quotations and definition lists."""

    has_more: bool = False
    """Whether any of the amounts that ``_add_more`` adds may differ from zero."""

    @property
    def worth(self) -> int:
        """Return the amount of readable and visible content, in characters."""
        return self.text + PICTURE_WORTH * self.enlarged

    @property
    def link_density(self) -> float:
        """Return the share of the text that is in links."""
        return self.linked / self.text if self.text else 0.0

    def add(self, other: "Measure") -> None:
        """Add the measure of a child."""
        self.text += other.text
        self.commas += other.commas
        self.linked += other.linked
        self.textish += other.textish
        self.paragraphs += other.paragraphs
        if other.has_more:
            self._add_more(other)

    def _add_more(self, other: "Measure") -> None:
        self.has_more = True
        self.headed += other.headed
        self.tabled += other.tabled
        self.listed += other.listed
        self.pictures += other.pictures
        self.linked_pictures += other.linked_pictures
        self.enlarged += other.enlarged
        self.items += other.items
        self.controls += other.controls
        self.embedded += other.embedded
        self.essential += other.essential
        self.kept_empty += other.kept_empty


def measure_all(root: Element) -> dict[Element, Measure]:
    """Return the measure of every element, in one traversal."""
    measures: dict[Element, Measure] = {}
    for element in reversed(list(root.iter())):
        measures[element] = take(element, measures)
    return measures


def measure_in(element: Element, measures: dict[Element, Measure]) -> Measure:
    """Return the measure of an element; add it and those of its descendants to ``measures``."""
    stack, missing = [element], []
    while stack:
        each = stack.pop()
        if each not in measures:
            missing.append(each)
            stack.extend(each)
    for each in reversed(missing):
        measures[each] = take(each, measures)
    return measures[element]


def take(element: Element, measures: dict[Element, Measure]) -> Measure:
    """Return the measure of an element whose children have been measured."""
    measure = Measure()
    text = element.text
    if text and not text.isspace():
        count_text(measure, text)
    for child in element if len(element) else ():
        inner = measures.get(child)
        if inner is not None:
            measure.add(inner)
        text = child.tail
        if text and not text.isspace():
            count_text(measure, text)
    count_element(measure, element)
    return measure


def text_length(text: str | None) -> int:
    """Return the number of characters of a text with white space collapsed."""
    if not text or text.isspace():
        return 0
    return len(" ".join(text.split())) + text[-1].isspace()


def count_text(measure: Measure, text: str) -> None:
    """Add a text, which must not be only white space, to a measure."""
    measure.text += len(" ".join(text.split())) + text[-1].isspace()
    measure.commas += text.count(",")
    if not text.isascii():
        measure.commas += sum(map(text.count, _OTHER_COMMAS))


def count_element(measure: Measure, element: Element) -> None:
    """Update a measure for the tag of the element itself."""
    tag = element.tag
    if tag in TEXTISH:
        measure.textish = measure.text
    if tag == "p":
        measure.paragraphs += 1
    elif tag == "a":
        if measure.pictures and leads_to_picture(element):
            measure.enlarged = measure.pictures
            return
        measure.linked = measure.text * weight_of_link(element)
        measure.linked_pictures = measure.pictures
    elif tag in _ALSO_COUNTED:
        _count_more(measure, element)


def _count_more(measure: Measure, element: Element) -> None:
    tag = element.tag
    measure.has_more = True
    if tag in _COUNTED:
        name = _COUNTED[tag]
        setattr(measure, name, getattr(measure, name) + 1)
    elif tag in {"ul", "ol"}:
        measure.listed = measure.text
    elif tag in HEADINGS:
        measure.headed = measure.text
    if tag in KEPT_EMPTY:
        measure.kept_empty += 1


def weight_of_link(link: Element) -> float:
    """Return the weight of a link's text in the amount of linked text."""
    return INNER_LINK if (link.get("href") or "").startswith("#") else 1.0


def leads_to_picture(link: Element) -> bool:
    """Return whether a link leads to an image; around a thumbnail such a link is content."""
    return _PICTURE.search(link.get("href") or "") is not None


WIDENING_FACTOR = 0.5
"""Minimum additional prose for which an ancestor is chosen, relative to the chosen text."""

MAX_LINKED = 0.33
"""Maximum link density of added content; lists of related pages have a higher one."""

_EXCLUDED = ("nav", "aside", "footer", "header", "form")


class Coverage:
    """Amount of prose in the elements of a page: text outside of links and navigation."""

    def __init__(self, body: Element, measures: dict[Element, Measure]) -> None:
        self._body = body
        self._measures = measures
        self._excluded: dict[Element, tuple[float, float]] = {}
        for element in body.iter(*_EXCLUDED):
            if not any(each.tag in _EXCLUDED for each in element.iterancestors()):
                self._exclude(element)

    def widen(self, top: Element, parts: tuple[Element, ...]) -> Element:
        """Return an ancestor that has much more prose than ``parts``, or else ``top``."""
        covered = [sum(each) for each in zip(*map(self._prose_and_links, parts), strict=True)]
        for above in list(top.iterancestors()):
            if above.tag == "html":
                break
            prose, linked = self._prose_and_links(above)
            gain, links = prose - covered[0], linked - covered[1]
            if gain > WIDENING_FACTOR * covered[0] and links < MAX_LINKED * (gain + links):
                top, covered = above, [prose, linked]
        return top

    def _exclude(self, element: Element) -> None:
        prose, linked = self._prose_and_links(element)
        for above in (element, *element.iterancestors()):
            before = self._excluded.get(above, (0.0, 0.0))
            self._excluded[above] = before[0] + prose, before[1] + linked

    def _prose_and_links(self, element: Element) -> tuple[float, float]:
        measure = self._measures.get(element)
        if measure is None:
            return 0.0, 0.0
        prose, linked = self._excluded.get(element, (0.0, 0.0))
        return measure.worth - measure.linked - prose, measure.linked - linked


LEVELS = 5
"""Number of ancestors of a paragraph that get points."""
MAX_CANDIDATES = 5
FEWEST_IN_SERIES = 3
"""Minimum number of siblings with prose and similar classes that are taken for one text."""

_SHORTEST = 25
_SENTENCE_END = re.compile(r"\.(?: |$)")
_REMOVED_IF_EMPTY = frozenset({"div", "section", "header"} | HEADINGS)
_BASE = {
    "div": 5,
    **dict.fromkeys(("pre", "td", "blockquote"), 3),
    **dict.fromkeys(("address", "ol", "ul", "dl", "dd", "dt", "li", "form"), -3),
    **dict.fromkeys((*HEADINGS, "th"), -5),
}
_KEEPS_TAG = frozenset(
    {"div", "article", "section", "p", "ol", "ul", "pre", "table", "dl", "figure"}
)
_LEADING = frozenset({"h1", "blockquote", "pre", "dl"})
_SECTIONS = frozenset({"section", "article"})
_HOLDERS = frozenset({"main", "center", "form", "fieldset", "details", "blockquote"})
"""Elements that may contain both blocks and loose text; so may custom elements."""
_ITEMS = frozenset({"li", "dd"})
"""Items that may contain both blocks and loose text if they contain a ``div``."""

_GUARDED = frozenset({"table", "code", "pre", "math", "figure"}) | HEADINGS
"""Elements whose descendants are never removed for an unlikely name."""


class Scores:
    """Scores of the elements of one page.

    Args:
        body: body of the page. It is modified: loose text becomes paragraphs, and elements that are
            unlikely to be content are removed.
        strict: whether to remove elements whose class or id suggests boilerplate.
        weighted: whether the class and id of an element influence its score.
    """

    def __init__(self, body: Element, *, strict: bool, weighted: bool) -> None:
        self._body = body
        self._weighted = weighted
        part_at_breaks(body)
        self._scored = _prepare(body, strict=strict)
        self.measures = measure_all(body)
        self._scores: dict[Element, float] = {}

    def choose(self) -> tuple[Element, ...]:
        """Return the element of the article and the siblings that belong to it, in order."""
        for element in self._scored:
            self._add_points(element)
        ranked = sorted(
            ((self._final(each, score), each) for each, score in self._scores.items()),
            key=lambda each: -each[0],
        )[:MAX_CANDIDATES]
        if not ranked or ranked[0][1].tag == "body":
            return tuple(self._body)
        for score, element in ranked:
            self._scores[element] = score
        top = self._climb(self._common_parent(ranked))
        parts = tuple(self._with_siblings(top))
        wide = Coverage(self._body, self.measures).widen(top, parts)
        return parts if wide is top else tuple(wide) if wide is self._body else (wide,)

    def _add_points(self, element: Element) -> None:
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
        return _BASE.get(element.tag, 0) + (class_weight(element) if self._weighted else 0)

    def _final(self, element: Element, score: float) -> float:
        return score * (1 - self._measure(element).link_density)

    def _measure(self, element: Element) -> Measure:
        return self.measures.get(element) or Measure()

    def _common_parent(self, ranked: list[tuple[float, Element]]) -> Element:
        """Return the nearest common ancestor of the best element and three others.

        The others must have at least 75 % of the best score; without three of them, return the
        best element.
        """
        best, top = ranked[0]
        candidates = [
            set(each.iterancestors())
            for score, each in ranked[1:]
            if best > 0 and score / best >= 0.75
        ]
        if len(candidates) < 3:
            return top
        above = top.getparent()
        while above is not None and above.tag != "body":
            if sum(above in each for each in candidates) >= 3:
                return above
            above = above.getparent()
        return top

    def _climb(self, top: Element) -> Element:
        """Go up to an ancestor with more points, and out of wrappers without other content."""
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
        alike = self._similar_siblings(siblings, name)
        is_series = bool(alike - {top})
        for sibling in siblings:
            if sibling.tag == "nav" and sibling is not top:
                continue
            belongs = self._belongs(sibling, name, score, least)
            if (
                belongs
                or sibling is top
                or sibling in alike
                or (is_series and _is_accompanying(sibling))
            ):
                if sibling.tag not in _KEEPS_TAG:
                    sibling.tag = "div"
                yield sibling

    def _similar_siblings(self, siblings: list[Element], name: str) -> set[Element]:
        """Return the siblings that have prose and classes similar to ``name``, such as posts.

        If there are at least three, and they are the majority of the siblings with similar classes,
        return those without prose too.
        """
        named = [each for each in siblings if _is_similar(each, name)]
        similar = {each for each in named if self._is_prose(each)}
        is_series = len(similar) >= FEWEST_IN_SERIES and 2 * len(similar) > len(named)
        return set(named) if is_series else similar

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
        is_sentence = _SENTENCE_END.search(" ".join(text_in(sibling).split()))
        return measure.text > 0 and measure.linked == 0 and is_sentence is not None

    def _is_prose(self, element: Element) -> bool:
        """Return whether an element has a long text, pictures or code, and few links."""
        measure = self._measure(element)
        shows = measure.essential or measure.pictures or measure.text > SENTENCE
        return bool(shows) and measure.link_density < 0.25


def _is_accompanying(element: Element) -> bool:
    """Return whether an element can accompany a text in sections: a title, quotation or code."""
    return element.tag in _LEADING and not is_boilerplate_name(named(element))


def _is_wrapper(element: Element) -> bool:
    """Return whether an element has a single child, or a heading and one other child."""
    return len(element) == 1 or (len(element) == 2 and element[0].tag in HEADINGS)


def _is_similar(element: Element, name: str) -> bool:
    """Return whether an element shares at least half of its classes with those in ``name``."""
    theirs, ours = set((element.get("class") or "").split()), set(name.split())
    return bool(ours) and 2 * len(theirs & ours) >= max(len(ours), len(theirs))


def _prepare(body: Element, *, strict: bool) -> list[Element]:
    """Remove empty elements and make paragraphs; return the scored elements in order.

    With ``strict``, elements that are unlikely to be content are removed, too.
    """
    # Text directly in `body` has no element that can be chosen or copied.
    wrap_loose_text(body)
    scored: list[Element] = []
    stack: list[tuple[Element, bool]] = [(each, False) for each in reversed(body)]
    while stack:
        element, guarded = stack.pop()
        tag = element.tag
        if strict and not guarded and is_likely_boilerplate(element):
            remove(element)
            continue
        if tag in _REMOVED_IF_EMPTY and _is_empty(element):
            remove(element)
            continue
        if tag == "div" and not guarded:
            element = _normalise_block(element)
            tag = element.tag
        elif not guarded and (tag in _SECTIONS or _is_holder(element)):
            wrap_loose_text(element)
        if tag in SCORED or (tag == "a" and _shows_picture(element)):
            scored.append(element)
        if len(element):
            inside = guarded or tag in _GUARDED
            stack += [(each, inside) for each in reversed(element)]
    return scored


def _is_holder(element: Element) -> bool:
    """Return whether an element may have loose text next to blocks, which could be lost."""
    if element.tag in _ITEMS:
        return any(child.tag == "div" for child in element)
    return (element.tag in _HOLDERS or "-" in element.tag) and has_block(element)


def _shows_picture(link: Element) -> bool:
    return next(link.iterdescendants("img"), None) is not None and leads_to_picture(link)


def _is_empty(element: Element) -> bool:
    if element.text and not element.text.isspace():
        return False
    return all(
        each.tag in {"br", "hr"} and not (each.tail and each.tail.strip()) for each in element
    )


def _normalise_block(block: Element) -> Element:
    """Convert a block that contains no other block to a paragraph; in others, wrap loose text."""
    wrap_loose_text(block)
    children = list(block)
    if len(children) == 1 and children[0].tag == "p" and not _has_own_text(block):
        only = children[0]
        if not has_block(only) and _link_density(only) < 0.25:
            for name in ("id", "class", "dir", "lang"):
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
    """Move all parts from the page into one new element."""
    root = etree.Element("div")
    for each in parts:
        each.tail = None
        root.append(each)
    return root
