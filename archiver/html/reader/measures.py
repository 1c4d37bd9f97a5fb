"""How much there is in an element: of text, of links, of what else an article is made of."""

import re
from dataclasses import dataclass

from lxml.etree import _Element as Element

from archiver.html.reader.names import EMBEDDED, HEADINGS, KEPT_EMPTY, TEXTISH

INNER_LINK = 0.3
"""What a link within the page counts: tables of contents are less beside the matter than others."""

A_PICTURE = 100
"""What a picture that leads to itself, larger, is worth in characters: galleries have few words."""

_COMMAS = ",\u060c\ufe50\ufe10\ufe11\u2e41\u2e34\u2e32\uff0c"
_OTHER_COMMAS = tuple(_COMMAS[1:])
_PICTURE = re.compile(r"\.(?:jpe?g|png|gif|webp|avif|svg)(?:$|[?#])", re.IGNORECASE)
_COUNTED = {
    "li": "items",
    "input": "controls",
    **dict.fromkeys(("img", "svg"), "pictures"),
    **dict.fromkeys(EMBEDDED, "embedded"),
    **dict.fromkeys(("pre", "math", "blockquote", "dl"), "kept"),
}
_MORE = frozenset({*_COUNTED, "ul", "ol", *HEADINGS, *KEPT_EMPTY})


@dataclass(slots=True)
class Measure:
    """What one element holds, its descendants' included; text in characters, spaces folded."""

    text: int = 0
    commas: int = 0
    linked: float = 0.0
    headed: int = 0
    listed: int = 0
    textish: int = 0
    tabled: int = 0
    """Characters in tables of data."""

    paragraphs: int = 0
    pictures: int = 0
    linked_pictures: int = 0
    enlarged: int = 0
    """Pictures that lead to themselves, larger."""

    items: int = 0
    controls: int = 0
    embedded: int = 0
    elements: int = 1
    crowded_items: int = 0
    shown: int = 0
    """What is seen though it has no text."""

    kept: int = 0
    """Parts that an article is not read without: tables, code, formulas, quotes, definitions."""

    has_more: bool = False
    """Whether anything is counted but what every line of text has."""

    @property
    def worth(self) -> int:
        """How much there is to read and to see, in characters."""
        return self.text + A_PICTURE * self.enlarged

    @property
    def link_density(self) -> float:
        """The share of the text that is in links."""
        return self.linked / self.text if self.text else 0.0

    def add(self, other: "Measure") -> None:
        """Count what a child holds."""
        self.text += other.text
        self.commas += other.commas
        self.linked += other.linked
        self.textish += other.textish
        self.paragraphs += other.paragraphs
        self.elements += other.elements
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
        self.kept += other.kept
        self.crowded_items += other.crowded_items
        self.shown += other.shown


def measure_all(root: Element) -> dict[Element, Measure]:
    """What every element holds, in one walk."""
    measures: dict[Element, Measure] = {}
    for element in reversed(list(root.iter())):
        measures[element] = take(element, measures)
    return measures


def take(element: Element, measures: dict[Element, Measure]) -> Measure:
    """What one element holds whose children were measured before."""
    found = Measure()
    text = element.text
    if text and not text.isspace():
        count_text(found, text)
    for child in element:
        inner = measures.get(child)
        if inner is not None:
            found.add(inner)
        text = child.tail
        if text and not text.isspace():
            count_text(found, text)
    count_element(found, element)
    return found


def count_text(measure: Measure, text: str) -> None:
    """Count a piece of text that is not white space alone."""
    measure.text += len(" ".join(text.split())) + (text[-1].isspace())
    measure.commas += text.count(",")
    if not text.isascii():
        measure.commas += sum(map(text.count, _OTHER_COMMAS))


def count_element(measure: Measure, element: Element) -> None:
    """Count the element itself."""
    tag = element.tag
    if tag in TEXTISH:
        measure.textish = max(measure.textish, measure.text)
    if tag == "p":
        measure.paragraphs += 1
    elif tag == "a":
        if measure.pictures and leads_to_picture(element):
            measure.enlarged = measure.pictures
            return
        is_inner = (element.get("href") or "").startswith("#")
        measure.linked = measure.text * (INNER_LINK if is_inner else 1.0)
        measure.linked_pictures = measure.pictures
    elif tag in _MORE:
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
        measure.shown += 1
    if tag == "li" and len(element) > 1:
        measure.crowded_items += 1


def leads_to_picture(link: Element) -> bool:
    """Whether a link leads to a picture: around a small one it is that picture, not a way away."""
    return _PICTURE.search(link.get("href") or "") is not None
