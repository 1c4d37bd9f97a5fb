"""Which notes an article leads to, for a form of text that has a sign for them.

A note is a block that a word leads forward to, and that leads back to that word.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from urllib.parse import unquote

from lxml.etree import _Element as Element

MOST_LINKS = 2_000
"""Within an article, that are looked at."""
LONGEST_SIGN = 12
"""Characters of a word that leads to a note: *1*, *[12]*, *note 3*."""

_MOST_ELEMENTS = 200
_LEVELS = 4
"""Between what a link leads to and the block that it stands in, or the word around a link."""

_BLOCKS = frozenset({"li", "p", "div", "dd", "section", "aside", "blockquote"})
_WHOLE = frozenset({"table", "pre", "code", "math", "svg", "h1", "h2", "h3", "h4", "h5", "h6"})
"""What leads to a note from within them leads nowhere: they are written as they are."""


@dataclass(frozen=True, slots=True)
class Notes:
    """The notes of an article.

    Attributes:
        labels: of each link that leads to one.
        blocks: the notes by label, taken out of the article, without the links that lead back.
    """

    labels: dict[Element, str]
    blocks: dict[str, Element]


def take_notes(body: Element, labelled: str = "") -> Notes:
    """Take the notes of an article out of it; their labels begin so."""
    places = {element: number for number, element in enumerate(body.iter())}
    leads = _leads(body)
    blocks: dict[Element, Element] = {}
    for link, target in leads.items():
        if target not in blocks and places[target] > places[link] and _is_sign(link):
            note = _note_at(target, link, leads)
            if note is not None:
                blocks[target] = note
    labels: dict[Element, str] = {}
    numbers: dict[Element, str] = {}
    for link, target in leads.items():
        note = blocks.get(target)
        if note is not None and places[link] < places[note] and _is_sign(link):
            labels[link] = numbers.setdefault(note, f"{labelled}{len(numbers) + 1}")
    for note in numbers:
        for link in list(note.iter("a")):
            if link in leads and places[leads[link]] < places[note]:
                _drop(link)
        _drop(note)
    return Notes(labels, {label: note for note, label in numbers.items()})


def _leads(body: Element) -> dict[Element, Element]:
    """Where links within an article lead."""
    named: dict[str, Element] = {}
    for element in body.iter():
        if name := element.get("id"):
            named.setdefault(name, element)
    found: dict[Element, Element] = {}
    for link in islice(body.iter("a"), MOST_LINKS) if named else ():
        page, mark, fragment = (link.get("href") or "").partition("#")
        target = named.get(unquote(fragment)) if mark and not page else None
        if target is not None and target is not link:
            found[link] = target
    return found


def _is_sign(link: Element) -> bool:
    """Whether a link is a sign in a line of text, and not of what is written as it is."""
    text = "".join(islice(link.itertext(), LONGEST_SIGN))
    is_short = 0 < len(text.strip()) <= LONGEST_SIGN
    return is_short and all(each.tag not in _WHOLE for each in link.iterancestors())


def _note_at(target: Element, link: Element, leads: Mapping[Element, Element]) -> Element | None:
    """The block of a note that a link leads to, where one in it leads back to that link."""
    for element in (target, *islice(target.iterancestors(), _LEVELS)):
        if element.tag in _BLOCKS:
            if len([*islice(element.iter(), _MOST_ELEMENTS)]) == _MOST_ELEMENTS:
                return None
            inside = [*element.iter("a")]
            if link in inside:
                return None
            if any(each in leads and _is_at(leads[each], link) for each in inside):
                return element
    return None


def _is_at(place: Element, link: Element) -> bool:
    """Whether a place is that of a link: it, what is in it, or the sign around or before it."""
    around = [link, *islice(link.iterancestors(), _LEVELS)]
    signs = [each for each in around if each.tag not in _BLOCKS]
    before = {each.getprevious() for each in signs}
    return place in signs or place in before or link in place.iterancestors()


def _drop(element: Element) -> None:
    """Take an element out; the text behind it stays."""
    parent, before = element.getparent(), element.getprevious()
    if parent is None:
        return
    if element.tail and before is not None:
        before.tail = (before.tail or "") + element.tail
    elif element.tail:
        parent.text = (parent.text or "") + element.tail
    element.tail = None
    parent.remove(element)
