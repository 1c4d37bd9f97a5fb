"""Preparation of a parsed page for extraction."""

import re

from lxml import etree
from lxml.etree import _Element as Element
from selectolax.lexbor import LexborHTMLParser, LexborNode

from archiver.pages.article.embeds import GIST
from archiver.pages.article.tree import text_in

_NEVER_READ = "template link meta base title dialog canvas noembed noframes frameset frame".split()
_VOID = re.compile(rb'<(embed|source|track|wbr)\b((?:[^<>"]|"[^"]*+")*+)>')
"""Elements that hold nothing, which HTML 4 did not know, or knew otherwise."""

_CONTROLS = bytes({*range(0x20)} - {*b"\t\n\f\r"})
_NO_CHARACTERS = "\ufffe".encode(), "\uffff".encode()
"""What XML does not know, nor surrogates, which are not encoded (XML §2.2)."""

_BLANK = b" \t\r\f"
_BLANKS = re.compile(rb"[ \t\r\f][ \t\r\f]+")
_RARE_BLANKS = (b"\t", b"\r", b"\f")
_PRE = re.compile(rb"(<pre\b.*?</pre>)", re.DOTALL)
_HIDING = frozenset({"hidden", "style", "aria-hidden", "aria-modal"})
_ON_PAPER = re.compile(
    r"(?:^|\s)(?:(?:print-?only|only-?print|show-(?:for|on)-print)(?:$|\s)"
    r"|visible-print|d-none\s(?:.*\s)?d-print-)",
    re.IGNORECASE,
)
"""Classes of what is seen on paper alone."""
_LONGEST_CLASS = 500
_UNSEEN = "unseen"
_MOST_ON_PAPER = 0.5
"""The share of a page's text that is hidden for such a name: pages for printers have them, too."""

_SEEN = frozenset({"img", "svg", "math", "figcaption"})
"""What ``aria-hidden`` keeps from screen readers alone: what it says is said elsewhere, too."""

_HIDDEN_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_IS_TEX = "math/tex"
_DRAWN = frozenset({"svg", "defs", "g"})


def to_tree(page: LexborHTMLParser) -> Element | None:
    """The body of a page as an lxml tree; the page is changed. None if it has nothing in it."""
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
        _settle_raw_text(node)
    page.strip_tags(_NEVER_READ)
    body = page.body
    html = _fold(_as_xml_allows(body.html or "")) if body else b""
    html = _VOID.sub(rb"<\1\2/>", html)
    if not html:
        return None
    parser = etree.HTMLParser(
        encoding="utf-8", huge_tree=True, remove_comments=True, remove_pis=True
    )
    root = etree.fromstring(html, parser)
    return root.find("body") if root is not None else None


def _settle_raw_text(node: LexborNode) -> None:
    """What is in them is no markup, and would be taken for some by the next parser."""
    if node.tag == "iframe":
        for child in [*node.iter(include_text=True)]:
            child.decompose()
    else:
        node.replace_with(node.text() or "")


def _as_xml_allows(html: str) -> bytes:
    """A page in UTF-8, without the characters that no XML tree can hold."""
    encoded = html.encode("utf-8", "ignore").translate(None, _CONTROLS)
    for each in _NO_CHARACTERS:
        encoded = encoded.replace(each, b"")
    return encoded


def _fold(html: bytes) -> bytes:
    """Fold runs of white space outside ``<pre>``: they mean nothing."""
    parts = _PRE.split(html)
    return b"".join(_folded(part) if n % 2 == 0 else part for n, part in enumerate(parts))


def _folded(html: bytes) -> bytes:
    """Each run of white space as one space, or as one line break if one is in it."""
    first, *lines = html.split(b"\n")
    if lines:
        between = filter(None, (each.strip(_BLANK) for each in lines[:-1]))
        first = b"\n".join((first.rstrip(_BLANK), *between, lines[-1].lstrip(_BLANK)))
    if any(each in first for each in _RARE_BLANKS):
        return _BLANKS.sub(b" ", first)
    while b"  " in first:  # halves each run: as many times as its length has digits in base two
        first = first.replace(b"  ", b" ")
    return first


def drop_hidden(body: Element) -> None:
    """Take away what nobody sees; a body that is hidden is shown by a script."""
    left: int | None = None
    for element in [each for each in body.iterdescendants() if _may_hide(each)]:
        if is_hidden(element):
            element.tag = _UNSEEN
        elif _is_on_paper(element):
            left = _letters(body) if left is None else left
            here = _letters(element)
            if here < _MOST_ON_PAPER * left:
                element.tag = _UNSEEN
                left -= here
    # Each by itself would put the text behind it to what is there, again and again.
    etree.strip_elements(body, _UNSEEN, with_tail=False)


def _may_hide(element: Element) -> bool:
    names = element.keys()
    if not names:
        return False
    return not _HIDING.isdisjoint(names) or ("class" in names and "print" in element.get("class"))


def _is_on_paper(element: Element) -> bool:
    name = element.get("class")
    return bool(name and _ON_PAPER.search(name[:_LONGEST_CLASS]))


def _letters(element: Element) -> int:
    return len(text_in(element))


def is_hidden(element: Element) -> bool:
    """Whether nobody sees an element, as its own markup says."""
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
        and element.tag not in _SEEN
    )
