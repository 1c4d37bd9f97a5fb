"""Page requisites named in markup.

Pages are replayed without their scripts, so scripts are not requisites. Resources that scripts
would load lazily, and resources in ``<noscript>``, are requisites. The attributes with references
are defined in ``references``.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from selectolax.lexbor import LexborHTMLParser, LexborNode

from archiver.http.data_urls import NO_BASE, is_data_url, read_data_url
from archiver.http.text_decoders import UTF_8, Encoding, encode_query
from archiver.http.urls import MAX_CHARACTERS, escape_bytes, join
from archiver.model.page import Discovery, Refresh
from archiver.model.rendering import QualitySignals
from archiver.model.requisite import Requisite, RequisiteKind
from archiver.pages.article.multipage import find_next_part
from archiver.pages.css_references import may_load, rewrite_css
from archiver.pages.foreign_elements import ForeignContent, XmlElement, XmlStyle, walk_xml
from archiver.pages.icon_candidates import find_covers, find_icons
from archiver.pages.metadata import read_head_metadata, read_metadata
from archiver.pages.page_problems import (
    PARKED,
    WALLS,
    browser_needs,
    is_error,
    marked_by,
    readable_start,
)
from archiver.pages.parsing import base_of, parse
from archiver.pages.references import (
    CUSTOM,
    EVERYWHERE,
    HTML,
    MATHML,
    MAX_NESTED_DOCUMENTS,
    REQUISITE_KINDS,
    SVG_ANY,
    Form,
    Pointer,
    Rules,
    Use,
    clean_reference,
    find_candidates,
    is_loaded,
    read_link_header,
    read_refresh,
    resolve,
    rules_for,
)


def find_sheet_requisites(
    css: str, base_url: str, encoding: Encoding = UTF_8
) -> tuple[Requisite, ...]:
    """Return the distinct resources that a style sheet loads, in order."""
    kinds: dict[str, RequisiteKind] = {}
    for url, use in _Document(base_url, encoding).resolve_all(read_css(css)):
        kinds.setdefault(url, REQUISITE_KINDS[use])
    return tuple(Requisite(url, kind) for url, kind in kinds.items())


def read_css(css: str) -> list[tuple[str, Use]]:
    """Return the external references of a style sheet or ``style`` attribute."""
    references: list[tuple[str, Use]] = []
    if not may_load(css):
        return references

    def see(reference: str, use: Use) -> None:
        url = reference.strip()
        if url and not url.startswith("#"):
            references.append((url, use))

    rewrite_css(css, see)
    return references


_FEEDS = ", ".join(
    f"link[rel~='alternate' i][type='application/{kind}' i][href]"
    for kind in ("rss+xml", "atom+xml", "feed+json")
)
_Found = Iterator[tuple[str, Use]]
_Attributes = dict[str, str | None]
_MAX_DIGITS = 5
"""Maximum number of digits of a width or height."""


def discover_requisites(
    html: str, base_url: str, limit: int, encoding: Encoding = UTF_8
) -> Discovery:
    """Return the requisites, metadata and quality signals of a page.

    The requisites are distinct and in document order, at most ``limit``; those in templates come
    last. The result is empty for a page that is nested too deeply to be parsed.
    """
    tree = parse(html)
    if tree is None:
        return Discovery()
    return discover_parsed(tree, html, base_url, limit, encoding)


def discover_parsed(
    tree: LexborHTMLParser, html: str, base_url: str, limit: int, encoding: Encoding = UTF_8
) -> Discovery:
    """Return the same as ``discover_requisites`` for a parsed page, without modifying the tree.

    Each frame of a frameset is in the result twice: as a part of this page's article, and as a
    frame, because another page may contain the frameset in an ``iframe``.
    """
    head, base = read_head_metadata(tree), base_of(tree, base_url)
    text, metadata = readable_start(tree), read_metadata(tree, base_url, head)
    following = find_next_part(tree, base_url) if limit else None
    parts = [Requisite(following, RequisiteKind.PART)] if following else []
    needs = [each for each in _find(tree, base_url, limit, encoding) if each.url != following]
    frames = [each for each in needs if each.kind is RequisiteKind.FRAME]
    if frames and tree.css_first("frameset frame"):
        parts += [replace(each, kind=RequisiteKind.PART) for each in frames]
    needs_browser, may_need_browser = browser_needs(tree, len(html), len(text))
    return Discovery(
        (*parts, *needs)[:limit],
        metadata=metadata,
        needs_browser=needs_browser,
        may_need_browser=may_need_browser,
        wall=marked_by(WALLS, tree, html, text),
        parked=marked_by(PARKED, tree, html, text),
        feed=_find_feed(tree, base_url),
        icons=find_icons(tree, base_url, base),
        covers=find_covers(head, base),
        appearance=QualitySignals(len(text), len(html), is_error=is_error(metadata.title, text)),
        refresh=_find_refresh(tree, base),
    )


def _find_refresh(tree: LexborHTMLParser, base: str) -> Refresh | None:
    """Return the refresh in the markup of a page; one in ``<noscript>`` if there is no other."""
    urls = []
    for node in tree.css("meta[http-equiv='refresh' i][content]"):
        is_fallback = node.parent is not None and node.parent.tag == "noscript"
        content = (node.attributes.get("content") or "")[:MAX_CHARACTERS]
        if refresh := refresh_of(content, base, is_fallback=is_fallback):
            urls.append(refresh)
    return min(urls, key=lambda each: each.is_fallback, default=None)


def refresh_of(text: str, base: str, *, is_fallback: bool = False) -> Refresh | None:
    """Parse the value of a refresh; return None if it has no target that is a web address.

    ``is_fallback`` is as in ``Refresh``.
    """
    seconds, reference = read_refresh(text) or (0, "")
    url = join(base, clean_reference(reference)) if reference else None
    return Refresh(seconds, url, is_fallback) if url else None


def _find_feed(tree: LexborHTMLParser, base_url: str) -> str:
    """Return the first feed of a page (RSS Advisory Board, *RSS Autodiscovery*)."""
    link = tree.css_first(_FEEDS)
    href = (link.attributes.get("href") or "") if link else ""
    return join(base_url, clean_reference(href)) or "" if href else ""


def find_xml_requisites(
    text: str, base_url: str, limit: int, encoding: Encoding = UTF_8
) -> tuple[Requisite, ...]:
    """Return the requisites of an XML document.

    These are the ones of its SVG, MathML and HTML elements, and its style sheets.

    A malformed document is read up to the error, as in browsers.
    """
    return _to_requisites(_Document(base_url, encoding).read_xml(walk_xml(text)), limit)


def find_linked(link_header: str, base_url: str, limit: int) -> tuple[Requisite, ...]:
    """Return the resources that the ``Link`` fields of a response load.

    Args:
        link_header: the values of these fields joined with commas, decoded as latin-1.
        base_url: the URL of the response (RFC 8288 §3.2); ``<base>`` has no effect.
        limit: the maximum number of resources.
    """
    links = read_link_header(link_header)
    loaded = ((escape_bytes(each.reference), each.use) for each in links)
    return _to_requisites(_Document(base_url).resolve_all(loaded), limit)


def _find(
    tree: LexborHTMLParser, base_url: str, limit: int, encoding: Encoding
) -> tuple[Requisite, ...]:
    document = _Document(base_url, encoding)
    return _to_requisites(document.read(tree), limit, document.areas)


def _to_requisites(
    references: _Found, limit: int, areas: Mapping[str, int] = MappingProxyType({})
) -> tuple[Requisite, ...]:
    kinds: dict[str, RequisiteKind] = {}
    for url, use in references:
        if use in REQUISITE_KINDS:
            kinds.setdefault(url, REQUISITE_KINDS[use])
        if len(kinds) >= limit:
            break
    return tuple(Requisite(url, kind, areas.get(url, 0)) for url, kind in kinds.items())


class _Document:
    """Document whose references are resolved, with its base URL and a cache of resolved URLs.

    Args:
        url: the URL of the document; for a ``srcdoc`` document, the base URL of its parent.
        encoding: the encoding in which queries are encoded.
        depth: the number of enclosing documents.

    Attributes:
        areas: the display area of each resource in CSS pixels, if the markup states it.
    """

    def __init__(self, url: str, encoding: Encoding = UTF_8, *, depth: int = 0) -> None:
        self._url = self._base = url
        self._encoding = encoding
        self._has_base = False
        self._depth = depth
        self._resolved: dict[str, str | None] = {}
        self.areas: dict[str, int] = {}

    def read(self, tree: LexborHTMLParser) -> _Found:
        """Return the absolute URLs that a page loads, and their uses."""
        roots = [tree.root] if tree.root is not None else []
        while roots:
            root = roots.pop()
            foreign = ForeignContent(root)
            for node in root.traverse():
                tag, attributes = (node.tag or "").lower(), node.attributes
                names = _LOADING_ATTRIBUTES if tag in HTML else _FOREIGN_ATTRIBUTES
                if tag in _LOADING_ELEMENTS or not names.isdisjoint(attributes):
                    yield from self._node(node, tag, attributes, foreign.kind(node))
            roots += reversed(root.template_fragments())

    def read_xml(self, elements: Iterable[XmlElement | XmlStyle]) -> _Found:
        """Return the absolute URLs that an XML document loads, and their uses."""
        for each in elements:
            if isinstance(each, XmlStyle):
                yield from self.resolve_all([(each.href, Use.STYLE)])
                continue
            if each.name == "style":
                yield from self.resolve_all(read_css(each.text))
            rules = rules_for(each.name, foreign=bool(each.kind), kind=each.kind)
            yield from self._attributes(each.attributes, rules)

    def _node(self, node: LexborNode, tag: str, attributes: _Attributes, kind: str) -> _Found:
        if tag == "base" and "href" in attributes:
            self._set_base(attributes["href"] or "")
        elif tag == "style":
            yield from self.resolve_all(read_css(node.text() or ""))
        area = _area(attributes)
        for url, use in self._attributes(attributes, rules_for(tag, foreign=bool(kind), kind=kind)):
            if area:
                self.areas.setdefault(url, area)
            yield url, use

    def _set_base(self, href: str) -> None:
        """Set the base URL; only the first ``base`` element counts (HTML §4.2.3)."""
        if not self._has_base:
            self._has_base = True
            self._base = join(self._url, clean_reference(href)) or self._url
            self._resolved.clear()

    def _attributes(self, attributes: _Attributes, rules: Rules) -> _Found:
        def value_of(name: str) -> str:
            return attributes.get(name) or ""

        for name, value in attributes.items():
            rule = rules.get(name) or EVERYWHERE.get(name)
            pointer = resolve(rule, value_of) if value else None
            if value and pointer and pointer.use in REQUISITE_KINDS:
                yield from self._references_at(value, pointer)

    def _references_at(self, value: str, pointer: Pointer) -> _Found:
        if pointer.form is Form.URL:
            yield from self.resolve_all([(value, pointer.use)])
        elif pointer.form is Form.SRCSET:
            candidates = (value[start:end] for start, end in find_candidates(value))
            yield from self.resolve_all((each, pointer.use) for each in candidates)
        elif pointer.form is Form.CSS:
            yield from self.resolve_all(read_css(value) if "(" in value else [])
        elif pointer.form is Form.DOCUMENT and self._depth < MAX_NESTED_DOCUMENTS:
            tree = parse(value)
            if tree is not None:
                yield from _Document(self._base, depth=self._depth + 1).read(tree)

    def resolve_all(self, references: Iterable[tuple[str, Use]]) -> _Found:
        """Yield the absolute URLs of references; references within the document are skipped.

        Instead of a data URL, yield the URLs that its content loads.
        """
        for text, use in references:
            reference = clean_reference(text)
            if not reference or reference.startswith("#"):
                continue
            if is_data_url(reference):
                yield from self._embedded(reference, use)
                continue
            if reference not in self._resolved:
                address = encode_query(reference.partition("#")[0], self._encoding)
                self._resolved[reference] = join(self._base, address)
            url = self._resolved[reference]
            if url:
                yield url, use

    def _embedded(self, url: str, use: Use) -> _Found:
        """Yield the URLs that a style sheet or framed document in a data URL loads."""
        is_read = use in {Use.STYLE, Use.FRAME} and self._depth < MAX_NESTED_DOCUMENTS
        data = read_data_url(url) if is_read else None
        if data is None:
            return
        inner = _Document(NO_BASE, depth=self._depth + 1)
        if use is Use.STYLE:
            yield from inner.resolve_all(read_css(data.text))
        elif data.media_type.is_xml:
            yield from inner.read_xml(walk_xml(data.text))
        elif data.media_type.essence == "text/html" and (tree := parse(data.text)) is not None:
            yield from inner.read(tree)


def _area(attributes: _Attributes) -> int:
    """Return the area of an element in CSS pixels by its attributes; 0 if they do not state it."""
    if "width" not in attributes or "height" not in attributes:
        return 0
    sides = [(attributes[name] or "").strip() for name in ("width", "height")]
    if not all(len(side) <= _MAX_DIGITS and side.isdecimal() for side in sides):
        return 0
    return int(sides[0]) * int(sides[1])


def _loading(rules: Rules) -> frozenset[str]:
    return frozenset(name for name, rule in rules.items() if is_loaded(rule))


_LOADING_ELEMENTS: Final = {
    "base",
    "style",
    *(tag for tag, rules in HTML.items() if _loading(rules)),
}
_FOREIGN_ATTRIBUTES: Final = frozenset().union(
    *map(_loading, (EVERYWHERE, CUSTOM, SVG_ANY, MATHML))
)
_LOADING_ATTRIBUTES: Final = _FOREIGN_ATTRIBUTES - {"href", "xlink:href"}
"""Attributes that may load something on any HTML element."""
