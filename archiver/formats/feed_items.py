"""The items of a feed as links: RSS of any version, Atom, JSON Feed."""

import json
import re
from collections.abc import Iterator
from html import unescape

from archiver.formats.charset import HEAD_BYTES, decode_head
from archiver.formats.given_file import GivenFile
from archiver.formats.importer import Importer
from archiver.formats.kept_pages import MOST_PAGE
from archiver.formats.row_importers import json_importer
from archiver.formats.rows import Row, first_of, text_of
from archiver.formats.xml_events import Element, elements, is_xml
from archiver.model.bookmark import Bookmark
from archiver.model.message import marked

_ITEMS = frozenset({"item", "entry"})
_DATES = ("published", "pubdate", "date", "created", "updated", "modified", "issued")
_SAID_ONCE = frozenset({"title", *_DATES})
_ARTICLE = ("encoded", "content", "description")
"""What may hold the whole article, the surest first."""
_HAS_PARAGRAPHS = re.compile(
    r"<(?:p|div|h[1-6]|ul|ol|table|blockquote|pre|figure)\b", re.IGNORECASE
)
_MARKUP = frozenset({"content", "summary", "description", "encoded", "title"})
_TAGS = frozenset({"category", "subject", "tag"})
_RSS_NAMESPACE = re.compile(
    r"""["'](?:http://purl\.org/rss/1\.0/|http://my\.netscape\.com/rdf/simple/0\.9/)\s*["']"""
)
"""The whole of it: Zotero's RDF names a module of RSS, which begins the same."""
_MOST_KEPT = 2000
_HTML_TYPES = frozenset({"html", "text/html"})
_MOST_OF_A_NAME = 20
_XML_TITLE = re.compile(r"<title[^<>]*>\s*(?:<!\[CDATA\[)?([^<\]]*)", re.IGNORECASE)
_JSON_TITLE = re.compile(r'"title"\s*:\s*("(?:[^"\\]|\\.){0,2000}")')


def _read(file: GivenFile) -> Iterator[Bookmark]:
    item: _Item | None = None
    around: list[str] = []
    for element in elements(file):
        if element.name in _ITEMS and not around:
            if element.is_end and item:
                yield item.bookmark()
                item = None
            elif not element.is_end:
                item = _Item(element)
        elif item and not element.is_end:
            around.append(element.name)
        elif item and around:
            around.pop()
            item.take_within(element, around[0]) if around else item.take(element)


class _Item:
    """What is told of one item."""

    def __init__(self, element: Element) -> None:
        self._links = {"about": element.attributes.get("about", "")}
        self._values: dict[str, list[str]] = {}
        self._tags: list[str] = []
        self._articles: dict[str, str] = {}

    def take(self, element: Element) -> None:
        """Take an element within the item."""
        text = element.text.strip()
        if element.name == "link" and (rel := element.attributes.get("rel", "alternate")):
            self._link(rel, element.attributes.get("href", "") or text)
        elif element.name in ("guid", "id"):
            is_link = text.startswith(("http://", "https://"))
            self._links.setdefault("id", text if is_link else "")
            self._say(element.name, text)
        elif element.name in _TAGS:
            self._tags.append(element.attributes.get("term") or text)
        elif text:
            self._article(element, text)
            self._say(element.name, text[:_MOST_KEPT])
        elif address := element.attributes.get("url") or element.attributes.get("href"):
            # What comes with the item, such as a recording or a picture.
            self._say(element.name, address)

    def take_within(self, element: Element, around: str) -> None:
        """Take an element within such an element of the item: a name of its author, a picture."""
        value = element.text.strip() or element.attributes.get("url", "")
        if around not in _MARKUP:
            self._say(around if element.name == "name" else f"{around} {element.name}", value)

    def _article(self, element: Element, text: str) -> None:
        """Keep what is HTML and longer than the source record has room for, once for each name."""
        name, is_other = element.name, element.attributes.get("type", "html") not in _HTML_TYPES
        if name in _ARTICLE and len(text) > _MOST_KEPT and not is_other and is_article(text):
            self._articles.setdefault(name, text)

    def _link(self, rel: str, address: str) -> None:
        if rel not in self._links:
            self._links[rel] = address
        if rel != "alternate" or self._links[rel] != address:
            self._say(f"link {rel}", address)

    def _say(self, name: str, text: str) -> None:
        values = self._values.setdefault(name, [])
        if text and text not in values and len(values) < _MOST_OF_A_NAME:
            values.append(text)

    def bookmark(self) -> Bookmark:
        """The item as a link."""
        row = Row(
            {name: _one_or_all(name, values) for name, values in self._values.items() if values}
        )
        for name in _SAID_ONCE & self._values.keys():
            row.put(f"more {name}", self._values[name][1:])
        url = first_of(self._links.get(each, "") for each in ("alternate", "about", "via", "id"))
        return row.bookmark(
            url,
            title=row.text("title"),
            added_at=row.moment(*_DATES),
            tags=tuple(dict.fromkeys(filter(None, (each.strip() for each in self._tags)))),
            page=first_of(self._articles.get(each, "") for each in _ARTICLE),
        )


def is_article(text: str) -> bool:
    """Whether what a feed says of an item is an article in HTML, of a length that is read."""
    return len(text) <= MOST_PAGE and _HAS_PARAGRAPHS.search(text) is not None


def _one_or_all(name: str, values: list[str]) -> str | list[str]:
    return values[0] if len(values) == 1 or name in _SAID_ONCE else values


def _json_item(row: Row) -> Bookmark:
    own = row.text("externalurl")
    article = text_of(row.peek("contenthtml"))
    is_long = len(article) > _MOST_KEPT and is_article(article)
    if is_long:
        row.drop("contenthtml")
    return row.bookmark(
        own or row.text("url", "id"),
        title=row.text("title"),
        note=row.text("summary"),
        added_at=row.moment("datepublished", "datemodified"),
        tags=row.names("tags"),
        page=article if is_long else "",
    )


def _is_json_feed(file: GivenFile) -> bool:
    return {"version", "items"} <= file.json_paths and "jsonfeed.org" in file.text[:1000]


def _is_feed(file: GivenFile) -> bool:
    if is_xml(file, "rdf") and file.root:
        return _RSS_NAMESPACE.search(file.root.attributes) is not None
    return is_xml(file, "rss", "feed")


FEED = Importer(
    marked("RSS or Atom"),
    _is_feed,
    _read,
    ("rss", "atom", "xml"),
    marked("any feed: its items become links"),
)
JSON_FEED = json_importer(
    "JSON Feed",
    _is_json_feed,
    _json_item,
    origin=marked("any JSON Feed: its items become links"),
    within="items",
)

FORMS = frozenset({FEED.name, JSON_FEED.name})
"""What feeds are called among the formats."""


def feed_title(content: bytes) -> str:
    """What a feed calls itself; empty if it does not.

    Args:
        content: of the feed, of which the head is looked at.
    """
    head = decode_head(content[:HEAD_BYTES])
    if head.lstrip("\ufeff \t\r\n").startswith("{"):
        found = _JSON_TITLE.search(head)
        return _unescaped(found[1]).strip() if found else ""
    found = _XML_TITLE.search(head)
    return " ".join(unescape(found[1]).split())[:_MOST_KEPT] if found else ""


def _unescaped(string: str) -> str:
    """What a JSON string says; nothing where it escapes what JSON has no escape for."""
    try:
        text: str = json.loads(string, strict=False)
    except ValueError:
        return ""
    return text
