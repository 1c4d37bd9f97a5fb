"""Removal of links that are not part of an article's text.

These are permalinks of headings, edit links of wikis, and lists of links above the title.
"""

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final
from urllib.parse import unquote

from lxml.etree import _Element as Element

from archiver.pages.article.blocks import is_phrasing
from archiver.pages.article.elements import HEADINGS, KEPT_EMPTY
from archiver.pages.article.headline import title_heading
from archiver.pages.article.tree import remove, text_in

_FEWEST_LINKS = 3
_LEAST_LINKED = 0.8
"""Minimum share of link text in an element that is removed as a list of links.

Its headings are not counted.
"""

_LEAST_OF_TITLE = 0.5
"""Minimum length of the title's heading, relative to the title; a section's heading is shorter."""

_MAX_TEXT = 5000
_MAX_SIBLINGS = 50


def drop_above_title(root: Element, title: str) -> None:
    """Remove elements before the title's heading that consist mostly of links."""
    heading = title_heading(root, title)
    if heading is None or len(text_in(heading).strip()) < _LEAST_OF_TITLE * len(title):
        return
    around = [heading, *heading.iterancestors()]
    for element in around[: around.index(root)]:
        for above in list(islice(element.itersiblings(preceding=True), _MAX_SIBLINGS)):
            if _is_links(above):
                remove(above)


def _is_links(element: Element) -> bool:
    if next(element.iter(*KEPT_EMPTY - {"svg"}, "pre", "dl", "blockquote"), None) is not None:
        return False
    text = _letters(element)
    if not 0 < text <= _MAX_TEXT:
        return False
    links = [*element.iter("a")]
    headed = sum(_letters(each) for each in element.iter(*HEADINGS))
    linked = sum(map(_letters, links))
    return len(links) >= _FEWEST_LINKS and linked >= _LEAST_LINKED * (text - headed)


def _letters(element: Element) -> int:
    return len("".join(text_in(element).split()))


_LEVELS = 2
"""Number of ancestors that may have the id of a heading, or the brackets of an edit link."""


def drop_permalinks(body: Element) -> None:
    """Remove links in headings that point to the heading itself, such as ¶; keep the id."""
    for heading in list(body.iter(*HEADINGS)):
        links = [each for each in heading.iterdescendants("a") if _is_sign(each)]
        if not links or not _has_words(heading, links):
            continue
        names = {*_names(heading)}
        for link in links:
            fragment = unquote((link.get("href") or "").partition("#")[2])
            if fragment in names:
                if not heading.get("id"):
                    heading.set("id", fragment)
                remove(link)


def _is_sign(link: Element) -> bool:
    """Return whether a link to a fragment has no letters, digits or images.

    Links to footnotes have digits, so they are kept.
    """
    if "#" not in (link.get("href") or ""):
        return False
    has_picture = next(link.iterdescendants("img", "math"), None) is not None
    return not has_picture and not any(map(str.isalnum, _words(link)))


def _has_words(heading: Element, links: list[Element]) -> bool:
    """Return whether a heading has words outside of ``links``."""
    beside = {each for link in links for each in link.iter()}
    words = [heading.text or ""]
    for each in heading.iterdescendants():
        words += ["" if each in beside else each.text or "", each.tail or ""]
    return any(map(str.isalnum, "".join(words)))


def _words(element: Element) -> str:
    """Return the text of an element without the text inside SVG images."""
    drawn = {each for drawing in element.iter("svg") for each in drawing.iter()}
    words = "".join(each.text or "" for each in element.iter() if each not in drawn)
    return words + "".join(each.tail or "" for each in element.iterdescendants())


def _names(heading: Element) -> Iterator[str]:
    """Yield the ids of a heading, of elements in the heading, and of elements around it."""
    before = heading.getprevious()
    beside = [before] if before is not None and not len(before) else []
    above = islice(heading.iterancestors(), _LEVELS)
    for each in (*heading.iter(), *beside, *above):
        yield from filter(None, (each.get("id"), each.get("name")))


_EDITS: Final = re.compile(r"[?&;](?:action|veaction|do)=edit\b|/edit/?(?:$|[?#])")
"""Edit URLs of MediaWiki, DokuWiki, MoinMoin and code hosts."""

_MAX_TOOLS = 60
"""Maximum characters of an element that contains only edit links and brackets."""


def drop_edit_links(body: Element) -> None:
    """Remove edit links in headings and directly after them, with the brackets around them."""
    for heading in list(body.iter(*HEADINGS)):
        behind = heading.getnext()
        beside = [behind] if behind is not None and is_phrasing(behind) else []
        for place in (heading, *beside):
            for link in [each for each in place.iter("a") if _is_edit(each)]:
                remove(_with_brackets(link, heading))


def _is_edit(link: Element) -> bool:
    return _EDITS.search(link.get("href") or "") is not None


def _with_brackets(link: Element, heading: Element) -> Element:
    """Return the largest element around an edit link that has no words except edit links."""
    largest = link
    for above in islice(link.iterancestors(), _LEVELS):
        text = text_in(above)
        words = "".join(text_in(each) for each in above.iter("a") if _is_edit(each))
        is_more = sum(map(str.isalnum, text)) > sum(map(str.isalnum, words))
        if above is heading or not is_phrasing(above) or len(text) > _MAX_TOOLS or is_more:
            break
        largest = above
    return largest
