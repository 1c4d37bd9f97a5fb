"""Removal of lines above and below an article that are not part of its text.

Lines above are dates, reading times, names of authors and buttons. Lines below are buttons, tags
and requests to subscribe.
"""

import re
from collections.abc import Iterator
from itertools import islice

from lxml.etree import _Element as Element

from archiver.pages.article.blocks import has_block, is_phrasing
from archiver.pages.article.elements import HEADINGS, KEPT_EMPTY, SENTENCE, named
from archiver.pages.article.surroundings import Kind, kind_of_label
from archiver.pages.article.tree import bare, first_text, remove
from archiver.pages.metadata import read_dateline

MAX_LINE = 120
_MAX_LINES = 60
_LINES = ("p", "div", "span", "ul", "ol", "li", "section", "address", "time", "a", *HEADINGS)
_WITHIN = frozenset({"figure", "blockquote", "table", "pre", "dl", "details"})
_ACTIONS = frozenset({Kind.ACTION, Kind.COMMENTS, Kind.SHARE, Kind.TAGS, Kind.NOTICE})
_DAY = re.compile(
    r"\b(?:19|20)\d\d\b|\b\d{1,2}[./]\d{1,2}[./]\d{2,4}\b|\b\d{1,2}[:.]\d\d\b|\d\u5e74|\b\d+\s\w+\sago\b"
)
_WORD = re.compile(r"[^\W\d_]+")
_MAX_WORDS = 4
_TIME = re.compile(
    r"(?:~|ca\.?)?\s*\d{1,3}\s*[-\u2013]?\s*(?:min(?:ute)?[sn]?\.?|mins?)\b(?:\s(?:read|lesezeit"
    r"|lesedauer|de lecture|de lectura|de leitura|di lettura|leestijd|to read))?",
    re.IGNORECASE,
)
_COUNT = re.compile(r"[\W\d]*[KkMm]?[\W\d]*")
_BY = re.compile(r"(?:written\s+)?(?:by|von|par|por|di|door|av|af)\b[\s:]+", re.IGNORECASE)
_COORDINATES = re.compile(r"(?:\w[\w ]{0,30}[:\uff1a])?[\W\d]*\u00b0[\W\d]*[NSEWO][\W\dNSEWO]*")
"""Pattern for geographic coordinates, such as ``Coordinates: 42°S 174°E``."""
_MAX_NAMES = 6
_NAMED_LINE = re.compile(
    r"by-?line|author|no-?print|(?:^|[\s_-]|post|entry)(?:meta|date|time)|timestamp|dateline|contributor|published",
    re.IGNORECASE,
)
_PARTS = re.compile(r"\s*[|\u00b7\u2022\u2014]\s*|\s+[-\u2013]\s+")
_LETTER_LINK = re.compile(
    r"newsletter|subscri|sign[ -]?up|abonn|inscri|suscri|bolet|patreon", re.IGNORECASE
)
_MAX_APPEAL = 250
SMALL_PICTURE = 120
"""Maximum width and height, in pixels, of a portrait or icon that is removed."""
MAX_ABOVE = 200
"""Maximum total length of the sentences, such as a subtitle, that may precede a removed line."""


def trim(root: Element, byline: str) -> str:
    """Remove extra lines and small images above an article, and extra lines below it.

    Args:
        root: the root of the article, which is modified.
        byline: the author in the page's metadata; a line with only this name is removed.

    Returns: the date in the lines removed above, as ISO 8601; empty if there is none.
    """
    author = bare(byline)
    removed = []
    for line in _lines_above(root):
        if line.tag == "img":
            if _is_small(line):
                remove(line)
        elif _is_line_above(line, root, author):
            removed.append(first_text(line, MAX_LINE))
            remove(line)
    for line in _lines_below(root):
        if _is_line_below(line):
            remove(line)
    _drop_last_headings(root)
    return read_dateline(removed)


def _lines_above(root: Element) -> Iterator[Element]:
    """Yield lines and images at the start, until their sentences exceed ``MAX_ABOVE``."""
    prose = 0
    for element in list(islice(root.iter("img", *_LINES), _MAX_LINES)):
        if element.tag == "img":
            yield element
        if has_block(element) or _is_within(element) or _is_in_line(element):
            continue
        text = first_text(element, MAX_ABOVE)
        if len(text) > SENTENCE and element.tag not in HEADINGS:
            prose += len(text)
        if prose > MAX_ABOVE:
            return
        yield element


def _is_small(image: Element) -> bool:
    sides = [image.get(each) or "" for each in ("width", "height")]
    return all(each.isdigit() and int(each) <= SMALL_PICTURE for each in sides)


def _lines_below(root: Element) -> Iterator[Element]:
    """Yield the short lines at the end of an article, the last line first."""
    last = reversed(list(root.iter(*_LINES)))
    lines = (each for each in last if not has_block(each) and not _is_in_line(each))
    for element in list(islice(lines, _MAX_LINES)):
        if _is_within(element) or element.getparent() is None:
            return
        if len(first_text(element, _MAX_APPEAL)) > _MAX_APPEAL:
            return
        yield element


def _is_in_line(element: Element) -> bool:
    """Return whether an element is phrasing content within a line of text."""
    if not is_phrasing(element):
        return False
    above = element.getparent()
    if above is None or above.tag in HEADINGS or is_phrasing(above):
        return True
    texts = (above.text, *(each.tail for each in islice(above, _MAX_LINES)))
    return any(each and each.strip() for each in texts)


def _is_within(element: Element) -> bool:
    return next(element.iterancestors(*_WITHIN), None) is not None


def _is_line_above(line: Element, root: Element, author: str) -> bool:
    text = first_text(line, MAX_LINE)
    if not text or len(text) > SENTENCE or line.tag == "h1" or line.getparent() is None:
        return False
    if next(line.iterdescendants(*KEPT_EMPTY, *HEADINGS), None) is not None:
        return False
    around = (line, *islice(line.iterancestors(), 2))
    is_named = any(
        _NAMED_LINE.search(named(each)) and len(first_text(each, MAX_ABOVE)) <= MAX_ABOVE // 2
        for each in around
        if each is not root
    )
    if line.tag in HEADINGS:
        return is_named and _is_date(text)
    if is_named:
        return True
    parts = [each for each in _PARTS.split(text) if each]
    return _is_about(text, author) or all(_is_about(each, author) for each in parts)


def _is_about(text: str, author: str) -> bool:
    """Return whether text is a date, reading time, number, label of a button, or author."""
    return (
        kind_of_label(text) in _ACTIONS
        or _is_date(text)
        or _TIME.fullmatch(text) is not None
        or _COUNT.fullmatch(text) is not None
        or _COORDINATES.fullmatch(text) is not None
        or _is_author(text, author)
    )


def _is_author(text: str, author: str) -> bool:
    """Return whether text is the page's author, or a short text after "by" or its translation."""
    name = _BY.sub("", text, count=1)
    is_named = name != text and name[0].isupper() and len(text.split()) <= _MAX_NAMES
    return is_named or (author != "" and bare(name) == author)


def _is_date(text: str) -> bool:
    if _DAY.search(text) is None or text.endswith((".", "\u3002", "?", "!")):
        return False
    return len(_WORD.findall(text)) <= _MAX_WORDS or bool(read_dateline([text]))


def _is_line_below(line: Element) -> bool:
    text = first_text(line, _MAX_APPEAL)
    if not text or line.tag in HEADINGS:
        return False
    if len(line) and next(line.iterdescendants(*KEPT_EMPTY), None) is not None:
        return False
    kind = kind_of_label(text[:SENTENCE])
    if kind in _ACTIONS or _COUNT.fullmatch(text) is not None:
        return True
    if text.startswith("\u00a9"):
        return True
    label_kind = kind_of_label(" ".join(text.split()[:3]))
    links = [*islice(line.iter("a"), _MAX_LINES)]
    called = (f"{first_text(each, SENTENCE)} {each.get('href') or ''}" for each in links)
    return bool(links) and (label_kind is Kind.NEWSLETTER or any(map(_LETTER_LINK.search, called)))


def _drop_last_headings(root: Element) -> None:
    """Remove headings at the end of an article, unless it has little text besides headings."""
    headed = sum(len(first_text(each, MAX_LINE)) for each in root.iter(*HEADINGS))
    if len(first_text(root, headed + SENTENCE)) <= headed + SENTENCE:
        return
    for element in reversed(list(root.iter())):
        if element is root or element.getparent() is None:
            continue
        if element.tag in KEPT_EMPTY or (element.tail or "").strip():
            return
        if element.tag in HEADINGS:
            remove(element)
        elif (element.text or "").strip():
            return
