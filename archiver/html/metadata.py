"""What a page says of itself: title, author, site, language, date (Open Graph, JSON-LD, HTML)."""

import json
import re
from collections.abc import Iterator
from typing import Any

from selectolax.lexbor import LexborHTMLParser

from archiver.model.page import PageMetadata
from archiver.wire.text import well_formed

MOST_CHARACTERS = 1000
MOST_JSON = 512 << 10
_SPACES = re.compile(r"\s+")
_SEPARATORS = re.compile(r"\s+[|\-\u2013\u2014\u00bb\u00b7/:]\s+")
_TITLES = ("og:title", "twitter:title", "dc.title", "parsely-title")
_AUTHORS = ("author", "article:author", "dc.creator", "parsely-author", "byl", "sailthru.author")
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
_ARTICLE_TYPES = re.compile(r"Article|BlogPosting|Report|NewsArticle|WebPage|Recipe")


def read_metadata(tree: LexborHTMLParser) -> PageMetadata:
    """Read what a parsed page says of itself."""
    meta = _meta(tree)
    data = _json_ld(tree)
    title = _first(meta, _TITLES) or _text(data.get("headline")) or _document_title(tree)
    return PageMetadata(
        title=title,
        byline=_name(data.get("author")) or _author(meta) or _marked_author(tree),
        site=_first(meta, _SITES) or _name(data.get("publisher")),
        excerpt=_first(meta, _EXCERPTS) or _text(data.get("description")),
        language=_language(tree, meta),
        published=_text(data.get("datePublished")) or _first(meta, _DATES) or _time(tree),
    )


def _meta(tree: LexborHTMLParser) -> dict[str, str]:
    found: dict[str, str] = {}
    for node in tree.css("meta[content]"):
        attributes = node.attributes
        value = _clean(attributes.get("content") or "")
        for key in ("property", "name", "itemprop", "http-equiv"):
            for name in (attributes.get(key) or "").lower().split():
                if value:
                    found.setdefault(name, value)
    return found


def _json_ld(tree: LexborHTMLParser) -> dict[str, Any]:
    for node in tree.css('script[type="application/ld+json"]'):
        text = node.text() or ""
        if len(text) > MOST_JSON:
            continue
        try:
            parsed = json.loads(text, strict=False)
        except (ValueError, RecursionError):
            continue
        for each in _objects(parsed):
            kind = each.get("@type")
            if kind and _ARTICLE_TYPES.search(str(kind)[:200]) and each.get("headline"):
                return each
    return {}


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
    heading = tree.css_first("h1")
    named = _clean(heading.text() or "") if heading else ""
    if not title:
        return named
    parts = _SEPARATORS.split(title)
    if named and named != title and named in parts:
        return named
    return title


def _author(meta: dict[str, str]) -> str:
    found = _first(meta, _AUTHORS)
    return "" if found.startswith(("http://", "https://")) else found


def _marked_author(tree: LexborHTMLParser) -> str:
    element = tree.css_first('[rel~="author"], [itemprop~="author"], .byline, .author')
    text = _clean(element.text() or "") if element else ""
    return text if len(text) <= 100 else ""


def _language(tree: LexborHTMLParser, meta: dict[str, str]) -> str:
    root = tree.css_first("html")
    said = (root.attributes.get("lang") or root.attributes.get("xml:lang") or "") if root else ""
    found = said or meta.get("content-language") or meta.get("og:locale") or ""
    return found.strip()[:35].replace("_", "-")


def _time(tree: LexborHTMLParser) -> str:
    element = tree.css_first("article time[datetime], time[pubdate][datetime]")
    return _clean(element.attributes.get("datetime") or "") if element else ""


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
