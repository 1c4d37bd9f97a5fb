"""Articles prepared for display: outline, highlights and links."""

import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import unquote

from lxml import etree
from lxml.etree import _Element as Element

from archiver.model.page import Heading
from archiver.pages.article_text import BLOCKS
from archiver.pages.references import read_candidates
from archiver.pages.sanitizer import sanitise

MAX_HEADINGS = 200
"""Maximum number of headings in a table of contents."""

MAX_WORDS = 200
"""Maximum number of characters of a heading in a table of contents."""

MAX_NAME = 100
"""Maximum number of characters of a file name that describes an image."""

NARROW_FORMULA = 14
"""Maximum symbols of a formula that fits on any screen."""

_MAX_HEADING, _MAX_DATE = 400, 60
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_WRAPPERS = frozenset({"div", "article", "section", "main", "header"})
_VOID = frozenset({"br", "col", "hr", "img", "source", "wbr"})
_OPAQUE = frozenset({"math", "svg"})
"""Elements whose text is not marked."""

_SYMBOLS = ("mi", "mo", "mn", "mtext", "ms")
_TAG = re.compile(r'<(/?)([a-zA-Z][a-zA-Z0-9-]*)((?:[^<>"]|"[^"]*")*)>')
_NOT_XML = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")
_TEXT = {ord("&"): "&amp;", ord("<"): "&lt;", ord(">"): "&gt;", 0xA0: "&nbsp;"}
_VALUE = _TEXT | {ord('"'): "&quot;"}
_IN_TAG = {ord("\n"): "&#10;", ord("\t"): "&#9;", ord("\r"): "&#13;"}
"""Line ends in attributes, which XML would read as spaces."""

XLINK = "http://www.w3.org/1999/xlink"
"""Namespace of attributes such as ``xlink:href`` in SVG."""
_PREFIXES = {XLINK: "xlink", "http://www.w3.org/XML/1998/namespace": "xml"}

_TEXT_OF = etree.XPath("string()")


@dataclass(frozen=True, slots=True)
class Span:
    """Range of the article's text to be marked.

    Attributes:
        start, end: character offsets.
        attributes: the attributes of each `mark` element.
        first: additional attributes of the first `mark` element of the range.
    """

    start: int
    end: int
    attributes: Mapping[str, str] = field(default_factory=dict)
    first: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Text:
    """A text node: the text at the start of an element, or the text after it (`is_tail`)."""

    element: Element
    is_tail: bool
    text: str
    start: int
    is_opaque: bool


class ArticleTree:
    """Displayed article.

    Args:
        html: HTML as `sanitise` returns it: well-formed, attributes in double quotes.
    """

    def __init__(self, html: str) -> None:
        root = _parsed(html)
        if root is None:
            root = _parsed(sanitise(html))
        if root is None:
            root = etree.Element("div")
            root.text = _NOT_XML.sub("", html)
        self._root = root
        self._breaks: list[int] | None = None

    def html(self) -> str:
        """Return the article as HTML."""
        pieces = [(self._root.text or "").translate(_TEXT)]
        for event, element in etree.iterwalk(self._root, events=("start", "end")):
            if element is self._root:
                continue
            if event == "start":
                named = "".join(
                    f' {_qualified(name)}="{value.translate(_VALUE)}"'
                    for name, value in element.items()
                )
                pieces.append(f"<{element.tag}{named}>{(element.text or '').translate(_TEXT)}")
            else:
                end = "" if element.tag in _VOID else f"</{element.tag}>"
                pieces.append(end + (element.tail or "").translate(_TEXT))
        return "".join(pieces)

    # The title and the headings

    def drop_title(self, title: str) -> None:
        """Remove a first heading that repeats the page's title, and raise the other headings.

        The heading may repeat only a part of the title. If a line with a date precedes the heading,
        that part must be more than half of the title. A heading without words, such as a picture,
        stays.
        """
        heading, is_dated = self._first_heading()
        if heading is None:
            return
        words = _words(heading)
        is_long_enough = not is_dated or 2 * len(words) > len(title)
        if not words or not _has_words(title, words) or not is_long_enough:
            return
        _remove(heading)
        header = next(self._root.iter("header"), None)
        if header is not None and not len(header) and _is_blank(header.text):
            if _is_blank(header.tail):
                header.tail = None
            _remove(header)
        self._raise_headings()

    def add_heading_ids(self) -> tuple[Heading, ...]:
        """Give each heading that has words an id; return these headings.

        Only the first `MAX_HEADINGS` are included.
        """
        headings: list[tuple[int, str, str]] = []
        for heading in self._root.iter(*_HEADINGS):
            words = _words(heading, shorten_math=True)
            if words and len(headings) < MAX_HEADINGS:
                key = heading.get("id") or f"h-{len(headings) + 1}"
                heading.set("id", key)
                headings.append((int(heading.tag[1]), key, words[:MAX_WORDS]))
        top = min((level for level, _, _ in headings), default=0)
        return tuple(Heading(key, words, level - top) for level, key, words in headings)

    def _first_heading(self) -> tuple[Element | None, bool]:
        """Return the heading at the start of the article, and whether a date precedes it."""
        is_dated, before, element = False, self._root.text, next(iter(self._root), None)
        while element is not None and _is_blank(before):
            if element.tag in ("h1", "h2"):
                is_short = len(str(_TEXT_OF(element))) <= _MAX_HEADING
                return (element if is_short else None), is_dated
            if not is_dated and _is_date(element):
                is_dated, before, element = True, element.tail, element.getnext()
            elif element.tag in _WRAPPERS:
                before, element = element.text, next(iter(element), None)
            else:
                break
        return None, is_dated

    def _raise_headings(self) -> None:
        """Shift headings so that the highest is of the second level."""
        headings = list(self._root.iter(*_HEADINGS[1:]))
        up = min((int(each.tag[1]) for each in headings), default=2) - 2
        for each in headings if up > 0 else ():
            each.tag = f"h{int(each.tag[1]) - up}"

    # Links

    def links(self, most: int) -> list[str]:
        """Return up to `most` web addresses that the article links to, without fragments."""
        urls: dict[str, None] = {}
        for link in self._root.iter("a"):
            url = (link.get("href") or "").partition("#")[0]
            if url.startswith(("http://", "https://")):
                urls[url] = None
            if len(urls) >= most:
                break
        return [*urls]

    def link_to_entries(self, entries: Mapping[str, str]) -> None:
        """Point links to archived pages at their entries.

        Args:
            entries: `hash_url` of the entry by the URL without fragment.
        """
        for link in self._root.iter("a"):
            url, mark, fragment = (link.get("href") or "").partition("#")
            if key := entries.get(url):
                for name in ("rel", "class", "title", "href"):
                    link.attrib.pop(name, None)
                link.set("class", "archived-link")
                link.set("href", f"/{key}/{mark}{'a-' if fragment else ''}{fragment}")
                link.set("title", url)

    def describe_links(self, title: Callable[[str], str]) -> None:
        """Set the title of each link to an entry.

        ``title`` returns it, given the URL of the archived page.
        """
        for link in self._root.iter("a"):
            if link.get("class") == "archived-link":
                link.set("title", title(link.get("title") or ""))

    # Text and marks

    @property
    def text(self) -> str:
        """Return the text as a browser's `textContent`, so that positions agree with scripts."""
        return "".join(each.text for each in self._texts())

    def text_by_block(self) -> str:
        """Return the text with a line end at each start and end of a block."""
        text, pieces, pos = self.text, [], 0
        for place in self._break_places():
            pieces.append(text[pos:place])
            pos = place
        return "\n".join([*pieces, text[pos:]])

    def places(self, spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
        """Convert ranges of `text_by_block` to ranges of `text`."""
        shifted = [place + n for n, place in enumerate(self._break_places())]
        return [
            (start - bisect_right(shifted, start - 1), end - bisect_right(shifted, end - 1))
            for start, end in spans
        ]

    def mark(self, spans: Sequence[Span]) -> None:
        """Wrap ranges of the text in `mark` elements.

        Where ranges overlap, the elements are nested; that of the first range in `spans` is the
        outermost.
        """
        cuts = sorted({place for each in spans for place in (each.start, each.end)})
        marked_ids: set[int] = set()
        for node in list(self._texts()) if spans else ():
            if not node.is_opaque and node.text.strip():
                _mark(node, spans, cuts, marked_ids)

    def _texts(self) -> Iterator[_Text]:
        """Yield all text nodes that are not empty, in order."""
        self._breaks = []
        pos, opaque = 0, 0
        for event, element in etree.iterwalk(self._root, events=("start", "end")):
            is_start, is_inner = event == "start", element is not self._root
            is_break = element.tag in BLOCKS and (is_start or element.tag not in _VOID)
            if is_inner and is_break and self._breaks[-1:] != [pos]:
                self._breaks.append(pos)
            if element.tag in _OPAQUE:
                opaque += 1 if is_start else -1
            text = element.text if is_start else element.tail if is_inner else None
            if text:
                yield _Text(element, not is_start, text, pos, opaque > 0)
                pos += len(text)

    def _break_places(self) -> list[int]:
        """Return the positions at which blocks begin or end, ascending, each once."""
        if self._breaks is None:
            for _ in self._texts():
                pass
        return self._breaks or []

    # Images and other media

    def name_images(self) -> None:
        """Describe images without `alt` by their file names (WCAG 2.2 §1.1.1)."""
        for image in self._root.iter("img"):
            if image.get("alt") is None:
                image.set("alt", _file_name(image.get("src") or ""))

    def replace_lost_images(self, lost: Collection[str], words_for: Callable[[str], str]) -> None:
        """Replace images that are not archived, so that nothing requests them.

        The replacement has no text, so that positions of marks stay the same. An image that is
        archived in some sizes keeps those.

        Args:
            lost: URLs that are not archived.
            words_for: returns the replacement's description, given that of the image.
        """
        for each in list(self._root.iter("picture", "img")) if lost else ():
            parent = each.getparent()
            if each.tag == "picture" or parent is None or parent.tag != "picture":
                _replace_lost(each, lost, words_for)

    def archive_media(self, address_of: Callable[[str], str]) -> None:
        """Load images, video and audio from the archive; `data:` images stay.

        Args:
            address_of: returns the archived address of a URL.
        """

        def lead(url: str) -> str:
            return address_of(url) if url.startswith(("http://", "https://")) else ""

        for element in self._root.iter("img", "source", "video", "audio"):
            for name in ("src", "poster"):
                value = element.get(name)
                if value is not None and not (name == "src" and value.startswith("data:image/")):
                    element.set(name, lead(value))
            if srcset := element.get("srcset"):
                archived = ((lead(url) or "data:,", size) for url, size in read_candidates(srcset))
                element.set("srcset", ", ".join(f"{url} {size}".strip() for url, size in archived))

    # Wide content

    def make_scrollable(self) -> None:
        """Make wide content accessible by keyboard: code, tables, long formulas.

        The `tabindex` of a formula is on a `span` around it, since MathML has none.
        """
        for element in list(self._root.iter("pre", "table", "math")):
            if element.tag == "math":
                if element.get("display") == "block":
                    symbols = sum(1 for _ in element.iter(*_SYMBOLS))
                    if symbols > NARROW_FORMULA:
                        _wrap(element, {"class": "formula", "tabindex": "0"})
            else:
                element.set("tabindex", "0")


def links_of(html: str, most: int) -> list[str]:
    """Return up to `most` web addresses that a sanitised article links to."""
    return ArticleTree(html).links(most)


def without_title(html: str, title: str) -> str:
    """Return an article without a first heading that repeats the page's title."""
    tree = ArticleTree(html)
    tree.drop_title(title)
    return tree.html()


def _parsed(html: str) -> Element | None:
    return parse_xml(f'<div xmlns:xlink="{XLINK}">{xml_of(html)}</div>')


def xml_of(html: str) -> str:
    """Return HTML with balanced tags as XML."""
    return _TAG.sub(_xml_tag, _NOT_XML.sub("", html)).replace("&nbsp;", "\xa0")


def parse_xml(source: str) -> Element | None:
    """Parse XML, since an HTML parser may move elements; None if it is not well-formed."""
    parser = etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=True)
    try:
        return etree.fromstring(source.encode(), parser)
    except etree.XMLSyntaxError:
        return None


def _qualified(name: str) -> str:
    """Return the name of an attribute with its prefix instead of its namespace."""
    namespace, brace, local = name[1:].partition("}")
    return f"{_PREFIXES[namespace]}:{local}" if brace else name


def _xml_tag(tag: re.Match[str]) -> str:
    end = "/" if tag[2] in _VOID and not tag[1] else ""
    return f"<{tag[1]}{tag[2]}{tag[3].replace('<', '&lt;').translate(_IN_TAG)}{end}>"


def _is_blank(text: str | None) -> bool:
    return not text or text.isspace()


def _is_date(element: Element) -> bool:
    """Return whether an element may be the date line above a title."""
    is_line = element.tag in ("p", "time", "div") and not len(element)
    return is_line and 0 < len(element.text or "") <= _MAX_DATE


def _words(heading: Element, *, shorten_math: bool = False) -> str:
    """Return the text of a heading; with ``shorten_math``, formulas and drawings are "…"."""
    pieces, skipped = [], 0
    for event, element in etree.iterwalk(heading, events=("start", "end")):
        if shorten_math and element.tag in _OPAQUE:
            skipped += 1 if event == "start" else -1
            if event == "start":
                pieces.append("…")
        if not skipped and event == "start":
            pieces.append(element.text or "")
        elif not skipped and element is not heading:
            pieces.append(element.tail or "")
    return " ".join("".join(pieces).split())


def _has_words(title: str, words: str) -> bool:
    """Return whether a title contains ``words`` as whole words: "In the wood" has no "I"."""
    return any(
        not (
            _is_one_word(title[max(at - 1, 0) : at] + words[0])
            or _is_one_word(words[-1] + title[end : end + 1])
        )
        for at, end in (each.span() for each in re.finditer(re.escape(words), title))
    )


def _is_one_word(pair: str) -> bool:
    return len(pair) > 1 and all(each.isdecimal() or each.lower() != each.upper() for each in pair)


def _mark(node: _Text, spans: Sequence[Span], cuts: Sequence[int], marked_ids: set[int]) -> None:
    """Split a text node where marks begin and end, and wrap the marked parts.

    Args:
        node: the text node.
        spans: all ranges to be marked.
        cuts: the starts and ends of all ranges, ascending.
        marked_ids: indexes of the ranges that already have a `mark` element; it is updated.
    """
    end = node.start + len(node.text)
    near = [(n, each) for n, each in enumerate(spans) if each.start < end and node.start < each.end]
    if not near:
        return
    inner = cuts[bisect_right(cuts, node.start) : bisect_right(cuts, end - 1)]
    marks: list[Element] = []
    plain = ""
    for start, stop in zip([node.start, *inner], [*inner, end], strict=True):
        text = node.text[start - node.start : stop - node.start]
        around = [(n, each) for n, each in near if each.start <= start and stop <= each.end]
        if around:
            marks.append(_marked(text, around, marked_ids))
        elif marks:
            marks[-1].tail = text
        else:
            plain = text
    if node.is_tail:
        node.element.tail = plain
        parent = node.element.getparent()
        pos = parent.index(node.element) + 1
    else:
        node.element.text = plain
        parent, pos = node.element, 0
    for n, each in enumerate(marks):
        parent.insert(pos + n, each)


def _marked(text: str, around: Sequence[tuple[int, Span]], marked_ids: set[int]) -> Element:
    outer: Element | None = None
    inner: Element | None = None
    for n, span in around:
        attributes = dict(span.attributes if n in marked_ids else {**span.attributes, **span.first})
        marked_ids.add(n)
        mark = etree.Element("mark", attributes)
        if inner is None:
            outer = mark
        else:
            inner.append(mark)
        inner = mark
    if outer is None or inner is None:
        raise ValueError("no span around the text")
    inner.text = text
    return outer


def _file_name(url: str) -> str:
    if url.startswith("data:"):
        return ""
    name = unquote(url.partition("?")[0].rpartition("/")[2])[:MAX_NAME]
    return _NOT_XML.sub("", "".join(each for each in name if each.isprintable()))


def _replace_lost(element: Element, lost: Collection[str], words_for: Callable[[str], str]) -> None:
    """Remove lost URLs from a `picture` or `img` element; replace the element if no URL is left."""
    parts = list(element.iter("source", "img"))
    changed = [each for each in parts if _drop_lost(each, lost)]
    if not changed:
        return
    lost_parts = [each for each in parts if each.getparent() is not None or each is element]
    image = next((each for each in lost_parts if each.tag == "img"), None)
    if image is None or image.get("src"):
        return
    spare = image.get("srcset") or next(
        filter(None, (each.get("srcset") for each in lost_parts)), None
    )
    if spare:
        image.set("src", read_candidates(spare)[0][0])
        return
    words = words_for(image.get("alt") or "")
    span = etree.Element("span", {"class": "lost", "role": "img", "aria-label": words})
    span.tail = element.tail
    parent = element.getparent()
    if parent is not None:
        parent.replace(element, span)


def _drop_lost(element: Element, lost: Collection[str]) -> bool:
    """Remove lost URLs from an image or source; return whether there were any."""

    def is_lost(url: str) -> bool:
        return url.partition("#")[0] in lost

    srcset = element.get("srcset")
    changed = False
    if srcset is not None:
        available = [(url, size) for url, size in read_candidates(srcset) if not is_lost(url)]
        changed = len(available) < len(read_candidates(srcset))
        if not available:
            del element.attrib["srcset"]
        elif changed:
            element.set("srcset", ", ".join(f"{url} {size}".strip() for url, size in available))
    if is_lost(element.get("src") or ""):
        del element.attrib["src"]
        changed = True
    if element.tag == "source" and not (element.get("src") or element.get("srcset")):
        _remove(element)
    return changed


def _wrap(element: Element, attributes: dict[str, str]) -> None:
    span = etree.Element("span", attributes)
    span.tail, element.tail = element.tail, None
    element.getparent().replace(element, span)
    span.append(element)


def _remove(element: Element) -> None:
    """Remove an element; the text after it stays."""
    parent, before = element.getparent(), element.getprevious()
    if element.tail:
        if before is not None:
            before.tail = (before.tail or "") + element.tail
        else:
            parent.text = (parent.text or "") + element.tail
    parent.remove(element)
