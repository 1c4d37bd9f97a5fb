"""The items of a feed as links: RSS of any version, Atom, JSON Feed."""

import json
import re
from collections.abc import Iterator
from html import unescape

from archiver.formats.charset import HEAD_BYTES, decode_head
from archiver.formats.given_file import GivenFile
from archiver.formats.importer import Importer
from archiver.formats.row_importers import json_importer
from archiver.formats.rows import Row, first_of
from archiver.formats.xml_events import Element, elements, is_xml
from archiver.model.bookmark import Bookmark
from archiver.model.message import marked

_ITEMS = frozenset({"item", "entry"})
_DATES = ("published", "pubdate", "date", "created", "updated", "modified", "issued")
_TAGS = frozenset({"category", "subject", "tag"})
_RSS_NAMESPACE = re.compile(
    r"""["'](?:http://purl\.org/rss/1\.0/|http://my\.netscape\.com/rdf/simple/0\.9/)\s*["']"""
)
"""The whole of it: Zotero's RDF names a module of RSS, which begins the same."""
_MOST_KEPT = 2000
_XML_TITLE = re.compile(r"<title[^<>]*>\s*(?:<!\[CDATA\[)?([^<\]]*)", re.IGNORECASE)
_JSON_TITLE = re.compile(r'"title"\s*:\s*("(?:[^"\\]|\\.){0,2000}")')


def _read(file: GivenFile) -> Iterator[Bookmark]:
    item: _Item | None = None
    depth = 0
    for element in elements(file):
        if element.name in _ITEMS and not depth:
            if element.is_end and item:
                yield item.bookmark()
                item = None
            elif not element.is_end:
                item = _Item(element)
        elif item:
            depth += -1 if element.is_end else 1
            if element.is_end and depth == 0:
                item.take(element)


class _Item:
    """What is told of one item."""

    def __init__(self, element: Element) -> None:
        self._links = {"about": element.attributes.get("about", "")}
        self._said: dict[str, str] = {}
        self._tags: list[str] = []

    def take(self, element: Element) -> None:
        """Take an element within the item."""
        text = element.text.strip()
        if element.name == "link":
            rel = element.attributes.get("rel", "alternate")
            self._links.setdefault(rel, element.attributes.get("href", "") or text)
        elif element.name in ("guid", "id"):
            is_link = text.startswith(("http://", "https://"))
            self._links.setdefault("id", text if is_link else "")
            self._said[element.name] = text
        elif element.name in _TAGS:
            self._tags.append(element.attributes.get("term") or text)
        elif text:
            self._said.setdefault(element.name, text[:_MOST_KEPT])

    def bookmark(self) -> Bookmark:
        """The item as a link."""
        row = Row(self._said)
        url = first_of(self._links.get(each, "") for each in ("alternate", "about", "via", "id"))
        return row.bookmark(
            url,
            title=row.text("title"),
            added_at=row.moment(*_DATES),
            tags=tuple(dict.fromkeys(filter(None, (each.strip() for each in self._tags)))),
        )


def _json_item(row: Row) -> Bookmark:
    own = row.text("externalurl")
    return row.bookmark(
        own or row.text("url", "id"),
        title=row.text("title"),
        note=row.text("summary"),
        added_at=row.moment("datepublished", "datemodified"),
        tags=row.names("tags"),
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
        said: str = json.loads(string, strict=False)
    except ValueError:
        return ""
    return said
