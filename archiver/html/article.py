"""Reads the article out of a page: what a person came for, as clean HTML.

Readability's scoring finds the element; the tree is tidied before (lazy images, what is never
read) and sanitised after. Where it finds little, the page's main part is taken as it is.
"""

import re
from html import escape

from bs4 import BeautifulSoup
from lxml import etree
from readability import Document
from readability.readability import Unparseable
from selectolax.lexbor import LexborHTMLParser, LexborNode

from archiver.html.metadata import read_metadata
from archiver.html.parsing import parse
from archiver.html.plain import MOST_CHARACTERS, text_article
from archiver.html.sanitise import sanitise
from archiver.html.text import to_text, without_tags
from archiver.model.page import Article, PageMetadata
from archiver.references.elements import HTML
from archiver.references.lazy import LAZY, is_placeholder
from archiver.references.srcset import find_candidates
from archiver.references.use import resolve
from archiver.urls.parse import join

MOST_FALLBACK = 1 << 20
ENOUGH_CHARACTERS = 200
_NEVER_READ = [
    "script",
    "style",
    "template",
    "iframe",
    "object",
    "embed",
    "form",
    "button",
    "input",
    "select",
    "textarea",
    "svg",
    "link",
    "canvas",
    "video",
    "audio",
    "nav",
    "dialog",
]
_FALLBACK = ("main", '[role="main"]', "article", "body")
_BESIDE = ["header", "footer", "aside"]
_BETWEEN = "\t\n\f\r ,"
_PRE = re.compile(r"(<pre\b.*?</pre>)", re.DOTALL)
_FOLD = re.compile(r"[ \t\r\n\f]{2,}")
_EMPTY = re.compile(r"<(p|div|span|section|figure|li|ul|ol|h[1-6])[^<>]*>\s*</\1>")


def extract_article(html: str, url: str) -> Article:
    """The article of a page, with absolute URLs. Never fails: a page without one gives its text."""
    html = html[:MOST_CHARACTERS]
    tree = parse(html)
    if tree is None:
        return text_article(without_tags(html), title="")
    metadata = read_metadata(tree)
    _tidy(tree)
    found = _readable(tree)
    article = _finish(found, url, metadata)
    if len(article.text) < ENOUGH_CHARACTERS:
        other = _finish(_main_part(tree), url, metadata)
        if len(other.text) > 2 * len(article.text):
            return other
    return article


def image_article(url: str, title: str) -> Article:
    """The article of an image: the image."""
    body = sanitise(f'<figure><img src="{escape(url)}" alt="{escape(title)}"></figure>')
    return Article(PageMetadata(title=title), body, "")


def _tidy(tree: LexborHTMLParser) -> None:
    for node in tree.css("noscript"):
        if "<img" in (node.html or ""):
            node.unwrap()
        else:
            node.decompose()
    tree.strip_tags(_NEVER_READ)
    for node in tree.css("img, source"):
        _undo_laziness(node)


def _undo_laziness(node: LexborNode) -> None:
    """Put what scripts would have loaded in the place of what held it (``references.lazy``)."""
    attributes = node.attributes

    def value_of(name: str) -> str:
        return attributes.get(name) or ""

    rules = HTML[(node.tag or "").lower()]
    for eager in ("src", "srcset"):
        if is_placeholder(value_of(eager)):
            meant = (name for name in LAZY[eager] if resolve(rules.get(name), value_of))
            if lazy := next(meant, None):
                node.attrs[eager] = value_of(lazy)


def _readable(tree: LexborHTMLParser) -> str:
    try:
        return str(Document(_squeeze(tree.html or "")).summary(html_partial=True))
    except (Unparseable, etree.LxmlError, ValueError, RecursionError):
        return ""


def _squeeze(html: str) -> str:
    """Fold runs of white space outside ``<pre>``: they mean nothing, and cost readability half."""
    parts = _PRE.split(html)
    return "".join(_FOLD.sub(_folded, part) if n % 2 == 0 else part for n, part in enumerate(parts))


def _folded(run: re.Match[str]) -> str:
    return "\n" if "\n" in run[0] else " "


def _main_part(tree: LexborHTMLParser) -> str:
    """The part of a page that is not beside the matter; for the few pages readability gives up."""
    soup = BeautifulSoup((tree.html or "")[:MOST_FALLBACK], "lxml")
    for element in soup.find_all(_BESIDE):
        element.decompose()
    for selector in _FALLBACK:
        found = soup.select_one(selector)
        if found and found.get_text(strip=True):
            return str(found)
    return ""


def _finish(found: str, url: str, metadata: PageMetadata) -> Article:
    if not found.strip():
        return Article(metadata)
    clean = sanitise(_absolute(found, url))
    for _ in range(3):
        clean = _EMPTY.sub("", clean)
    return Article(metadata, clean.strip(), to_text(clean))


def _absolute(found: str, url: str) -> str:
    """Resolve links and images against the page; what can't be resolved goes."""
    fragment = LexborHTMLParser(found)
    for node in fragment.css("a[href], img[src], img[srcset], source[srcset]"):
        for name in ("href", "src"):
            value = node.attributes.get(name)
            if value:
                _set(node, name, join(url, value))
        if node.attributes.get("srcset"):
            _set(node, "srcset", _absolute_set(node.attributes["srcset"] or "", url))
    body = fragment.body
    return body.inner_html or "" if body else ""


def _absolute_set(value: str, url: str) -> str | None:
    """The candidates that can be resolved, each with its descriptors."""
    places = [*find_candidates(value)]
    ends = [start for start, _ in places[1:]] + [len(value)]
    candidates = []
    for (start, url_end), end in zip(places, ends, strict=True):
        absolute = join(url, value[start:url_end])
        if absolute:
            candidates.append(f"{absolute} {value[url_end:end].strip(_BETWEEN)}".strip())
    return ", ".join(candidates) or None


def _set(node: LexborNode, name: str, value: str | None) -> None:
    if value:
        node.attrs[name] = value
    else:
        del node.attrs[name]
