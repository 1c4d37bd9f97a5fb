"""Recovery of footnotes and appendices that extraction left out of an article."""

import re
from collections.abc import Iterator
from copy import deepcopy
from itertools import islice
from urllib.parse import unquote

from lxml import etree
from lxml.etree import _Element as Element

from archiver.pages.article.elements import named
from archiver.pages.article.tree import first_text

MAX_NOTES = 500
_MAX_TEXT = 2_000_000
MAX_NOTE = 3000
_MAX_AROUND = 80
"""Maximum characters besides the notes, such as a heading, in the element around all notes."""

_COMMENTS = re.compile(r"comment|disqus|replies|respon[ds]|related", re.IGNORECASE)
"""Classes and ids of reader comments, which link back to the text but are not notes."""

_PLACES = etree.XPath("descendant-or-self::*[@id or (self::a and @name)]")
_NAMED = etree.XPath("descendant::*[@id or @name]")
_LEVELS = 4
_BLOCKS = frozenset({"li", "p", "div", "dd", "section", "aside"})


def append_missing_notes(root: Element, body: Element) -> None:
    """Append the notes that an article links to but does not contain.

    Args:
        root: the root of the article.
        body: the body of the page, which includes the whole article; it is not modified.
    """
    targets = {*islice(_fragments(root), MAX_NOTES)}
    names = _names_in(root) if targets else set()
    targets -= names
    text = first_text(root, _MAX_TEXT) if targets else ""
    notes: dict[Element, None] = {}
    for element in _NAMED(body) if targets else ():
        if not targets.isdisjoint(_own_names(element)):
            note = _note_of(element, names)
            if (
                note is not None
                and not _is_comment(note)
                and first_text(note, MAX_NOTE) not in text
            ):
                notes[note] = None
    if notes:
        section = etree.SubElement(root, "div")
        section.extend(deepcopy(each) for each in _together([*notes]))


def _note_of(target: Element, names: set[str]) -> Element | None:
    """Return the block around a note, if the block links back to the article; otherwise None.

    Args:
        target: the element that a link of the article targets.
        names: names in the article that links may target.
    """
    for element in (target, *islice(target.iterancestors(), _LEVELS)):
        text = first_text(element, MAX_NOTE)
        if len(text) > MAX_NOTE:
            return None
        if element.tag in _BLOCKS:
            elsewhere = names - _names_in(element)
            back = [each for each in element.iter("a") if _fragment(each) in elsewhere]
            of_links = sum(len(first_text(each, MAX_NOTE)) for each in back)
            if back and len(text) > of_links:
                return element
    return None


def _is_comment(note: Element) -> bool:
    return any(_COMMENTS.search(named(each)) for each in (note, *note.iterancestors()))


def _together(notes: list[Element]) -> list[Element]:
    """Return the outermost element that contains all notes and little else, such as a heading.

    If there is no such element, return the notes.
    """
    most = sum(len(first_text(each, MAX_NOTE)) for each in notes) + _MAX_AROUND
    shared = [*notes[0].iterancestors()]
    for each in notes[1:]:
        theirs = {*each.iterancestors()}
        shared = [above for above in shared if above in theirs]
    around: list[Element] = []
    for above in shared:
        if above.tag == "body" or len(first_text(above, most)) > most:
            break
        around = [above]
    return around or notes


def _fragments(root: Element) -> Iterator[str]:
    yield from filter(None, map(_fragment, root.iter("a")))


def _fragment(link: Element) -> str:
    """Return the fragment of a link within the page; empty for links to other pages."""
    page, _, fragment = (link.get("href") or "").partition("#")
    return "" if page else unquote(fragment)


def _names_in(element: Element) -> set[str]:
    """Return the ids and names in an element, which are targets of links within the page.

    The XPath selects elements, because libxml2 sorts selected attributes in quadratic time.
    """
    return {name for each in _PLACES(element) for name in _own_names(each)}


def _own_names(element: Element) -> list[str]:
    return [name for name in (element.get("id"), element.get("name")) if name]
