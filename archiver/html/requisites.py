"""What a page needs to look as it looked: everything its markup makes a browser load.

Pages are replayed without their scripts, so what lazy-loading scripts would load counts, and what
is in ``<noscript>``; scripts themselves are not needed for that.
"""

import re
from collections.abc import Iterator

from selectolax.lexbor import LexborHTMLParser, LexborNode

from archiver.html.css import find_css_urls
from archiver.html.depth import is_too_deep
from archiver.html.metadata import read_metadata
from archiver.model.page import PageMetadata
from archiver.model.requisite import Requisite, RequisiteKind
from archiver.urls.parse import join

_SELECTOR = (
    "link[href], img, source, video, audio, track[src], iframe, frame[src], embed[src], "
    "object[data], input[src], image, use, style, noscript, [style*=url], [background], "
    "[data-bg], [data-background], [data-background-image], template"
)
_KINDS = {
    "img": RequisiteKind.IMAGE,
    "image": RequisiteKind.IMAGE,
    "use": RequisiteKind.IMAGE,
    "input": RequisiteKind.IMAGE,
    "source": RequisiteKind.IMAGE,
    "iframe": RequisiteKind.FRAME,
    "frame": RequisiteKind.FRAME,
    "video": RequisiteKind.MEDIA,
    "audio": RequisiteKind.MEDIA,
    "track": RequisiteKind.MEDIA,
}
_URL_ATTRIBUTES = (
    "src",
    "href",
    "xlink:href",
    "data",
    "poster",
    "background",
    "data-src",
    "data-original",
    "data-lazy-src",
    "data-lazy",
    "data-bg",
    "data-background",
    "data-background-image",
    "data-url",
)
_SET_ATTRIBUTES = ("srcset", "data-srcset", "data-lazy-srcset")
_LAZY = frozenset(name for name in (*_URL_ATTRIBUTES, *_SET_ATTRIBUTES) if name.startswith("data-"))
_ICONS = frozenset({"icon", "apple-touch-icon", "apple-touch-icon-precomposed", "mask-icon"})
_PRELOADED = {
    "style": RequisiteKind.STYLE,
    "image": RequisiteKind.IMAGE,
    "font": RequisiteKind.FONT,
}
_CANDIDATE = re.compile(r"[\s,]*(\S*[^\s,])(?:\s[^,(]*(?:\([^)]*\)[^,(]*)*)?(?:,|\Z)")
_LOOKS_LIKE_URL = re.compile(r"(?:https?:)?/{1,2}\S|[^\s{}<>\"']+\.\w{2,5}(?:[?#]\S*)?\Z")
MOST_DEPTH = 3


def find_requisites(html: str, base_url: str, limit: int) -> tuple[Requisite, ...]:
    """The requisites of a page, in document order, each once; ``limit`` of them at most.

    A page nested too deep to be parsed in good time has none.
    """
    return look_through(html, base_url, limit)[0]


def look_through(
    html: str, base_url: str, limit: int
) -> tuple[tuple[Requisite, ...], PageMetadata]:
    """The requisites of a page, as ``find_requisites``, and what it says of itself."""
    if is_too_deep(html):
        return (), PageMetadata()
    tree = LexborHTMLParser(html)
    return _find(tree, base_url, limit), read_metadata(tree)


def _find(tree: LexborHTMLParser, base_url: str, limit: int) -> tuple[Requisite, ...]:
    found: dict[str, RequisiteKind] = {}
    resolved: dict[str, str | None] = {}
    base = _base(tree, base_url)
    for reference, kind in _references(tree, base, depth=0):
        if reference not in resolved:
            resolved[reference] = join(base, reference)
        url = resolved[reference]
        if url:
            found.setdefault(url, kind)
            if len(found) >= limit:
                break
    return tuple(Requisite(url, kind) for url, kind in found.items())


def _base(tree: LexborHTMLParser, url: str) -> str:
    element = tree.css_first("base[href]")
    href = element.attributes.get("href") if element else None
    return (join(url, href) if href else None) or url


def _references(
    tree: LexborHTMLParser, base: str, *, depth: int
) -> Iterator[tuple[str, RequisiteKind]]:
    for node in tree.css(_SELECTOR):
        tag, attributes = node.tag or "", node.attributes
        if tag == "link":
            yield from _link(attributes)
        elif tag == "style":
            yield from _css(node.text() or "", base)
        elif tag in ("noscript", "template"):
            if depth < MOST_DEPTH:
                inner = LexborHTMLParser(_inner(node))
                yield from _references(inner, base, depth=depth + 1)
        else:
            yield from _element(node, tag, attributes, base, depth)
        if style := attributes.get("style"):
            yield from _css(style, base)


def _element(
    node: LexborNode, tag: str, attributes: dict[str, str | None], base: str, depth: int
) -> Iterator[tuple[str, RequisiteKind]]:
    kind = _KINDS.get(tag, RequisiteKind.OTHER)
    parent = node.parent.tag if tag == "source" and node.parent else ""
    if parent in ("video", "audio"):
        kind = RequisiteKind.MEDIA
    for name in _URL_ATTRIBUTES:
        value = (attributes.get(name) or "").strip()
        if not value or value.startswith(("#", "data:")):
            continue
        if name in _LAZY and not _LOOKS_LIKE_URL.match(value):
            continue
        is_image = name in ("poster", "background") or name.startswith("data-b")
        yield value, RequisiteKind.IMAGE if is_image else kind
    for name in _SET_ATTRIBUTES:
        for candidate in _CANDIDATE.finditer(attributes.get(name) or ""):
            yield candidate[1], RequisiteKind.IMAGE
    srcdoc = attributes.get("srcdoc")
    if srcdoc and depth < MOST_DEPTH:
        yield from _references(LexborHTMLParser(srcdoc), base, depth=depth + 1)


def _link(attributes: dict[str, str | None]) -> Iterator[tuple[str, RequisiteKind]]:
    relations = set((attributes.get("rel") or "").lower().split())
    href = (attributes.get("href") or "").strip()
    kind = None
    if "stylesheet" in relations:
        kind = RequisiteKind.STYLE
    elif relations & _ICONS:
        kind = RequisiteKind.ICON
    elif "preload" in relations:
        kind = _PRELOADED.get((attributes.get("as") or "").lower())
    elif "manifest" in relations:
        kind = RequisiteKind.OTHER
    if kind and href:
        yield href, kind
        for candidate in _CANDIDATE.finditer(attributes.get("imagesrcset") or ""):
            yield candidate[1], RequisiteKind.IMAGE


def _css(text: str, base: str) -> Iterator[tuple[str, RequisiteKind]]:
    for each in find_css_urls(text, base):
        yield each.url, each.kind


def _inner(node: LexborNode) -> str:
    """The markup inside an element that a parser may have taken for text."""
    html = node.html or ""
    start, end = html.find(">") + 1, html.rfind("</")
    inner = html[start : end if end >= start else None]
    return inner if "<" in inner else (node.text() or "")
