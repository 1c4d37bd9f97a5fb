"""Signs behind headings that lead to these headings themselves: no words of theirs.

What cannot be seen goes; a sign that can (¶, #) is marked, so that it isn't shown where the article
is read.
"""

import unicodedata
from collections.abc import Iterator
from itertools import islice
from typing import Final
from urllib.parse import unquote

from lxml.etree import _Element as Element

from archiver.html.reader.names import HEADINGS
from archiver.html.reader.tree import remove

PERMALINK: Final = "permalink"
_UNSEEN: Final = frozenset({"Cc", "Cf", "Co", "Zs", "Zl", "Zp"})
"""Categories of characters without a shape of their own, or with one in the page's font alone."""

_LEVELS = 2
"""So many elements around a heading may have the name that is meant: of its section, say."""


def settle_permalinks(body: Element) -> None:
    """Take out or mark the links in headings that lead to where they stand and have no word."""
    for link in body.iter("a"):
        if link.get("class") == PERMALINK:
            del link.attrib["class"]  # the page's own word for it, which may have words
    for heading in list(body.iter(*HEADINGS)):
        links = [each for each in heading.iterdescendants("a") if _is_sign(each)]
        if not links or not _has_words(heading, links):
            continue
        names = {*_names(heading)}
        for link in links:
            fragment = (link.get("href") or "").partition("#")[2]
            if unquote(fragment) in names:
                if not heading.get("id"):
                    heading.set("id", unquote(fragment))
                _settle(link)


def _settle(link: Element) -> None:
    if any(unicodedata.category(each) not in _UNSEEN for each in _words(link)):
        link.set("class", PERMALINK)
    else:
        remove(link)


def _is_sign(link: Element) -> bool:
    """Whether a link has nothing but a sign or a drawing to follow it by; notes have numbers."""
    if "#" not in (link.get("href") or ""):
        return False
    has_picture = next(link.iterdescendants("img", "math"), None) is not None
    return not has_picture and not any(map(str.isalnum, _words(link)))


def _has_words(heading: Element, links: list[Element]) -> bool:
    beside = {each for link in links for each in link.iter()}
    words = [heading.text or ""]
    for each in heading.iterdescendants():
        words += ["" if each in beside else each.text or "", each.tail or ""]
    return any(map(str.isalnum, "".join(words)))


def _words(element: Element) -> str:
    """What is to be read in an element; the titles of drawings are not."""
    drawn = {each for drawing in element.iter("svg") for each in drawing.iter()}
    words = "".join(each.text or "" for each in element.iter() if each not in drawn)
    return words + "".join(each.tail or "" for each in element.iterdescendants())


def _names(heading: Element) -> Iterator[str]:
    """The names of a heading: its own, of what stands in it, right before it, and around it."""
    before = heading.getprevious()
    beside = [before] if before is not None and not len(before) else []
    above = islice(heading.iterancestors(), _LEVELS)
    for each in (*heading.iter(), *beside, *above):
        yield from filter(None, (each.get("id"), each.get("name")))
