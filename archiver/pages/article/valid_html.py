"""Valid HTML: elements moved to where the content model allows them.

Browsers display invalid HTML differently, and screen readers misread it. Text is kept: an element
that cannot be valid becomes a more generic one, such as ``div`` or ``span``. Formulas and SVG are
not checked.
"""

import re
from urllib.parse import unquote

from lxml import etree
from lxml.etree import _Element as Element

from archiver.pages.article.blocks import (
    normalise_lists,
    unwrap_blocks,
    wrap_content,
    wrap_loose_text,
)
from archiver.pages.article.elements import (
    EMPHASIS,
    FLOW,
    HEADINGS,
    LINES,
    OUTLINED,
    PARENTS,
    PARTS,
    ROWS,
    UNHEADED,
)
from archiver.pages.article.media import normalise_captions
from archiver.pages.article.tree import ancestors, prepend, remove, space_around, unwrap, with_words
from archiver.pages.sanitizer import TAGS

_FOREIGN = frozenset({"svg", "math"})
_KNOWN = TAGS | _FOREIGN
_CHECKED = (
    *PARENTS,
    *UNHEADED,
    *"main ruby time bdo video audio dfn details header footer".split(),
)
"""Elements that may be misplaced or lack required content."""

_SHOWN = ("img", "svg", "math", "video", "audio", "picture")
_MAX_NAME = 80
_ONCE = frozenset({"caption", "thead", "tfoot"})
_PLAYED = ("video", "audio", "details")
_MAX_NOTICE = 300
_NOTICE = re.compile("browser|javascript|navigateur|navegador|浏览器", re.IGNORECASE)
_DATE = r"\d{4,6}-\d\d(?:-\d\d)?|\d{4,6}-W\d\d|\d{4,6}|(?:--)?\d\d-\d\d"
_TIME = r"\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?"
_ZONE = r"Z|[+-]\d\d:?\d\d"
_TIME_VALUE = re.compile(
    rf"(?:{_DATE}|{_TIME}|{_ZONE}|\d{{4,6}}-\d\d-\d\d[T ]{_TIME}(?:{_ZONE})?"
    r"|P(?=[\dT])(?:\d+D)?(?:T(?=\d)(?:\d+H)?(?:\d+M)?(?:\d+(?:\.\d{1,3})?S)?)?)"
)
"""Valid values of a ``time`` element (HTML §4.5.14), without checking the day of the month."""


def make_valid(root: Element) -> None:
    """Modify the tree of an article until every element is valid in its place."""
    for element in _html(root):
        if element is not root and element.tag not in _KNOWN:
            unwrap(element)
    with_text = with_words(root)
    _normalise_links(root, with_text)
    _normalise_pictures(root, with_text)
    for element in list(root.iter(*_CHECKED)):
        _normalise_part(element, with_text)
    normalise_captions(root)
    normalise_lists(root)
    _normalise_blocks(root)
    _normalise_tables(root)
    _normalise_headings(root)


def _html(root: Element) -> list[Element]:
    """Return the HTML elements of a tree, in order."""
    foreign: set[Element] = set()
    for each in root.iter(*_FOREIGN):
        foreign.update(each.iterdescendants())
    return [each for each in root.iter() if each not in foreign] if foreign else list(root.iter())


def _normalise_links(root: Element, with_text: set[Element]) -> None:
    """Give links a target and content, and remove nested links."""
    playing = ancestors(root.iter(*_PLAYED))
    linked: set[Element] = set()
    for link in list(root.iter("a")):
        inside = link in linked
        linked.update(link.iterdescendants("a"))
        shows = link in with_text or next(link.iterdescendants(*_SHOWN), None) is not None
        if inside or link in playing or not link.get("href") or not shows:
            _make_plain(link)


def _make_plain(element: Element) -> None:
    """Unwrap an element; if it has an id, convert it to a ``span`` with that id instead."""
    if element.get("id"):
        element.tag = "span"
        for name in set(element.attrib) - {"id", "lang", "dir", "title"}:
            del element.attrib[name]
    else:
        unwrap(element)


def _normalise_pictures(root: Element, with_text: set[Element]) -> None:
    for image in list(root.iter("img")):
        if not (image.get("src") or image.get("srcset")):
            remove(image)
    for picture in list(root.iter("picture")):
        _normalise_sources(picture)
    for image in root.iter("img"):
        if image.get("alt") is None:
            image.set("alt", image.get("title") or _name_of_link(image, with_text))
    for drawing in root.iter("svg"):
        if drawing.get("role") and not drawing.get("aria-label"):
            del drawing.attrib["role"]


def _normalise_sources(picture: Element) -> None:
    """Reduce a ``picture`` to its sources and one image; unwrap a ``picture`` without an image."""
    images = list(picture.iter("img"))
    if not images:
        unwrap(picture)
        return
    image = images[0]
    for child in reversed(list(picture)):
        if child.tag == "source" and child.get("srcset"):
            child.attrib.pop("src", None)
        elif child is not image:
            picture.remove(child)
            picture.addnext(child)
    remove(image)
    image.tail = None
    picture.append(image)
    words = [picture.text, *(each.tail for each in picture)]
    picture.text = None
    for child in picture:
        child.tail = None
    picture.tail = "".join(filter(None, [*words, picture.tail]))


def _name_of_link(image: Element, with_text: set[Element]) -> str:
    """Return the file name of an image that is the only content of a link; else an empty string."""
    link = next(image.iterancestors("a"), None)
    if link is None or link in with_text:
        return ""
    source = (image.get("src") or "").partition("?")[0]
    return "" if source.startswith("data:") else unquote(source.rpartition("/")[2])[:_MAX_NAME]


def _normalise_part(element: Element, with_text: set[Element]) -> None:
    """Replace an invalid element by a valid one."""
    tag, above = element.tag, element.getparent()
    if above is None:
        return
    if tag in PARENTS and above.tag not in PARENTS[tag]:
        _make_other(element)
    elif tag in {"main", "ruby", "time", "bdo"} and not _is_whole(element):
        element.tag = "div" if tag == "main" else "span"
        element.attrib.pop("datetime", None)
    elif tag == "details":
        _lead_with_summary(element)
    elif tag in {"video", "audio"}:
        _normalise_played(element, with_text)
    elif tag == "dfn" and next(element.iterancestors("dfn"), None) is not None:
        element.tag = "span"
    elif tag in UNHEADED and next(element.iterdescendants(*OUTLINED), None) is not None:
        element.tag = "td" if tag == "th" else "div"
    elif tag in {"header", "footer"}:
        for inner in element.iterdescendants("header", "footer"):
            inner.tag = "div"


def _is_whole(element: Element) -> bool:
    """Return whether an element has its required content.

    ``main`` is never valid, since the page has a ``main`` element around the article.
    """
    if element.tag == "ruby":
        return element.find("rt") is not None
    if element.tag == "bdo":
        return element.get("dir") in {"ltr", "rtl"}
    return element.tag == "time" and _is_valid_time(element)


def _normalise_played(element: Element, with_text: set[Element]) -> None:
    """Reduce a media element to its URL or its sources, and move other content after it."""
    content = [each for each in element if each.tag != "source"]
    if not _is_notice(element, any(each in with_text for each in content)):
        behind = etree.Element("span")
        behind.text = element.text
        behind.extend(content)
        element.addnext(behind)
    for child in list(element):
        if child.tag != "source" or element.get("src") or not child.get("src"):
            element.remove(child)
        child.tail = None
    element.text = None


def _is_notice(played: Element, is_marked: bool) -> bool:
    """Return whether the text in a media element is only a fallback for old browsers."""
    words = ""
    for text in played.itertext():
        words += text.strip()
        if len(words) > _MAX_NOTICE:
            return False
    return not is_marked or _NOTICE.search(words) is not None


def _lead_with_summary(element: Element) -> None:
    summaries = element.findall("summary")
    for each in summaries[1:]:
        each.tag = "div"
    if summaries:
        prepend(element, summaries[0])
        _open_around_headings(summaries[0])
    else:
        element.tag = "div"


def _open_around_headings(summary: Element) -> None:
    """Remove blocks around headings in a summary, where they are invalid (HTML §4.11.2)."""
    around = ancestors(summary.iter(*HEADINGS))
    for each in [each for each in summary.iterdescendants() if each in around]:
        space_around(each)
        unwrap(each)


def _make_other(element: Element) -> None:
    tag = element.tag
    if tag in {"source", "col"}:
        remove(element)
    elif tag in {"rt", "rp"}:
        element.tag = "span"
    else:
        element.tag = "div"


def _is_valid_time(element: Element) -> bool:
    moment = element.get("datetime")
    if moment is None:
        moment = "".join(element.itertext()) if not len(element) else ""
    return _TIME_VALUE.fullmatch(moment.strip()) is not None


def _normalise_blocks(root: Element) -> None:
    """Move blocks out of phrasing content."""
    elements = _html(root)
    lined: set[Element] = set()
    for line in root.iter(*LINES):
        lined.update(line.iterdescendants())
    blocks = [each for each in elements if each.tag in FLOW or each.tag in PARTS]
    holding = ancestors(blocks) - lined
    for element in blocks:
        if element in lined:
            _put_in_line(element)
    opened = unwrap_blocks([each for each in elements if each.tag in EMPHASIS and each in holding])
    if opened:
        wrap_content(_html(root), opened, holding)
    for element in elements:
        if element.tag == "p" and element in holding:
            element.tag = "div"
            wrap_loose_text(element)


def _put_in_line(element: Element) -> None:
    """Convert a block in a line of text, such as a heading, to phrasing content."""
    above = element.getparent()
    if above is not None and above.tag == "summary" and element.tag in HEADINGS:
        return
    element.tag = "br" if element.tag == "hr" else "span"
    if element.tag == "span":
        element.tail = f" {element.tail or ''}"
        before = element.getprevious()
        if before is not None:
            before.tail = f"{before.tail or ''} "
        elif above is not None and above.text:
            above.text += " "


def _normalise_tables(root: Element) -> None:
    """Order the parts of tables, remove empty rows, and clamp spans to their row group."""
    _normalise_heads(root)
    for column in list(root.iter("colgroup", "col")):
        remove(column)
    for table in root.iter("table"):
        _order(table)
    for row in list(root.iter("tr")):
        if row.find("td") is None and row.find("th") is None:
            remove(row)
    for group in root.iter(*ROWS):
        rows = group.findall("tr")
        for n, row in enumerate(rows):
            for cell in row:
                span = cell.get("rowspan") or ""
                if span.isascii() and span.isdigit() and int(span) > len(rows) - n:
                    cell.set("rowspan", str(len(rows) - n))


def _normalise_heads(root: Element) -> None:
    """Replace header cells without content by data cells."""
    for cell in list(root.iter("th")):
        if not "".join(cell.itertext()).strip() and next(cell.iter(*_SHOWN), None) is None:
            cell.tag = "td"
            cell.attrib.pop("scope", None)


def _order(table: Element) -> None:
    """Order the caption, head, rows and foot of a table; additional heads and feet become rows."""
    seen: set[str] = set()
    for part in table:
        if part.tag in _ONCE and part.tag in seen:
            part.tag = "tbody" if part.tag != "caption" else "div"
        seen.add(part.tag)
    caption = table.find("caption")
    for second in table.findall("div") if caption is not None else ():
        caption.append(second)
    if caption is not None and table[0] is not caption:
        prepend(table, caption)
    head, foot = table.find("thead"), table.find("tfoot")
    if head is not None and head.getprevious() not in {None, caption}:
        head.tag = "tbody"
    if foot is not None and foot.getnext() is not None:
        table.append(foot)


def _normalise_headings(root: Element) -> None:
    """Remove empty headings, start at the second level, and close gaps between levels."""
    above: list[int] = []
    for heading in list(root.iter(*HEADINGS)):
        has_words = any(text.strip() for text in heading.itertext())
        if not has_words and next(heading.iter(*_SHOWN), None) is None:
            heading.tag = "span"
            continue
        level = int(heading.tag[1])
        while above and above[-1] >= level:
            above.pop()
        above.append(level)
        heading.tag = f"h{min(len(above) + 1, 6)}"
