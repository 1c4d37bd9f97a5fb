"""Removal of bylines, taglines, edit links and permalinks.

Invisible permalinks are removed; those with a visible sign (¶, #) are marked, so that the reader
view can hide them. Edit links are marked likewise if they are in a heading, and removed if they
follow one.
"""

import re
import unicodedata
from collections.abc import Iterator
from itertools import islice
from typing import Final
from urllib.parse import unquote

from lxml.etree import _Element as Element

from archiver.pages.article.blocks import has_block, is_phrasing
from archiver.pages.article.elements import HEADINGS, KEPT_EMPTY, PERMALINK, SENTENCE, named
from archiver.pages.article.headline import title_of
from archiver.pages.article.tree import first_text, remove
from archiver.pages.metadata import read_dateline

_FEWEST_LINKS = 3
_MAX_LINKED = 0.8
"""Maximum link density of a list of related pages, without its heading."""

_LEAST_OF_TITLE = 0.5
"""Minimum share of the page's title; a lower share may be the heading of a section."""

_MAX_TEXT = 5000
_MAX_SIBLINGS = 50


def drop_above_title(root: Element, title: str) -> None:
    """Remove elements that contain only links before the heading with the title."""
    heading = title_of(root, title)
    if heading is None or len("".join(heading.itertext()).strip()) < _LEAST_OF_TITLE * len(title):
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
    return len(links) >= _FEWEST_LINKS and linked >= _MAX_LINKED * (text - headed)


def _letters(element: Element) -> int:
    return len("".join("".join(element.itertext()).split()))


_LINES = ("p", "div", "span", "address", "a", "li", "h3", "h4", "h5", "h6")
_MAX_LINES, _MAX_BEFORE = 30, 600
"""Elements that are examined, and characters of text that may precede a byline."""

_MAX_BYLINE = 2000
"""Maximum characters of a line including white space; longer elements are not bylines."""
_OPENING = re.compile(r"(?:written\s+)?(?:by|von|par|por|di|door|av|af)\b[\s:]*", re.IGNORECASE)
_MAX_BLOCK = 150
"""Maximum characters of a block with author, date and buttons."""

_LARGEST_PORTRAIT = 120
_PORTRAIT = re.compile(r"avatar|author|byline|profile|portrait", re.IGNORECASE)
_MATTER = (*HEADINGS - {"h4", "h5", "h6"}, "figure", "blockquote")
_SIGNS = re.compile(r"[\W_]+")
_LETTER = re.compile(r"[^\W_]")


def drop_byline(root: Element, byline: str, published: str) -> None:
    """Remove the byline from the first lines of an article, with or without "by".

    A surrounding block is removed too, if it otherwise contains only a date, buttons and a small
    picture.

    Args:
        root: the root of the article.
        byline: the byline from the page's metadata; empty without one.
        published: the publication date as ISO 8601, which the line may include.
    """
    wanted = _bare(byline)
    if not wanted:
        return
    before = 0
    for n, element in enumerate(list(root.iter(*_LINES))):
        if n > _MAX_LINES or before > _MAX_BEFORE:
            return
        if element.getparent() is None:
            continue
        text = first_text(element, _MAX_BYLINE)
        if _is_byline(text, wanted, published) and not _holds_more(element):
            remove(_block_of(element, root))
            return
        if not len(element):
            before += len(text)


def _is_byline(text: str, wanted: str, published: str) -> bool:
    """Return whether a line is the byline, alone or with the known date."""
    said = _OPENING.sub("", text, count=1)
    first = _LETTER.search(said)
    if first is None or not wanted.startswith(first[0].casefold()):
        return False
    if _bare(said) == wanted:
        return True
    if not published or len(text) > _MAX_BLOCK or not _bare(said).startswith(f"{wanted} "):
        return False
    behind = (said[end:].strip(" \t\n|,;:/\u2022\u00b7\u2013\u2014-") for end in range(len(said)))
    rest = next((each for n, each in enumerate(behind) if _bare(said[:n]) == wanted), "")
    return read_dateline([rest])[:10] == published[:10]


def _block_of(line: Element, root: Element) -> Element:
    """Return the line, or the largest block around it with little else.

    Never part of a sentence.
    """
    block = line
    for above in line.iterancestors():
        is_more = len(first_text(above, _MAX_BLOCK)) > _MAX_BLOCK or _holds_more(above)
        is_listed = above.tag == "li"
        if above is root or is_listed or is_more or next(above.iter(*_MATTER), None) is not None:
            break
        block = above
    return block


def _bare(text: str) -> str:
    return _SIGNS.sub(" ", text).strip().casefold()


def _holds_more(element: Element) -> bool:
    """Return whether an element contains more than text and small pictures."""
    if next(element.iter("video", "audio", "math", "pre", "table"), None) is not None:
        return True
    return any(_is_content_picture(each) for each in element.iter("img", "svg"))


def _is_content_picture(picture: Element) -> bool:
    """Return whether a picture belongs to the content.

    Author photos and icons are small or named so.
    """
    if picture.tag == "svg":
        return next(picture.iter("text"), None) is not None
    sides = [picture.get(each) or "" for each in ("width", "height")]
    is_small = all(each.isdigit() and int(each) <= _LARGEST_PORTRAIT for each in sides)
    above = picture.getparent()
    return not is_small and not _PORTRAIT.search(f"{named(picture)} {named(above)}")


MAX_COLOPHON = 300
"""Maximum characters of such a line."""
_MAX_LOOKED_AT = 40
_LINES_COLOPHON = ("p", "div", "small", "footer", "section", "address")
_OF_SITE = re.compile(
    r"\W{0,5}(?:\u00a9|\(c\)|copyright\b).{0,60}?\b(?:19|20)\d\d\b", re.IGNORECASE
)


def drop_colophon(root: Element) -> None:
    """Remove the last line of an article if it begins with a copyright sign and a year."""
    for line in islice(reversed(list(root.iter(*_LINES_COLOPHON))), _MAX_LOOKED_AT):
        text = first_text(line, MAX_COLOPHON + 1)
        if not text or next(line.iterdescendants(*_LINES_COLOPHON), None) is not None:
            continue
        is_line = len(text) <= MAX_COLOPHON and next(line.iter(*KEPT_EMPTY), None) is None
        if is_line and _OF_SITE.match(text) and _is_last(line, root):
            remove(line)
        return


def _is_last(line: Element, root: Element) -> bool:
    """Return whether no text follows a line."""
    at = line
    while at is not root:
        if (at.tail or "").strip() or any(first_text(each, 1) for each in at.itersiblings()):
            return False
        at = at.getparent()
    return True


MAX_TAGLINE = 120
"""Maximum characters of such a line."""
MAX_BESIDE = 12
"""Maximum characters next to the site's name: *From*, *A page of*."""
_SHORTEST_NAME = 3
_MAX_ELEMENTS = 60

_LINES_TAGLINE = frozenset({"p", "div", "span", "section"}) | HEADINGS
_NOT_PRINTED = re.compile(
    r"(?:^|\s)(?:no-?print|print-?none|hidden-print|d-print-none|print:hidden)(?:$|\s)",
    re.IGNORECASE,
)
_SUBTITLE_OF_SITE = re.compile(
    r"(?:^|[\s_-])(?:site-?sub(?:title)?|tag-?line|site-?description)(?:$|\s)", re.IGNORECASE
)


def drop_tagline(root: Element, title: str, shown: str, site: str) -> None:
    """Remove a line before the first sentence that only names the site.

    Args:
        root: the root of the article.
        title: the title of the page.
        shown: the document's full ``title``, which often includes the site's name.
        site: the site's name, if the page states it elsewhere.
    """
    rest = shown.replace(title, "", 1) if title and title in shown else ""
    names = [name for name in map(_normalise_tagline, (rest, site)) if len(name) >= _SHORTEST_NAME]
    for line in _lines_above(root):
        if _is_of_site(line, names):
            remove(line)
            return


def _lines_above(root: Element) -> Iterator[Element]:
    """Yield the short lines before the first sentence."""
    for element in islice(root.iter(), _MAX_ELEMENTS):
        if element.tag not in _LINES_TAGLINE or has_block(element):
            continue
        text = first_text(element, MAX_TAGLINE)
        if len(text) > SENTENCE and element.tag not in HEADINGS:
            return
        if text and len(text) <= MAX_TAGLINE and next(element.iter(*KEPT_EMPTY), None) is None:
            yield element


def _is_of_site(line: Element, names: list[str]) -> bool:
    called = named(line)
    is_of_site = _SUBTITLE_OF_SITE.search(called) is not None
    if line.tag in HEADINGS and not is_of_site:
        return False
    if is_of_site or _NOT_PRINTED.search(line.get("class") or ""):
        return True
    text = _normalise_tagline(first_text(line, MAX_TAGLINE))
    return any(text.endswith(name) and len(text) - len(name) <= MAX_BESIDE for name in names)


def _normalise_tagline(text: str) -> str:
    return _SIGNS.sub(" ", text).strip().casefold()


_UNSEEN: Final = frozenset({"Cc", "Cf", "Co", "Zs", "Zl", "Zp"})
"""Categories of characters that are invisible or depend on the page's icon font."""

_LEVELS = 2
"""Number of ancestors of a heading whose name may be the link's target, such as its section."""


def normalise_permalinks(body: Element) -> None:
    """Remove or mark links without words in headings that point to their own position."""
    for link in body.iter("a"):
        if link.get("class") == PERMALINK:
            del link.attrib["class"]  # the page's classes, which may include words
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
                _normalise(link)


def _normalise(link: Element) -> None:
    if any(unicodedata.category(each) not in _UNSEEN for each in _words(link)):
        link.set("class", PERMALINK)
    else:
        remove(link)


def _is_sign(link: Element) -> bool:
    """Return whether a link contains only a sign or an icon; note links contain numbers."""
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
    """Return the text of an element without the titles of SVG."""
    drawn = {each for drawing in element.iter("svg") for each in drawing.iter()}
    words = "".join(each.text or "" for each in element.iter() if each not in drawn)
    return words + "".join(each.tail or "" for each in element.iterdescendants())


def _names(heading: Element) -> Iterator[str]:
    """Yield the ids of a heading, and of elements in it, directly before it and around it."""
    before = heading.getprevious()
    beside = [before] if before is not None and not len(before) else []
    above = islice(heading.iterancestors(), _LEVELS)
    for each in (*heading.iter(), *beside, *above):
        yield from filter(None, (each.get("id"), each.get("name")))


_EDITS = re.compile(r"[?&;](?:action|veaction|do)=edit\b|/edit/?(?:$|[?#])")
"""Edit URLs of MediaWiki, DokuWiki, MoinMoin and code hosts."""

_MAX_TOOLS = 60
"""Maximum characters of the text around such links."""


def normalise_edit_links(body: Element) -> None:
    """Mark or remove edit links in a heading or directly after it."""
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
    """Merge the elements around a link into one marked link."""
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
    """Return a link, or the element around it without words of its own."""
    largest = link
    for above in islice(link.iterancestors(), _LEVELS):
        if above is heading or not is_phrasing(above) or _has_other_words(above):
            break
        largest = above
    return largest


def _has_other_words(element: Element) -> bool:
    """Return whether an element contains words besides those of edit links."""
    text = "".join(element.itertext())
    words = "".join("".join(each.itertext()) for each in element.iter("a") if _is_edit(each))
    return len(text) > _MAX_TOOLS or sum(map(str.isalnum, text)) > sum(map(str.isalnum, words))
