"""The head of an article: the heading that says its title, and what leads into it.

Title, author and date are known beside an article. What says the title once more, and the picture
under it, stand above the text and are no part of it.
"""

import re
from itertools import islice

from lxml import etree
from lxml.etree import _Element as Element

from archiver.html.reader.names import HEADINGS, KEPT_EMPTY, SENTENCE
from archiver.html.reader.permalinks import PERMALINK
from archiver.html.reader.tree import first_text, lead_with, remove

_MOST_HEADINGS = 3
"""Of which one may say the title: a section of the site may be named before it."""

_MOST_SIBLINGS = 40
_LONGEST = 1000
_NEARLY = 0.75
"""The share that a title and a heading have in common where one of them says a little more."""

_WITHIN = ("table", "ul", "ol", "dl", "blockquote", "figure", "details")
"""A heading in one of them heads that."""

_HIGHEST = frozenset({"h1", "h2"})

_SIGNS = re.compile(r"[\W_]+")


def put_head(root: Element, parts: list[Element]) -> Element:
    """Put what leads into an article before it, as a head of its own."""
    head = etree.Element("header")
    head.extend(parts)
    lead_with(root, head)
    return head


def take_head(root: Element, head: Element, title: str) -> None:
    """Take the head of an article out of it, and the heading that says the title of its page."""
    remove(head)
    head.tail = None
    heading = _titling(root, title)
    if heading is not None and _says_more(root, heading):
        remove(heading)
        heading.tail = None
        lead_with(head, heading)


def _titling(root: Element, title: str) -> Element | None:
    """The heading that says the title, before the first sentence."""
    for heading in islice(root.iter(*HEADINGS), _MOST_HEADINGS):
        before = _length_before(heading, root)
        if before > SENTENCE or next(heading.iterancestors(*_WITHIN), None) is not None:
            return None
        is_title = _says(_words(heading), title, is_first=not before)
        if is_title and (heading.tag in _HIGHEST or not _is_behind_picture(heading, root)):
            return heading
    return None


def _words(heading: Element) -> str:
    """What a heading says, without signs that lead to it."""
    words = first_text(heading, _LONGEST)
    for link in heading.iter("a"):
        if link.get("class") == PERMALINK:
            words = words.removesuffix(first_text(link, _LONGEST)).rstrip()
    return words


def _is_behind_picture(heading: Element, root: Element) -> bool:
    first = next(root.iter(heading.tag, *KEPT_EMPTY), None)
    return first is not heading


def _length_before(heading: Element, root: Element) -> int:
    """How much there is to read before a heading; more than a sentence is not counted."""
    length, at = 0, heading
    while at is not root and length <= SENTENCE:
        above = at.getparent()
        length += len((above.text or "").strip())
        for sibling in islice(at.itersiblings(preceding=True), _MOST_SIBLINGS):
            length += len(first_text(sibling, SENTENCE)) + len((sibling.tail or "").strip())
        at = above
    return length


def _says(words: str, title: str, *, is_first: bool) -> bool:
    """Whether a heading says the title: the same words, or one of them a little more."""
    if not words or not title:
        return False
    if words in title and (is_first or 2 * len(words) > len(title)):
        return True
    shorter, longer = sorted((_bare(words), _bare(title)), key=len)
    return bool(shorter) and shorter in longer and len(shorter) >= _NEARLY * len(longer)


def _says_more(root: Element, heading: Element) -> bool:
    """Whether there is an article beside a heading."""
    words = first_text(heading, _LONGEST)
    has_text = len(first_text(root, 2 * _LONGEST)) > len(words)
    return has_text or any(True for _ in root.iter(*KEPT_EMPTY))


def _bare(text: str) -> str:
    return _SIGNS.sub(" ", text).strip().casefold()
