"""Page requisites named in markup.

Pages are replayed without their scripts, so what lazy-loading scripts would load counts, and what
is in ``<noscript>``; scripts themselves are not needed for that. Where references stand is known
to ``references``.
"""

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Final

from selectolax.lexbor import LexborHTMLParser, LexborNode

from archiver.http.urls import escape_bytes, join
from archiver.model.page import Discovery
from archiver.model.rendering import QualitySignals
from archiver.model.requisite import Requisite, RequisiteKind
from archiver.pages.article.multipage import find_next_part
from archiver.pages.css_references import lead_css
from archiver.pages.foreign_elements import ForeignContent, XmlElement, XmlStyle, walk_xml
from archiver.pages.icon_candidates import find_covers, find_icons
from archiver.pages.metadata import read_metadata, stated_in
from archiver.pages.page_problems import (
    is_error,
    needs_browser,
    parked_by,
    readable_start,
    wall_in_page,
)
from archiver.pages.parsing import base_of, parse
from archiver.pages.reference_attributes import (
    EVERYWHERE,
    HTML,
    MATHML,
    MOST_NESTED_DOCUMENTS,
    REQUISITE_KINDS,
    SVG_ANY,
    Form,
    Pointer,
    Rule,
    Rules,
    Use,
    clean_reference,
    is_loaded,
    resolve,
    rules_for,
)
from archiver.pages.reference_values import find_candidates, read_link_header


def find_sheet_requisites(css: str, base_url: str) -> tuple[Requisite, ...]:
    """Everything a style sheet makes a browser load, in order, each once."""
    found: dict[str, RequisiteKind] = {}
    for reference, use in read_css(css):
        url = join(base_url, reference)
        if url:
            found.setdefault(url, REQUISITE_KINDS[use])
    return tuple(Requisite(url, kind) for url, kind in found.items())


def read_css(css: str) -> list[tuple[str, Use]]:
    """The references of a style sheet, or of a ``style`` attribute, that lead out of it."""
    found: list[tuple[str, Use]] = []

    def see(reference: str, use: Use) -> None:
        given = reference.strip()
        if given and not given.startswith("#"):
            found.append((given, use))

    lead_css(css, see)
    return found


_FEEDS = ", ".join(
    f"link[rel~='alternate' i][type='application/{kind}' i][href]"
    for kind in ("rss+xml", "atom+xml", "feed+json")
)
_Found = Iterator[tuple[str, Use]]
_Attributes = dict[str, str | None]
_MOST_DIGITS = 5
"""Of the length of a side."""
_MANY = 2
"""Of more attributes than that each element is looked at, whether it has them or not."""


def find_requisites(html: str, base_url: str, limit: int) -> tuple[Requisite, ...]:
    """The requisites of a page, in document order, each once; ``limit`` of them at most.

    What is in templates comes last. A page nested too deep to be parsed in good time has none.
    """
    return look_through(html, base_url, limit).requisites


def look_through(html: str, base_url: str, limit: int) -> Discovery:
    """The requisites of a page, as ``find_requisites``, what it says of itself, and its signals."""
    tree = parse(html)
    return look_at(tree, html, base_url, limit) if tree is not None else Discovery()


def look_at(tree: LexborHTMLParser, html: str, base_url: str, limit: int) -> Discovery:
    """The same of a page that is parsed already; its tree stays as it is."""
    stated, base = stated_in(tree), base_of(tree, base_url)
    text, metadata = readable_start(tree), read_metadata(tree, base_url, stated)
    following = find_next_part(tree, base_url) if limit else None
    part = [Requisite(following, RequisiteKind.PART)] if following else []
    needs = [each for each in _find(tree, base_url, limit) if each.url != following]
    return Discovery(
        (*part, *needs)[:limit],
        metadata=metadata,
        needs_browser=needs_browser(tree, len(html), len(text)),
        wall=wall_in_page(tree, html, text),
        parked=parked_by(tree, html, text),
        feed=_find_feed(tree, base_url),
        icons=find_icons(tree, base_url, base),
        covers=find_covers(stated, base),
        appearance=QualitySignals(len(text), len(html), is_error=is_error(metadata.title, text)),
    )


def _find_feed(tree: LexborHTMLParser, base_url: str) -> str:
    """The first feed that a page names (RSS Advisory Board, *RSS Autodiscovery*)."""
    link = tree.css_first(_FEEDS)
    given = (link.attributes.get("href") or "") if link else ""
    return join(base_url, clean_reference(given)) or "" if given else ""


def find_xml_requisites(text: str, base_url: str, limit: int) -> tuple[Requisite, ...]:
    """The requisites of an XML document: of the SVG, MathML and HTML in it, and its style sheets.

    What cannot be parsed is left out from there on, as browsers do.
    """
    return _named(_Document(base_url).read_xml(walk_xml(text)), limit)


def find_linked(link_header: str, base_url: str, limit: int) -> tuple[Requisite, ...]:
    """What the ``Link`` fields of a document's response make a browser load.

    Args:
        link_header: their values, joined with commas, one character a byte.
        base_url: of the response (RFC 8288 §3.2): no ``<base>`` moves it.
        limit: so many at most.
    """
    links = read_link_header(link_header)
    loaded = ((escape_bytes(each.reference), each.use) for each in links)
    return _named(_Document(base_url).resolve_all(loaded), limit)


def _find(tree: LexborHTMLParser, base_url: str, limit: int) -> tuple[Requisite, ...]:
    document = _Document(base_url)
    return _named(document.read(tree), limit, document.areas)


def _named(
    references: _Found, limit: int, areas: Mapping[str, int] = MappingProxyType({})
) -> tuple[Requisite, ...]:
    found: dict[str, RequisiteKind] = {}
    for url, use in references:
        if use in REQUISITE_KINDS:
            found.setdefault(url, REQUISITE_KINDS[use])
        if len(found) >= limit:
            break
    return tuple(Requisite(url, kind, areas.get(url, 0)) for url, kind in found.items())


class _Document:
    """One document whose references are resolved: its base, and what was resolved already.

    Args:
        url: of the document, or the base of the one whose ``srcdoc`` it is.
        depth: how many documents it is nested in.

    Attributes:
        areas: how much of the page what it loads takes, in CSS pixels, where the markup tells.
    """

    def __init__(self, url: str, depth: int = 0) -> None:
        self._url = self._base = url
        self._has_base = False
        self._depth = depth
        self._resolved: dict[str, str | None] = {}
        self.areas: dict[str, int] = {}

    def read(self, tree: LexborHTMLParser) -> _Found:
        """What it makes a browser load: absolute URLs and their uses."""
        roots: list[LexborHTMLParser | LexborNode] = [tree]
        while roots:
            root = roots.pop()
            foreign = ForeignContent(root)
            for node in root.css(_SELECTOR):
                yield from self._node(node, foreign.kind(node))
            roots += reversed(root.template_fragments())

    def read_xml(self, elements: Iterable[XmlElement | XmlStyle]) -> _Found:
        """What an XML document makes a browser load."""
        for each in elements:
            if isinstance(each, XmlStyle):
                yield from self.resolve_all([(each.href, Use.STYLE)])
                continue
            if each.name == "style":
                yield from self.resolve_all(read_css(each.text))
            rules = rules_for(each.name, foreign=bool(each.kind), kind=each.kind)
            yield from self._attributes(each.attributes, rules)

    def _node(self, node: LexborNode, kind: str) -> _Found:
        tag, attributes = (node.tag or "").lower(), node.attributes
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
        """The first base counts, from where it stands (HTML §4.2.3)."""
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
                yield from self._pointed(value, pointer)

    def _pointed(self, value: str, pointer: Pointer) -> _Found:
        if pointer.form is Form.URL:
            yield from self.resolve_all([(value, pointer.use)])
        elif pointer.form is Form.SRCSET:
            candidates = (value[start:end] for start, end in find_candidates(value))
            yield from self.resolve_all((each, pointer.use) for each in candidates)
        elif pointer.form is Form.CSS:
            yield from self.resolve_all(read_css(value) if "(" in value else [])
        elif pointer.form is Form.DOCUMENT and self._depth < MOST_NESTED_DOCUMENTS:
            tree = parse(value)
            if tree is not None:
                yield from _Document(self._base, self._depth + 1).read(tree)

    def resolve_all(self, references: Iterable[tuple[str, Use]]) -> _Found:
        """References as absolute URLs; those that lead nowhere else are left out."""
        for given, use in references:
            reference = clean_reference(given)
            if not reference or reference.startswith(("#", "data:")):
                continue
            if reference not in self._resolved:
                self._resolved[reference] = join(self._base, reference.partition("#")[0])
            url = self._resolved[reference]
            if url:
                yield url, use


def _area(attributes: _Attributes) -> int:
    """CSS pixels that an element takes by its attributes; 0 where they do not tell."""
    if "width" not in attributes or "height" not in attributes:
        return 0
    sides = [(attributes[name] or "").strip() for name in ("width", "height")]
    if not all(len(side) <= _MOST_DIGITS and side.isdecimal() for side in sides):
        return 0
    return int(sides[0]) * int(sides[1])


def _selector() -> str:
    """Matches what can make a browser load something, and what moves where that lies."""
    rows = (*HTML.items(), ("", EVERYWHERE), ("svg ", SVG_ANY), ("math ", MATHML))
    return ", ".join(["base[href]", "style", *(each for row in rows for each in _selectors(*row))])


def _selectors(element: str, rules: Rules) -> list[str]:
    loaded = {name: rule for name, rule in rules.items() if is_loaded(rule)}
    if element in HTML and len(loaded) > _MANY:
        return [element]
    return [f"{element}{_holding(name, rule)}" for name, rule in loaded.items()]


def _holding(name: str, rule: Rule) -> str:
    """Matches an attribute by its local name; one with CSS in it only where a function is."""
    is_css = isinstance(rule, Pointer) and rule.form is Form.CSS
    function = "*='('" if is_css else ""
    return f"[{name.rpartition(':')[2]}{function}]"


_SELECTOR: Final = _selector()
