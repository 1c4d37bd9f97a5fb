"""What a page says of itself: title, author, site, date, address (Open Graph, JSON-LD, HTML)."""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from selectolax.lexbor import LexborHTMLParser

from archiver.html.canonical import canonical_of
from archiver.html.dates import to_iso
from archiver.model.page import PageMetadata
from archiver.wire.text import well_formed

MOST_CHARACTERS = 1000
MOST_JSON = 512 << 10
MOST_LEVELS = 60
"""JSON-LD that is nested deeper is nobody's description of a page."""
LONGEST_NAME = 100
MOST_AUTHORS = 10
_SPACES = re.compile(r"\s+")
_SEPARATORS = re.compile(r"\s+[|\-\u2013\u2014\u00bb\u00b7/:]\s+")
_TITLES = ("dc:title", "dcterms:title", "og:title", "twitter:title", "dc.title", "parsely-title")
_AUTHORS = (
    "dc:creator",
    "dcterms:creator",
    "author",
    "article:author",
    "dc.creator",
    "parsely-author",
    "byl",
    "sailthru.author",
)
_SITES = ("og:site_name", "application-name")
_EXCERPTS = ("og:description", "description", "twitter:description", "dc.description")
_DATES = (
    "article:published_time",
    "datepublished",
    "parsely-pub-date",
    "dc.date",
    "dc.date.issued",
    "date",
    "pubdate",
)
_TIMES = (
    "[itemprop~='datePublished']",
    "time.dt-published, time[pubdate], time.published",
    "article time[datetime]",
    "time[datetime]",
    "#title-block-header .date, .post-date, .entry-date",
)
_ARTICLE_TYPES = re.compile(r"Article|Posting|Report|WebPage|Recipe|Review|Chapter|CreativeWork")
_WRITTEN_TYPES = re.compile(r"Article|Posting|Report|Recipe|Review|Chapter")
_ARTICLE_OBJECTS = frozenset({"article", "book"})
_FRAME = re.compile(
    r"\A\s*(?:<!\[CDATA\[|/\*.{0,40}?\*/|//[^\n]{0,80}\n)\s*|\s*\]\]>\s*\Z", re.DOTALL
)
_ADDRESS = re.compile(r"(?:https?://|www\.)\S+|[\w-]+(?:\.[\w-]+)+/\S*", re.IGNORECASE)
_SIGNS_BEHIND = re.compile(r"[\W_]+\Z")
_BY = re.compile(r"\A(?:written\s+)?by:?\s+", re.IGNORECASE)
_BEHIND_NAME = re.compile(
    r"\s*[|\u2022\u00b7@\n].*|\s+\d{1,2}[:.]\d\d.*|,?\s+[A-Z][a-z]+ \d{1,2}, \d{4}.*", re.DOTALL
)
_NAMES = (
    '[itemprop~="author"] [itemprop~="name"]',
    '[rel~="author"]',
    '[itemprop~="author"]',
    ".p-author",
    ".byline",
    ".author",
    '[class*="byline" i]',
)


@dataclass(frozen=True, slots=True)
class Stated:
    """What the head of a page states, for whoever reads more than one thing of it.

    Attributes:
        meta: what the ``meta`` elements say, by lower-case name; of several of a name the first.
        data: the first object of JSON-LD that is a page with a headline; empty if there is none.
    """

    meta: dict[str, str]
    data: dict[str, Any]


def stated_in(tree: LexborHTMLParser) -> Stated:
    """What the head of a parsed page states."""
    return Stated(_meta_of(tree), _json_ld_of(tree))


def read_metadata(tree: LexborHTMLParser, url: str, stated: Stated | None = None) -> PageMetadata:
    """Read what a parsed page at an address says of itself; ``stated`` if that is read already."""
    stated = stated or stated_in(tree)
    meta, data = stated.meta, stated.data
    shown = _document_title(tree)
    given = _first(meta, _TITLES)
    if _is_of_the_site(given, shown, tree):
        given = ""
    titles = (_headline(data, shown), given, shown, _heading(tree))
    title = next((each for each in titles if each and not _ADDRESS.fullmatch(each)), "")
    return PageMetadata(
        title=title,
        byline=_name(data.get("author")) or _author(tree, meta) or _marked_author(tree),
        site=_first(meta, _SITES) or _name(data.get("publisher")),
        excerpt=_first(meta, _EXCERPTS) or _text(data.get("description")),
        language=_language(tree, meta),
        published=_published(tree, meta, data),
        canonical=canonical_of(tree, url),
    )


def _is_of_the_site(given: str, shown: str, tree: LexborHTMLParser) -> bool:
    """Whether all pages are given one title, as some generators do, while this one has its own.

    Its own is its heading, with which its ``title`` begins.
    """
    heading = _SIGNS_BEHIND.sub("", _heading(tree))
    is_another = given.casefold() not in shown.casefold() and heading not in given
    return bool(given and heading) and is_another and shown.startswith(heading)


def is_article(tree: LexborHTMLParser) -> bool:
    """Whether a parsed page says that it is one article, and no list of several."""
    meta = _meta_of(tree)
    if meta.get("og:type", "").lower() in _ARTICLE_OBJECTS:
        return True
    data = _json_ld_of(tree)
    if _WRITTEN_TYPES.search(str(data.get("@type", ""))[:200]):
        return True
    return len(tree.css("article")[:2]) == 1


def _meta_of(tree: LexborHTMLParser) -> dict[str, str]:
    found: dict[str, str] = {}
    for node in tree.css("meta[content]"):
        attributes = node.attributes
        value = _clean(attributes.get("content") or "")
        for key in ("property", "name", "itemprop", "http-equiv"):
            for name in (attributes.get(key) or "").lower().split():
                if value:
                    found.setdefault(name, value)
    return found


def _json_ld_of(tree: LexborHTMLParser) -> dict[str, Any]:
    for node in tree.css('script[type="application/ld+json"]'):
        text = node.text() or ""
        if len(text) > MOST_JSON:
            continue
        try:
            parsed = json.loads(_FRAME.sub("", text), strict=False)
        except (ValueError, RecursionError):
            continue
        for each in _objects(parsed) if _is_shallow(parsed) else ():
            kind = each.get("@type")
            if kind and _ARTICLE_TYPES.search(str(kind)[:200]) and _headline(each):
                return each
    return {}


def _is_shallow(parsed: Any) -> bool:
    """Whether what reads it, level by level, comes to an end before Python's stack does."""
    level = [parsed]
    for _ in range(MOST_LEVELS):
        level = [inner for each in level for inner in _inside(each)]
        if not level:
            return True
    return False


def _inside(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def _objects(parsed: Any) -> Iterator[dict[str, Any]]:
    if isinstance(parsed, dict):
        yield parsed
        parsed = parsed.get("@graph")
    if isinstance(parsed, list):
        yield from (each for each in parsed if isinstance(each, dict))


def _document_title(tree: LexborHTMLParser) -> str:
    """The title element's text, without the name of the site where the page's heading tells."""
    element = tree.css_first("title")
    title = _clean(element.text() or "") if element else ""
    headings = tree.css("h1")[:2]
    named = _clean(headings[0].text() or "") if headings else ""
    if not title:
        return named
    parts = _SEPARATORS.split(title)
    is_alone = len(headings) == 1  # the first of several is often the name of the site
    is_title = named == parts[0] or (is_alone and len(named) == max(map(len, parts)))
    return named if named in parts and is_title else title


def _heading(tree: LexborHTMLParser) -> str:
    element = tree.css_first("h1")
    return _clean(element.text() or "") if element else ""


def _headline(data: dict[str, Any], shown: str = "") -> str:
    """What JSON-LD names the page: its name rather than its headline where only that is shown."""
    headline, name = _text(data.get("headline")), _text(data.get("name"))
    return name if name and name in shown and headline not in shown else headline or name


def _published(tree: LexborHTMLParser, meta: dict[str, str], data: dict[str, Any]) -> str:
    """The first date that can be read; what can't be is not shown."""
    given = [_text(data.get("datePublished"))]
    given += [meta[name] for name in _DATES if name in meta]
    return next(filter(None, map(to_iso, given)), "") or to_iso(_time(tree))


def _author(tree: LexborHTMLParser, meta: dict[str, str]) -> str:
    """Who wrote it, as the first name of a field says that is there: all whom it names."""
    name = next((each for each in _AUTHORS if each in meta), "")
    if not name or meta[name].startswith(("http://", "https://")):
        return ""
    nodes = tree.css(f'meta[name="{name}" i], meta[property="{name}" i]')[:MOST_AUTHORS]
    names = [node.attributes.get("content") or "" for node in nodes]
    names = [_person(each) for each in names if not each.startswith(("http://", "https://"))]
    authors = [*dict.fromkeys(filter(None, names))] or [_person(meta[name])]
    between = "; " if any("," in each for each in authors) else ", "
    return between.join(authors)[:MOST_CHARACTERS]


def _marked_author(tree: LexborHTMLParser) -> str:
    for selector in _NAMES:
        for element in tree.css(selector)[:3]:
            name = _person(element.text() or "")
            if 0 < len(name) <= LONGEST_NAME:
                return name
    return ""


def _person(text: str) -> str:
    """A name without what stands around it in a byline."""
    first = _BY.sub("", text.strip()[:MOST_CHARACTERS])
    return _clean(_BEHIND_NAME.sub("", first))


def _language(tree: LexborHTMLParser, meta: dict[str, str]) -> str:
    root = tree.css_first("html")
    language = (
        (root.attributes.get("lang") or root.attributes.get("xml:lang") or "") if root else ""
    )
    found = language or meta.get("content-language") or meta.get("og:locale") or ""
    return found.strip()[:35].replace("_", "-")


def _time(tree: LexborHTMLParser) -> str:
    for selector in _TIMES:
        element = tree.css_first(selector)
        if element:
            return _clean(element.attributes.get("datetime") or element.text() or "")
    return ""


def _first(meta: dict[str, str], names: tuple[str, ...]) -> str:
    return next((meta[name] for name in names if name in meta), "")


def _name(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(filter(None, map(_name, value[:10])))[:MOST_CHARACTERS]
    return _text(value.get("name")) if isinstance(value, dict) else _text(value)


def _text(value: Any) -> str:
    return _clean(value) if isinstance(value, str) else ""


def _clean(text: str) -> str:
    return well_formed(_SPACES.sub(" ", text).strip()[:MOST_CHARACTERS])
