"""Takes a line away that says no more than who wrote an article: that stands above it already."""

import re

from lxml.etree import _Element as Element

from archiver.html.reader.tree import first_text, remove

_LINES = ("p", "div", "span", "address", "a", "li", "h3", "h4", "h5", "h6")
_MOST_LINES, _MOST_BEFORE = 30, 600
"""Elements that are looked at, and characters of text that may stand before."""

_LONGEST = 2000
"""Characters of a line, white space and signs too; an element that holds more is none."""
_OPENING = re.compile(r"(?:written\s+)?(?:by|von|par|por|di|door|av|af)\b[\s:]*", re.IGNORECASE)
_SIGNS = re.compile(r"[\W_]+")


def drop_byline(root: Element, byline: str) -> None:
    """Take the first lines of an article away that are its byline, with "by" or without.

    Args:
        root: of the article.
        byline: as the page says it; empty where it does not.
    """
    wanted = _bare(byline)
    if not wanted:
        return
    before = 0
    for n, element in enumerate(list(root.iter(*_LINES))):
        if n > _MOST_LINES or before > _MOST_BEFORE:
            return
        if element.getparent() is None:
            continue
        text = first_text(element, _LONGEST)
        if _bare(_OPENING.sub("", text, count=1)) == wanted and not _holds_more(element):
            remove(element)
            return
        if not len(element):
            before += len(text)


def _bare(text: str) -> str:
    return _SIGNS.sub(" ", text).strip().casefold()


def _holds_more(element: Element) -> bool:
    """Whether there is something in it that is no text."""
    return (
        next(element.iter("img", "svg", "video", "audio", "math", "pre", "table"), None) is not None
    )
