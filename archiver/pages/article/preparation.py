"""Preparation of a parsed page for extraction."""

import re
from itertools import chain, islice

from lxml import etree
from lxml.etree import _Element as Element
from selectolax.lexbor import LexborHTMLParser, LexborNode

from archiver.pages.article.elements import (
    FORM_CONTROLS,
    HEADINGS,
    PHRASING,
    SENTENCE,
    UNLIKELY_ROLES,
    named,
    remembered,
)
from archiver.pages.article.embeds import GIST
from archiver.pages.article.preserved_lines import keep_lines
from archiver.pages.article.tree import Marked, first_text

_MAX_BESIDE = 50
_RAW_TEXT = frozenset({"iframe", "xmp", "plaintext", "listing"})
_SPECIAL = (
    f"{', '.join(_RAW_TEXT)}, script, style, "
    "template, link, meta, base, title, dialog, canvas, noembed, noframes, frameset, frame"
)
"""Elements that are not read, or of which only some are."""

_VOID = re.compile(rb'<(embed|source|track|wbr)\b((?:[^<>"]|"[^"]*+")*+)>')
"""Void elements that libxml2's HTML 4 parser does not know or treats differently."""

_CONTROLS = bytes({*range(0x20)} - {*b"\t\n\f\r"})
_FORM_FEED_AS_SPACE = bytes.maketrans(b"\f", b" ")
_NO_CHARACTERS = "\ufffe".encode(), "\uffff".encode()
"""Characters that XML forbids (XML §2.2). Surrogates are dropped by the encoding."""

_BLANKS = re.compile(rb"[ \t\r][ \t\r]+")
_PRE = re.compile(rb"(<pre\b.*?</pre>)", re.DOTALL)
_MAX_CLASS = 500
_MAX_STYLES = 2_000_000
_LAST_CLASS = re.compile(r"(?:^|/)\s{0,50}\.([\w-]{1,100})\s{0,50}\Z", re.MULTILINE)
_CLIPPED = re.compile(r"(?<![\w-])clip\s*:\s*rect\(\s*[01](?:px)?[\s,]+[01](?:px)?[\s,)]")
_UNSEEN = "unseen"
_VISIBLE = frozenset({"img", "svg", "math", "figcaption"})
"""Elements that are visible although they have ``aria-hidden``.

They have it to avoid repetition in screen readers.
"""

_HIDDEN_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_IS_TEX = "math/tex"
_DRAWN = frozenset({"svg", "defs", "g"})


def to_tree(page: LexborHTMLParser) -> Element | None:
    """Convert the body of a page to an lxml tree; None if the body is empty. Modifies ``page``."""
    sheets = [each.text() for each in page.css("style")]
    keep_lines(page, sheets)
    _name_clipped(page, "".join(sheets)[:_MAX_STYLES])
    for node in page.css(_SPECIAL):
        if node.tag in _RAW_TEXT:
            _normalise_raw_text(node)
        elif not _is_read(node):
            node.decompose(recursive=False)
    body = page.body
    html = _collapse_white_space(_as_xml_allows(body.html or "")) if body else b""
    html = _VOID.sub(rb"<\1\2/>", html)
    if not html:
        return None
    parser = etree.HTMLParser(
        encoding="utf-8", huge_tree=True, remove_comments=True, remove_pis=True
    )
    root = etree.fromstring(html, parser)
    return root.find("body") if root is not None else None


def _name_clipped(page: LexborHTMLParser, sheets: str) -> None:
    """Give elements that a rule of the page clips to one pixel the class ``sr-only``."""
    rules = [each.rpartition("{") for each in sheets.split("}")[:-1] if "rect(" in each]
    matches = (_LAST_CLASS.search(prelude) for prelude, _, rule in rules if _CLIPPED.search(rule))
    clipped = {match[1] for match in matches if match}
    for node in page.css("[class]") if clipped else ():
        names = node.attributes["class"] or ""
        if not clipped.isdisjoint(names[:_MAX_CLASS].split()):
            node.attrs["class"] = f"sr-only {names}"


def _is_read(node: LexborNode) -> bool:
    """Return whether a node is a script with a formula or gist, or the style sheet of an SVG."""
    if node.tag == "style":
        return node.parent is not None and (node.parent.tag or "") in _DRAWN
    if node.tag != "script":
        return False
    kind, source = node.attributes.get("type") or "", node.attributes.get("src") or ""
    return kind.startswith(_IS_TEX) or GIST.match(source) is not None


def _normalise_raw_text(node: LexborNode) -> None:
    """Replace ``xmp``, ``plaintext`` and ``listing`` by ``pre``; empty an ``iframe``.

    libxml2 would parse the text in these elements as markup.
    """
    if node.tag == "iframe":
        for child in [*node.iter(include_text=True)]:
            child.decompose()
    else:
        pre = node.parser.create_node("pre")
        pre.insert_child(node.text() or "")
        node.replace_with(pre)


def _as_xml_allows(html: str) -> bytes:
    """Return a page in UTF-8 without characters that XML forbids."""
    written = html.encode("utf-8", "ignore").translate(_FORM_FEED_AS_SPACE, _CONTROLS)
    for each in _NO_CHARACTERS:
        written = written.replace(each, b"")
    return written


def _collapse_white_space(html: bytes) -> bytes:
    """Collapse white space, except in ``<pre>``."""
    parts = _PRE.split(html)
    return b"".join(_collapse_runs(part) if n % 2 == 0 else part for n, part in enumerate(parts))


def _collapse_runs(html: bytes) -> bytes:
    """Replace each run of white space by a line break if the run has one, otherwise by a space."""
    first, *lines = html.split(b"\n")
    if lines:
        between = filter(None, map(bytes.strip, lines[:-1]))
        first = b"\n".join((first.rstrip(), *between, lines[-1].lstrip()))
    return _BLANKS.sub(b" ", first)


_MAY_HIDE = ("hidden", "style", "aria-modal", "aria-hidden")


def drop_hidden(body: Element, marked: Marked) -> None:
    """Remove the hidden elements in a body. A hidden body stays, because a script may show it."""
    named = [each for each in marked["class"] if _is_for_screen_readers(each)]
    others = chain.from_iterable(marked[each] for each in _MAY_HIDE)
    for element in [*named, *filter(_is_hidden, others)]:
        if element is not body:
            element.tag = _UNSEEN
    # A single call is faster: each separate removal would append to the same text.
    etree.strip_elements(body, _UNSEEN, with_tail=False)


def _is_hidden(element: Element) -> bool:
    """Return whether an attribute other than the class of an element hides it."""
    if element.get("hidden", "until-found").lower() != "until-found":
        return bool(element.tag != "img")
    if _HIDDEN_STYLE.search(element.get("style") or ""):
        return not _is_lazy_image(element)
    if element.get("aria-modal") == "true" and element.get("role") == "dialog":
        return True
    return (
        element.get("aria-hidden") == "true"
        and "fallback-image" not in (element.get("class") or "")
        and element.tag not in _VISIBLE
        and not _is_visible_text(element)
    )


_MAX_LINE = 300
_NOT_TEXT = re.compile(
    r"modal|menu|drawer|overlay|pop-?(?:up|over)|tooltip|lightbox|off-?canvas|dropdown|toast|clone"
    r"|cookie|consent|icon|material|(?:^|\s)fa[bsrl]?(?:$|[\s-])|glyph|symbol|katex|mjx|mathjax"
    r"|anchor|permalink",
    re.IGNORECASE,
)
"""Classes and ids of ``aria-hidden`` elements that are really hidden, or are icons or formulas."""

_is_unseen = remembered(
    re.compile(
        r"(?:^|\s)(?:sr-only|visually-?hidden|screen-?reader(?:-?text|-only)?|assistive-text"
        r"|a11y-hidden|element-invisible|hide-visually)(?:$|\s)",
        re.IGNORECASE,
    )
)


def _is_lazy_image(element: Element) -> bool:
    """Return whether a script shows this image after loading it."""
    if element.tag != "img":
        return False
    return not element.get("src") or "lazy" in (element.get("class") or "").lower()


def _is_for_screen_readers(element: Element) -> bool:
    """Return whether an element is a short text that only screen readers present."""
    if not _is_unseen(element.get("class", "")[:_MAX_CLASS]) or element.tag in HEADINGS:
        return False
    if _replaces_heading(element):
        return False
    is_short = len(first_text(element, _MAX_LINE)) < _MAX_LINE
    return is_short and next(element.iter("img", "math", "svg"), None) is None


def _replaces_heading(element: Element) -> bool:
    """Return whether a text is that of a heading whose visible words are all ``aria-hidden``."""
    above = element.getparent()
    if above is None or above.tag not in HEADINGS or len(above) < 2:
        return False
    neighbours = [each for each in islice(above, _MAX_BESIDE) if each is not element]
    return all(each.get("aria-hidden") == "true" and each.tag != "svg" for each in neighbours)


def _is_visible_text(element: Element) -> bool:
    """Return whether an ``aria-hidden`` element is visible text, which only screen readers skip.

    Such text is an inline element next to other text, or a block with a sentence.
    """
    if element.tag == "a" or _NOT_TEXT.search(named(element)[:_MAX_CLASS]):
        return False
    if element.tag not in PHRASING:
        return element.get("role") not in UNLIKELY_ROLES and _has_sentence(element)
    above = element.getparent()
    if above is None:
        return False
    beside = (above.text, *(each.tail for each in islice(above, _MAX_BESIDE)))
    is_in_text = any(each and any(map(str.isalnum, each)) for each in beside)
    return is_in_text and any(map(str.isalnum, first_text(element, _MAX_LINE)))


def _has_sentence(element: Element) -> bool:
    if next(element.iter(*FORM_CONTROLS), None) is not None:
        return False
    text = first_text(element, 2 * _MAX_LINE)
    linked = sum(len(first_text(each, _MAX_LINE)) for each in islice(element.iter("a"), 20))
    return len(text) > SENTENCE and linked < len(text) / 3
