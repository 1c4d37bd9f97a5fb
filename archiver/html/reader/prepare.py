"""From a parsed page to the tree that is read: nothing hidden, nothing that only scripts need."""

import re

from lxml import etree
from lxml.etree import _Element as Element
from selectolax.lexbor import LexborHTMLParser, LexborNode

from archiver.html.reader.tree import remove

_NEVER_READ = "template link meta base title dialog canvas noembed noframes frameset frame".split()
_VOID = re.compile(r'<(embed|source|track|wbr)\b((?:[^<>"]|"[^"]*+")*+)>')
"""Elements that hold nothing, which HTML 4 did not know, or knew otherwise."""

_NO_XML = re.compile("[\x00-\x08\x0b\x0e-\x1f\ufffe\uffff\ud800-\udfff]")
_SPACES = re.compile(r"[ \t\r\n\f]{2,}")
_PRE = re.compile(r"(<pre\b.*?</pre>)", re.DOTALL)
_HIDDEN_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_IS_TEX = "math/tex"
_DRAWN = frozenset({"svg", "defs", "g"})


def to_tree(page: LexborHTMLParser) -> Element | None:
    """The body of a page as an lxml tree; the page is changed. None if it has nothing in it."""
    for script in page.css("script"):
        if not (script.attributes.get("type") or "").startswith(_IS_TEX):
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
    html = _fold(_NO_XML.sub("", body.html or "")) if body else ""
    html = _VOID.sub(r"<\1\2/>", html)
    if not html:
        return None
    parser = etree.HTMLParser(
        encoding="utf-8", huge_tree=True, remove_comments=True, remove_pis=True
    )
    root = etree.fromstring(html.encode("utf-8"), parser)
    return root.find("body") if root is not None else None


def _settle_raw_text(node: LexborNode) -> None:
    """What is in them is no markup, and would be taken for some by the next parser."""
    if node.tag == "iframe":
        for child in [*node.iter(include_text=True)]:
            child.decompose()
    else:
        node.replace_with(node.text() or "")


def _fold(html: str) -> str:
    """Fold runs of white space outside ``<pre>``: they mean nothing."""
    parts = _PRE.split(html)
    return "".join(
        _SPACES.sub(_folded, part) if n % 2 == 0 else part for n, part in enumerate(parts)
    )


def _folded(run: re.Match[str]) -> str:
    return "\n" if "\n" in run[0] else " "


def drop_hidden(body: Element) -> None:
    """Take away what nobody sees; a body that is hidden is shown by a script."""
    for element in list(body.iterdescendants()):
        if is_hidden(element):
            remove(element)


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
        and not _is_picture(element)
    )


def _is_picture(element: Element) -> bool:
    """A drawing or a formula is hidden from screen readers alone."""
    return element.tag in {"img", "svg", "math"}
