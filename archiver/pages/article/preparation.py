"""Preparation of a parsed page for extraction."""

import re

from lxml import etree
from lxml.etree import _Element as Element
from selectolax.lexbor import LexborHTMLParser, LexborNode

from archiver.pages.article.embeds import GIST
from archiver.pages.article.tree import text_in

_NEVER_READ = "template link meta base title dialog canvas noembed noframes frameset frame".split()
_VOID = re.compile(rb'<(embed|source|track|wbr)\b((?:[^<>"]|"[^"]*+")*+)>')
"""Void elements that libxml2's HTML 4 parser does not know or treats differently."""

_CONTROLS = bytes({*range(0x20)} - {*b"\t\n\f\r"})
_NO_CHARACTERS = "\ufffe".encode(), "\uffff".encode()
"""Characters that XML forbids, besides surrogates, which cannot be encoded (XML §2.2)."""

_BLANK = b" \t\r\f"
_BLANKS = re.compile(rb"[ \t\r\f][ \t\r\f]+")
_RARE_BLANKS = (b"\t", b"\r", b"\f")
_PRE = re.compile(rb"(<pre\b.*?</pre>)", re.DOTALL)
_HIDING = frozenset({"hidden", "style", "aria-hidden", "aria-modal"})
_PRINT_ONLY = re.compile(
    r"(?:^|\s)(?:(?:print-?only|only-?print|show-(?:for|on)-print)(?:$|\s)"
    r"|visible-print|d-none\s(?:.*\s)?d-print-)",
    re.IGNORECASE,
)
"""Classes of content that is visible only in print."""
_LONGEST_CLASS = 500
_UNSEEN = "unseen"
_MOST_PRINT_ONLY = 0.5
"""Maximum share of text hidden by such a class; printer-friendly pages use these names too."""

_VISIBLE = frozenset({"img", "svg", "math", "figcaption"})
"""Elements whose ``aria-hidden`` content is visible.

It only avoids repetition in screen readers.
"""

_HIDDEN_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_IS_TEX = "math/tex"
_DRAWN = frozenset({"svg", "defs", "g"})


def to_tree(page: LexborHTMLParser) -> Element | None:
    """Convert the body of a page to an lxml tree, modifying the page. None if it is empty."""
    for script in page.css("script"):
        attributes = script.attributes
        is_read = (attributes.get("type") or "").startswith(_IS_TEX) or GIST.match(
            attributes.get("src") or ""
        )
        if not is_read:
            script.decompose()
    for style in page.css("style"):
        if style.parent is None or (style.parent.tag or "") not in _DRAWN:
            style.decompose()
    for node in page.css("svg title"):
        node.decompose()
    for node in page.css("iframe, xmp, plaintext"):
        _normalise_raw_text(node)
    page.strip_tags(_NEVER_READ)
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


def _normalise_raw_text(node: LexborNode) -> None:
    """Escape the content of raw text elements, which the next parser would take for markup."""
    if node.tag == "iframe":
        for child in [*node.iter(include_text=True)]:
            child.decompose()
    else:
        node.replace_with(node.text() or "")


def _as_xml_allows(html: str) -> bytes:
    """Return a page in UTF-8 without characters that XML forbids."""
    encoded = html.encode("utf-8", "ignore").translate(None, _CONTROLS)
    for each in _NO_CHARACTERS:
        encoded = encoded.replace(each, b"")
    return encoded


def _collapse_white_space(html: bytes) -> bytes:
    """Collapse white space outside ``<pre>``, where it has no meaning."""
    parts = _PRE.split(html)
    return b"".join(_collapse_runs(part) if n % 2 == 0 else part for n, part in enumerate(parts))


def _collapse_runs(html: bytes) -> bytes:
    """Replace each run of white space by a space, or by a line break if it contains one."""
    first, *lines = html.split(b"\n")
    if lines:
        between = filter(None, (each.strip(_BLANK) for each in lines[:-1]))
        first = b"\n".join((first.rstrip(_BLANK), *between, lines[-1].lstrip(_BLANK)))
    if any(each in first for each in _RARE_BLANKS):
        return _BLANKS.sub(b" ", first)
    while b"  " in first:  # halves each run, so the number of steps is logarithmic in its length
        first = first.replace(b"  ", b" ")
    return first


def drop_hidden(body: Element) -> None:
    """Remove hidden elements; a hidden body is assumed to be shown by a script."""
    left: int | None = None
    for element in [each for each in body.iterdescendants() if _may_hide(each)]:
        if is_hidden(element):
            element.tag = _UNSEEN
        elif _is_print_only(element):
            left = _letters(body) if left is None else left
            here = _letters(element)
            if here < _MOST_PRINT_ONLY * left:
                element.tag = _UNSEEN
                left -= here
    # One call for all: removing elements one by one would append to the same text repeatedly.
    etree.strip_elements(body, _UNSEEN, with_tail=False)


def _may_hide(element: Element) -> bool:
    names = element.keys()
    if not names:
        return False
    return not _HIDING.isdisjoint(names) or ("class" in names and "print" in element.get("class"))


def _is_print_only(element: Element) -> bool:
    name = element.get("class")
    return bool(name and _PRINT_ONLY.search(name[:_LONGEST_CLASS]))


def _letters(element: Element) -> int:
    return len(text_in(element))


def is_hidden(element: Element) -> bool:
    """Return whether an element is hidden by its own markup."""
    attributes = element.attrib
    if not attributes:
        return False
    if "hidden" in attributes:
        return bool(element.tag != "img")
    style = attributes.get("style")
    if style and _HIDDEN_STYLE.search(style):
        return True
    if attributes.get("aria-modal") == "true" and attributes.get("role") == "dialog":
        return True
    return (
        attributes.get("aria-hidden") == "true"
        and "fallback-image" not in (attributes.get("class") or "")
        and element.tag not in _VISIBLE
    )
