"""Headline and lead of an article.

The lead is the subtitle and the main picture between the headline and the text. Headline and lead
are often in a header outside of the element with the paragraphs, so the lead is added to the
extracted article.

The head of an article consists of the headline and the lead up to the picture. The head is stored
separately from the text, because title, author and date are displayed separately.
The title itself is chosen in ``pages.metadata``.
"""

import re
from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from itertools import islice, takewhile

from lxml import etree
from lxml.etree import _Element as Element

from archiver.pages.article.blocks import has_block
from archiver.pages.article.elements import (
    HEADINGS,
    KEPT_EMPTY,
    SENTENCE,
    named,
    remembered,
)
from archiver.pages.article.tree import bare, first_text, prepend, remove, text_in

_MAX_HEADINGS = 3
"""Number of headings that may be the title; the first may be the name of a site's section."""

_MAX_SIBLINGS = 40
_MAX_HEADING = 1000
_MIN_LENGTH_RATIO = 0.75
"""Minimum length of a heading relative to the title that contains it, or the reverse."""

_WITHIN = ("table", "ul", "ol", "dl", "blockquote", "figure", "details")
"""Elements in which a heading is never the headline of the article."""

_INFOBOX = re.compile(r"(?:^|[\s_-])(?:info|taxo|fact)-?box", re.IGNORECASE)
_BOXES = ("aside", "div", "table")
_TEXT_BLOCKS = frozenset({"p", "ul", "ol", "dl", "blockquote"})

_HIGHEST = frozenset({"h1", "h2"})


def put_head(root: Element, parts: list[Element]) -> Element:
    """Insert elements as the head of an article; return the head."""
    head = etree.Element("header")
    head.extend(parts)
    prepend(root, head)
    return head


def move_infoboxes(root: Element) -> None:
    """Move infoboxes from the start of an article to below the paragraphs that follow them.

    At most ``PROSE`` characters of paragraphs, such as notes about similar titles, precede the box.
    """
    boxes: list[Element] = []
    inside: set[Element] = set()
    before = 0
    for element in root.iter("p", *_BOXES):
        if element in inside:
            continue
        if element.tag in _BOXES and _INFOBOX.search(named(element)):
            boxes.append(element)
            inside.update(element.iter())
        elif element.tag == "p":
            length = len(first_text(element, PROSE))
            before += length
            if boxes and length > SENTENCE:
                break
            if before > PROSE:
                return
    else:
        return
    below = _last_of_text(element)
    for box in reversed(boxes):
        remove(box)
        box.tail = None
        below.addnext(box)


def _last_of_text(paragraph: Element) -> Element:
    """Return the last of the adjacent text blocks that begin with a paragraph."""
    blocks = takewhile(lambda each: each.tag in _TEXT_BLOCKS, paragraph.itersiblings())
    return [paragraph, *blocks][-1]


def take_head(root: Element, head: Element, title: str) -> None:
    """Remove the head from an article.

    The heading that repeats the page's title is moved from the article to the start of the head.
    """
    remove(head)
    head.tail = None
    heading = _titling(root, title)
    if heading is not None and _has_adjacent_article(root, heading):
        remove(heading)
        heading.tail = None
        prepend(head, heading)


def _titling(root: Element, title: str) -> Element | None:
    """Return the heading that repeats the title, if it precedes the first sentence."""
    for heading in islice(root.iter(*HEADINGS), _MAX_HEADINGS):
        before = _length_before(heading, root)
        if before > SENTENCE or next(heading.iterancestors(*_WITHIN), None) is not None:
            return None
        is_title = _is_title(first_text(heading, _MAX_HEADING), title, is_first=not before)
        if is_title and (heading.tag in _HIGHEST or not _is_after_picture(heading, root)):
            return heading
    return None


def _is_after_picture(heading: Element, root: Element) -> bool:
    first = next(root.iter(heading.tag, *KEPT_EMPTY), None)
    return first is not heading


def _length_before(heading: Element, root: Element) -> int:
    """Return the number of characters before a heading; counting stops after one sentence."""
    length, at = 0, heading
    while at is not root and length <= SENTENCE:
        above = at.getparent()
        length += len((above.text or "").strip())
        for sibling in islice(at.itersiblings(preceding=True), _MAX_SIBLINGS):
            length += len(first_text(sibling, SENTENCE)) + len((sibling.tail or "").strip())
        at = above
    return length


def _is_title(words: str, title: str, *, is_first: bool) -> bool:
    """Return whether the text of a heading is the title of the page.

    That is the case if the title contains the text, and either the heading ``is_first`` or the text
    is longer than half of the title. It is also the case if, without punctuation, one of the two
    contains the other and their lengths are similar (``_MIN_LENGTH_RATIO``).
    """
    if not words or not title:
        return False
    if words in title and (is_first or 2 * len(words) > len(title)):
        return True
    shorter, longer = sorted((bare(words), bare(title)), key=len)
    return bool(shorter) and shorter in longer and len(shorter) >= _MIN_LENGTH_RATIO * len(longer)


def _has_adjacent_article(root: Element, heading: Element) -> bool:
    """Return whether an article contains anything other than a heading."""
    words = first_text(heading, _MAX_HEADING)
    has_text = len(first_text(root, 2 * _MAX_HEADING)) > len(words)
    return has_text or any(True for _ in root.iter(*KEPT_EMPTY))


PROSE = 200
"""Characters above which a line is body text, unless class names mark it as part of the lead."""

SMALLEST = 200
"""Minimum width and height of a lead picture in pixels; portraits and logos are smaller."""

MAX_SUBTITLE, MAX_ABSTRACT = 700, 4000
SHORTEST_SUBTITLE, SHORTEST_LEAD = 15, 40
MAX_READ = 5000
_MAX_ELEMENTS = 400
_LINKED = 0.3
_START = 60
"""Number of characters of the first paragraph by which the article's start is found."""

_SUBTITLE = re.compile(
    r"(?:^|[\s_-])(?:sub-?(?:title|head(?:line|ing)?)|stand-?first|dek|deck|lede?|chapo|teaser"
    r"|excerpt|description|intro|tagline|abstract|summary)(?:$|[\s_-])",
    re.IGNORECASE,
)
_ABSTRACT = re.compile(r"(?:^|[\s_-])abstract(?:$|[\s_-])", re.IGNORECASE)
_NOT_LEAD = re.compile(
    r"avatar|author|byline|shar(?:e|ing)|social|comment|related|logo|promo|sponsor|newsletter"
    r"|subscri|icon|emoji|badge|toolbar|menu|nav(?:bar|igation)?(?:$|[\s_-])|recommend|more-"
    r"|(?:^|[\s_-])ads?(?:$|[\s_-])|breadcrumb",
    re.IGNORECASE,
)
_is_named_as_aside = remembered(_NOT_LEAD)
_is_subtitle = remembered(_SUBTITLE)
_SKIPPED = frozenset("nav aside form footer button select label time address ul ol dl".split())
_PICTURES = frozenset({"figure", "picture", "img"})
_LINES = frozenset({"p", "h2", "h3", "h4", "h5", "h6", "div", "span", "section"})

_SCALED = re.compile(r"-[0-9]{2,4}x[0-9]{2,4}(?=\.\w+$)")


@dataclass(frozen=True, slots=True)
class Lead:
    """Elements of the lead in order, and the first words of the article's text."""

    parts: tuple[Element, ...] = ()
    beginning: str = ""


def find_lead(body: Element, title: str, byline: str) -> Lead:
    """Return the lead: copies of elements around the title and before the first paragraph."""
    heading = title_heading(body, title)
    if heading is None:
        return Lead()
    collector = _LeadCollector(bare(byline))
    for element in _above(heading):
        collector.add_picture(element)
    block = heading.getparent()
    for element in islice(_behind(heading), _MAX_ELEMENTS):
        if collector.add(element, is_sibling=element.getparent() is block):
            break
    return Lead(tuple(collector.parts), collector.beginning)


def insert_lead(root: Element, lead: Lead) -> Element:
    """Insert, at the start of an article, the lead elements that it does not contain yet.

    Return the head, which contains the inserted elements up to and including the picture.
    """
    parts = _missing(root, lead)
    above = _count_of_head(parts)
    before = root[0] if len(root) and root[0].tag == "h1" else None
    for part in reversed(parts[above:]):
        if before is None:
            prepend(root, part)
        else:
            before.addnext(part)
    return put_head(root, parts[:above])


def _count_of_head(parts: Sequence[Element]) -> int:
    """Return the number of elements up to the picture; 0 if none, or if an abstract precedes it."""
    for n, part in enumerate(parts):
        if _holds_picture(part):
            return n + 1
        if len(_text(part)) > MAX_SUBTITLE:
            break
    return 0


def _missing(root: Element, lead: Lead) -> list[Element]:
    """Return the elements of the lead that an article does not contain."""
    text = _text(root) if lead.parts else ""
    if not lead.beginning or lead.beginning not in text:
        return []
    names = {_name(each) for each in root.iter("img")}
    missing = []
    for part in lead.parts:
        pictures = [_name(each) for each in part.iter("img")]
        is_there = names.intersection(pictures) if pictures else _text(part) in text
        if not is_there:
            missing.append(part)
    return missing


class _LeadCollector:
    def __init__(self, byline: str) -> None:
        self.parts: list[Element] = []
        self.beginning = ""
        self._byline = byline
        self._done: set[Element] = set()

    def add(self, element: Element, *, is_sibling: bool) -> bool:
        """Add an element if it is part of the lead; return whether it is the first paragraph.

        ``is_sibling`` is true if the element has the same parent as the title.
        """
        if self._is_done(element):
            return False
        if element.tag in _PICTURES:
            self._keep_picture(element)
        elif element.tag in _LINES:
            return self._add_line(element, is_sibling=is_sibling)
        return False

    def add_picture(self, element: Element) -> None:
        """Add an element before the title if it is a lead picture."""
        if not self._is_done(element) and element.tag in _PICTURES:
            self._keep_picture(element)

    def _is_done(self, element: Element) -> bool:
        tag = element.tag
        is_sibling = tag not in HEADINGS and _is_named_as_aside(named(element))
        if tag in _SKIPPED or is_sibling or element.getparent() in self._done:
            self._done.add(element)
            return True
        return False

    def _keep_picture(self, element: Element) -> None:
        self._done.add(element)
        if _is_large(element) and not any(_holds_picture(each) for each in self.parts):
            self.parts.append(_copy(element))

    def _add_line(self, element: Element, *, is_sibling: bool) -> bool:
        names = f"{named(element)} {element.get('itemprop') or ''} {element.get('role') or ''}"
        is_named = _is_subtitle(names)
        if not is_named and (element.tag not in {"p", *HEADINGS} and has_block(element)):
            return False
        text = first_text(element, MAX_READ)
        most = MAX_ABSTRACT if _ABSTRACT.search(names) else MAX_SUBTITLE
        shortest = SHORTEST_LEAD if element.tag in HEADINGS else SENTENCE
        leads = is_named or (is_sibling and element.tag != "span" and len(text) > shortest)
        if leads and SHORTEST_SUBTITLE <= len(text) <= most and self._is_text(element, text):
            self._done.add(element)
            self.parts.append(_line(element))
            return False
        is_sentence = element.tag == "p" and not is_sibling and len(text) > SENTENCE
        if is_sentence or len(text) > PROSE:
            self.beginning = bare(text)[:_START]
            return True
        return False

    def _is_text(self, element: Element, text: str) -> bool:
        linked = sum(len(text_in(each)) for each in element.iter("a"))
        is_byline = bool(self._byline) and self._byline in bare(text)
        has_more = next(element.iter("time", "img", "button", "input"), None) is not None
        return linked < _LINKED * len(text) and not is_byline and not has_more


def title_heading(body: Element, title: str) -> Element | None:
    """Return the heading with the page's title; None if there is none."""
    title = bare(title)
    if not title:
        return None
    for each in islice(body.iter("h1", "h2"), 30):
        text = _text(each)
        if text and (text in title or title in text):
            return None if any(above.tag in _SKIPPED for above in each.iterancestors()) else each
    return None


def _above(heading: Element) -> Iterator[Element]:
    """Yield the elements before a heading in the same ``article``, ``main`` or ``header``."""
    above = {*heading.iterancestors()}
    holder = next(heading.iterancestors("article", "main"), None)
    holder = next(heading.iterancestors("header"), None) if holder is None else holder
    for element in islice(holder.iter(), _MAX_ELEMENTS) if holder is not None else ():
        if element is heading:
            return
        if element not in above:
            yield element


def _behind(heading: Element) -> Iterator[Element]:
    """Yield all elements after a heading, in document order."""
    at = heading
    while at is not None and at.tag != "body":
        for sibling in at.itersiblings():
            yield from sibling.iter()
        at = at.getparent()


def _is_large(element: Element) -> bool:
    """Return whether an element has exactly one image, unlinked and not known to be small."""
    images = [each for each in element.iter("img") if each.get("src") or each.get("srcset")]
    if len(images) != 1 or next(element.iterancestors("a"), None) is not None:
        return False
    sides = [images[0].get(each) or "" for each in ("width", "height")]
    return all(int(each) >= SMALLEST for each in sides if each.isdigit())


def _holds_picture(element: Element) -> bool:
    return next(element.iter("img"), None) is not None


def _copy(element: Element) -> Element:
    copied = deepcopy(element)
    copied.tail = None
    return copied


def _line(element: Element) -> Element:
    """Return a copy of a line without headings, because a subtitle does not begin a section."""
    copied = _copy(element)
    for heading in copied.iterdescendants(*HEADINGS):
        heading.tag = "p" if _text(heading) == _text(copied) else heading.tag
    copied.tag = "div" if has_block(copied) else "p"
    return copied


def _name(image: Element) -> str:
    """Return the file name of an image without the size that some servers add to it."""
    address = (image.get("src") or "").partition("?")[0].rstrip("/")
    return _SCALED.sub("", address.rpartition("/")[2])


def _text(element: Element) -> str:
    return bare(text_in(element))
