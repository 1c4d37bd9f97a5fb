"""Footnotes of an article: links to notes, and the notes that they lead to.

A note is a block that a link leads forward to and that has a link back to the place of that link.
"""

import re
from collections.abc import Iterator
from itertools import islice
from urllib.parse import unquote

from bs4 import Tag

REFERENCE = "footnote-ref"
"""Name of the elements that replace links to notes; their ``label`` is that of the note."""

_MOST_LINKS = 2_000
_LONGEST_SIGN = 12
"""Characters of the text of a link to a note: *1*, *[12]*, *note 3*."""
_MOST_ELEMENTS = 200
"""A block with more elements is not taken for a note."""
_LEVELS = 4
"""Ancestors of a target that may be its note, or of a link that may be its sign."""

_BLOCKS = frozenset({"li", "p", "div", "dd", "section", "aside", "blockquote"})
_VERBATIM = ["table", "pre", "code", "math", "svg", "h1", "h2", "h3", "h4", "h5", "h6"]
"""Links within these are not links to notes."""
_SIGN_ELEMENTS = frozenset({"sup", "sub", "span", "small", "b", "strong", "i", "em"})
_BRACKETS = re.compile(r"[\s,;()\[\]]*")


def attribute(element: Tag, name: str) -> str:
    """Return an attribute; empty where the element has none."""
    value = element.get(name)
    return value if isinstance(value, str) else ""


def take_notes(root: Tag, prefix: str = "") -> dict[str, Tag]:
    """Take the notes out of a tree, and replace the links to them by ``REFERENCE`` elements.

    Returns:
        the notes by label, without their links back.
    """
    # By id(): Beautiful Soup compares elements by their content.
    positions = {id(element): at for at, element in enumerate(root.find_all(True))}
    leads = [*_leads(root)]
    notes: dict[int, Tag] = {}
    for link, target in leads:
        is_new = id(target) not in notes and positions[id(target)] > positions[id(link)]
        if is_new and _is_sign(link) and (note := _note_at(target, link, leads)):
            notes[id(target)] = note
    labels: dict[int, str] = {}
    found: dict[str, Tag] = {}
    for link, target in leads:
        note = notes.get(id(target))
        if note and positions[id(link)] < positions[id(note)] and _is_sign(link):
            label = labels.setdefault(id(note), f"{prefix}{len(labels) + 1}")
            found[label] = note
            _put_reference(link, label)
    for note in found.values():
        inside = {id(each) for each in note.find_all("a")}
        for link, target in leads:
            if id(link) in inside and positions[id(target)] < positions[id(note)]:
                link.extract()
        note.extract()
    return found


def _leads(root: Tag) -> Iterator[tuple[Tag, Tag]]:
    """Yield the links within an article, each with the element that it leads to."""
    named: dict[str, Tag] = {}
    for element in root.find_all(id=True):
        named.setdefault(attribute(element, "id"), element)
    for link in root.find_all("a", limit=_MOST_LINKS) if named else ():
        page, mark, fragment = attribute(link, "href").partition("#")
        target = named.get(unquote(fragment)) if mark and not page else None
        if target is not None and target is not link:
            yield link, target


def _is_sign(link: Tag) -> bool:
    """Return whether a link has a short text and may be replaced by a reference."""
    return 0 < len(link.get_text().strip()) <= _LONGEST_SIGN and not link.find_parent(_VERBATIM)


def _note_at(target: Tag, link: Tag, leads: list[tuple[Tag, Tag]]) -> Tag | None:
    """Return the block at a link's target, if a link in it leads back."""
    for element in (target, *islice(target.parents, _LEVELS)):
        if element.name in _BLOCKS:
            if len(element.find_all(True, limit=_MOST_ELEMENTS)) == _MOST_ELEMENTS:
                return None
            inside = {id(each) for each in element.find_all("a")}
            if id(link) in inside:
                return None
            if any(id(each) in inside and _is_at(place, link) for each, place in leads):
                return element
    return None


def _is_at(place: Tag, link: Tag) -> bool:
    """Return whether a place is that of a link: itself, its sign, what is before or around it."""
    around = (link, *islice(link.parents, _LEVELS))
    signs = [each for each in around if each.name not in _BLOCKS]
    before = [each.find_previous_sibling() for each in signs]
    return any(place is each for each in (*signs, *before)) or _holds(place, link)


def _holds(element: Tag, inner: Tag) -> bool:
    return any(parent is element for parent in inner.parents)


def _put_reference(link: Tag, label: str) -> None:
    """Replace a link by a reference, and what is around it if that is brackets or ``sup`` only."""
    reference = Tag(name=REFERENCE, attrs={"label": label})
    link.replace_with(reference)
    around = reference.parent
    if around is None or around.name not in _SIGN_ELEMENTS:
        return
    is_whole = all(each.name == REFERENCE for each in around.find_all(True))
    if is_whole and _BRACKETS.fullmatch(around.get_text()):
        for text in around.find_all(string=True):
            text.extract()
        around.unwrap()
