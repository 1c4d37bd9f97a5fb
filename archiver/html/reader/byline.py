"""Takes a line away that says no more than who wrote an article: that stands above it already."""

import re

from lxml.etree import _Element as Element

from archiver.html.dates import read_dateline
from archiver.html.reader.names import HEADINGS, named
from archiver.html.reader.tree import first_text, remove

_LINES = ("p", "div", "span", "address", "a", "li", "h3", "h4", "h5", "h6")
_MOST_LINES, _MOST_BEFORE = 30, 600
"""Elements that are looked at, and characters of text that may stand before."""

_LONGEST = 2000
"""Characters of a line, white space and signs too; an element that holds more is none."""
_OPENING = re.compile(r"(?:written\s+)?(?:by|von|par|por|di|door|av|af)\b[\s:]*", re.IGNORECASE)
_LONGEST_BLOCK = 150
"""Characters of a block that says who wrote an article, when, and what can be done with it."""

_LARGEST_PORTRAIT = 120
_PORTRAIT = re.compile(r"avatar|author|byline|profile|portrait", re.IGNORECASE)
_MATTER = (*HEADINGS - {"h4", "h5", "h6"}, "figure", "blockquote")
_SIGNS = re.compile(r"[\W_]+")
_LETTER = re.compile(r"[^\W_]")


def drop_byline(root: Element, byline: str, published: str) -> None:
    """Take the first lines of an article away that are its byline, with "by" or without.

    What is around it goes with it, where that has no more than a date, buttons and a small picture.

    Args:
        root: of the article.
        byline: as the page says it; empty where it does not.
        published: when it was, as ISO 8601; a line may say that, too.
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
        if _is_byline(text, wanted, published) and not _holds_more(element):
            remove(_block_of(element, root))
            return
        if not len(element):
            before += len(text)


def _is_byline(text: str, wanted: str, published: str) -> bool:
    """Whether a line says who wrote it, alone or with the day that is known."""
    said = _OPENING.sub("", text, count=1)
    first = _LETTER.search(said)
    if first is None or not wanted.startswith(first[0].casefold()):
        return False
    if _bare(said) == wanted:
        return True
    if not published or len(text) > _LONGEST_BLOCK or not _bare(said).startswith(f"{wanted} "):
        return False
    behind = (said[end:].strip(" \t\n|,;:/\u2022\u00b7\u2013\u2014-") for end in range(len(said)))
    rest = next((each for n, each in enumerate(behind) if _bare(said[:n]) == wanted), "")
    return read_dateline([rest])[:10] == published[:10]


def _block_of(line: Element, root: Element) -> Element:
    """The line, or the largest block around it that says little else; no part of a sentence."""
    block = line
    for above in line.iterancestors():
        is_more = len(first_text(above, _LONGEST_BLOCK)) > _LONGEST_BLOCK or _holds_more(above)
        is_listed = above.tag == "li"
        if above is root or is_listed or is_more or next(above.iter(*_MATTER), None) is not None:
            break
        block = above
    return block


def _bare(text: str) -> str:
    return _SIGNS.sub(" ", text).strip().casefold()


def _holds_more(element: Element) -> bool:
    """Whether there is something in it that is no text and no small picture."""
    if next(element.iter("video", "audio", "math", "pre", "table"), None) is not None:
        return True
    return any(_is_shown(each) for each in element.iter("img", "svg"))


def _is_shown(picture: Element) -> bool:
    """Whether a picture is one of the matter: authors and signs are small, or called so."""
    if picture.tag == "svg":
        return next(picture.iter("text"), None) is not None
    sides = [picture.get(each) or "" for each in ("width", "height")]
    is_small = all(each.isdigit() and int(each) <= _LARGEST_PORTRAIT for each in sides)
    above = picture.getparent()
    return not is_small and not _PORTRAIT.search(f"{named(picture)} {named(above)}")
