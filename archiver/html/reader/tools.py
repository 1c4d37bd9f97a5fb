"""What wikis put beside headings for those who write: links to edit a page, brackets around them.

In a heading they are marked as signs are that lead to it, and not shown; behind one they go.
"""

import re
from itertools import islice

from lxml.etree import _Element as Element

from archiver.html.reader.names import HEADINGS
from archiver.html.reader.paragraphs import is_phrasing
from archiver.html.reader.permalinks import PERMALINK
from archiver.html.reader.tree import remove

_EDITS = re.compile(r"[?&;](?:action|veaction|do)=edit\b|/edit/?(?:$|[?#])")
"""Addresses at which a page is changed: of MediaWiki, DokuWiki, MoinMoin and forges."""

_LONGEST = 60
"""Characters of what stands around such links."""

_LEVELS = 2


def settle_editing(body: Element) -> None:
    """Mark or take away links to edit what is under a heading, in it or right behind it."""
    for heading in list(body.iter(*HEADINGS)):
        for link in _edits(heading):
            _mark(link, _with_brackets(link, heading))
        behind = heading.getnext()
        if behind is not None and is_phrasing(behind):
            for link in _edits(behind):
                remove(_with_brackets(link, heading))


def _edits(place: Element) -> list[Element]:
    return [each for each in place.iter("a") if _is_edit(each)]


def _mark(link: Element, largest: Element) -> None:
    """Make one link of all that stands around one."""
    if link.get("class") == PERMALINK:
        return
    text = "".join(largest.itertext())
    for each in list(largest):
        largest.remove(each)
    largest.tag, largest.text = "a", text
    largest.set("href", link.get("href"))
    largest.set("class", PERMALINK)


def _is_edit(link: Element) -> bool:
    return _EDITS.search(link.get("href") or "") is not None


def _with_brackets(link: Element, heading: Element) -> Element:
    """A link, or what is around it and has no word of its own."""
    largest = link
    for above in islice(link.iterancestors(), _LEVELS):
        if above is heading or not is_phrasing(above) or _has_words(above):
            break
        largest = above
    return largest


def _has_words(element: Element) -> bool:
    """Whether there is a word in an element beside those of links to edit."""
    text = "".join(element.itertext())
    words = "".join("".join(each.itertext()) for each in element.iter("a") if _is_edit(each))
    return len(text) > _LONGEST or sum(map(str.isalnum, text)) > sum(map(str.isalnum, words))
