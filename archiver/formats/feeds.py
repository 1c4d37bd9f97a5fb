"""Import of feed items, and export of lists as feeds."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from html import unescape
from io import BytesIO
from typing import Any
from urllib.parse import urljoin
from xml.etree.ElementTree import Element, SubElement, tostring
from xml.sax.saxutils import escape

from archiver.formats.importer import Importer, bookmarks_of
from archiver.formats.json_values import JsonText
from archiver.formats.list_writer import Heading, ListForm
from archiver.formats.rows import Row, first_text, names_of, objects_of, text_of
from archiver.formats.saved_pages import MAX_PAGE
from archiver.formats.source_file import HEAD_BYTES, SourceFile, decode_head, joined
from archiver.formats.xml_events import is_xml_file, xml_text
from archiver.http.text_decoders import for_xml
from archiver.http.timestamps import write_iso
from archiver.model.entry import Entry, ExportedEntry
from archiver.model.message import marked
from archiver.model.seed import Bookmark

MAX_CHARACTERS = 32 << 20
"""Maximum characters of an RSS or Atom feed, because feedparser keeps all of it in memory."""
_DATES = ("published", "created", "updated")
_HAS_PARAGRAPHS = re.compile(
    r"<(?:p|div|h[1-6]|ul|ol|table|blockquote|pre|figure)\b", re.IGNORECASE
)
_BEFORE_FEEDBURNER = "feedburner_origlink"
"""Field with the address of an item whose link FeedBurner replaced by a redirect."""
_TAKEN = frozenset(
    {"title", "link", "links", "tags", "content", "guidislink", "author", _BEFORE_FEEDBURNER}
)
_DERIVED = ("_detail", "_parsed")
"""Suffixes of fields that feedparser derives from others."""
_RSS_NAMESPACE = re.compile(
    r"""["'](?:http://purl\.org/rss/1\.0/|http://my\.netscape\.com/rdf/simple/0\.9/)\s*["']"""
)
"""Namespace of RSS with its quotes.

The final quote excludes namespaces of RSS modules, which begin with the same characters. Zotero's
RDF uses such a namespace.
"""
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]{0,20}:", re.IGNORECASE)
_JSON_CONTENTS = frozenset({"items[].content_html", "items[].content_text"})
_MAX_FIELD = 2000
_MAX_VALUES = 20
_OTHER_RELATIONS = ("related", "enclosure", "self")
"""Relations of links that are used if an item has no page, such as the audio file of a podcast."""
_HTML_TYPES = frozenset({"text/html", "application/xhtml+xml"})
_XML_TITLE = re.compile(r"<title[^<>]*>\s*(?:<!\[CDATA\[)?([^<\]]*)", re.IGNORECASE)
_JSON_TITLE = re.compile(r'"title"\s*:\s*("(?:[^"\\]|\\.){0,2000}")')


def _read(file: SourceFile) -> Iterator[Bookmark]:
    import feedparser  # noqa: PLC0415 - slow to import; most files are not feeds

    # Never pass a string: feedparser takes it for a file name or a URL to request.
    feed = feedparser.parse(
        BytesIO(joined(xml_text(file), file.name, MAX_CHARACTERS).encode()),
        response_headers={
            "content-type": "application/xml; charset=utf-8",
            "content-location": file.url,
        },
        resolve_relative_uris=False,  # articles are processed like any page
        sanitize_html=False,  # for the same reason
    )
    base = file.url or _base_of(dict(feed.feed))
    for entry in feed.entries:
        yield _item(dict(entry), base, _shortest_article(file))


def _base_of(feed: Mapping[str, Any]) -> str:
    """Return the feed's own URL, or the URL of its site."""
    self_links = (
        each.get("href", "") for each in feed.get("links", ()) if each.get("rel") == "self"
    )
    return first_text((*self_links, str(feed.get("link", ""))))


def _shortest_article(file: SourceFile) -> int:
    """Return the length from which content becomes an article, not a field of the source record.

    Items of a followed feed have no source record.
    """
    return 1 if file.url else _MAX_FIELD + 1


def _item(entry: Mapping[str, Any], base: str, shortest: int) -> Bookmark:
    links: dict[str, list[str]] = {}
    # Links to HTML come first, since other types are other representations of the same page.
    for each in sorted(entry.get("links", ()), key=_is_not_a_page):
        _add_name(links.setdefault(each.get("rel", "alternate"), []), each.get("href", ""))
    identifier = str(entry.get("id", ""))
    url = first_text(
        (
            text_of(entry.get(_BEFORE_FEEDBURNER)),
            *links.get("alternate", ())[:1],
            text_of(entry.get("link")),
            *links.get("via", ())[:1],
            identifier if identifier.startswith(("http://", "https://")) else "",
            *(hrefs[0] for rel in _OTHER_RELATIONS if (hrefs := links.get(rel))),
        )
    )
    article = _article(entry, shortest)
    fields = {
        name: _field_value(value) for name, value in entry.items() if _is_metadata_field(name)
    }
    if not article:
        fields["content"] = _field_value(entry.get("content"))
    if fields.get("summary") in (article[:_MAX_FIELD], fields.get("content")):
        fields["summary"] = ""
    row = Row({name: value for name, value in fields.items() if value})
    for rel, addresses in links.items():
        other_addresses = [each for each in addresses if each != url]
        if other_addresses:
            row.put(
                f"link {rel}", other_addresses[0] if len(other_addresses) == 1 else other_addresses
            )
    if identifier == url:
        row.drop("id")
    return row.bookmark(
        _absolute(url, base),
        title=text_of(entry.get("title")),
        added_at=row.moment(*_DATES),
        tags=names_of([each.get("term") for each in entry.get("tags", ()) if each.get("term")]),
        page=article,
    )


def _is_not_a_page(link: Mapping[str, Any]) -> bool:
    return link.get("type", "text/html") not in _HTML_TYPES


def _is_metadata_field(name: str) -> bool:
    return name not in _TAKEN and not name.endswith(_DERIVED)


def _field_value(value: Any) -> str | list[str]:
    """Return a field's value for the source record: a text, or a list of names."""
    if isinstance(value, Mapping):
        parts = (text_of(value.get(each)) for each in ("name", "email", "url", "href", "value"))
        return " ".join(dict.fromkeys(filter(None, parts)))
    if isinstance(value, list):
        values: list[str] = []
        for each in value:
            _add_name(values, "".join(_field_value(each)))
        return values[0] if len(values) == 1 else values
    return text_of(value).strip()[:_MAX_FIELD]


def _add_name(values: list[str], text: str) -> None:
    if text and text not in values and len(values) < _MAX_VALUES:
        values.append(text)


def _article(entry: Mapping[str, Any], shortest: int) -> str:
    """Return an item's HTML article, or its long HTML summary; else empty."""
    contents = [(each, shortest) for each in entry.get("content", ())]
    for each, least in (*contents, (entry.get("summary_detail") or {}, _MAX_FIELD + 1)):
        text = text_of(each.get("value"))
        if each.get("type") in _HTML_TYPES and len(text) >= least and has_article(text):
            return text
    return ""


def has_article(text: str) -> bool:
    """Return whether an item's text is an HTML article within the length limits."""
    return len(text) <= MAX_PAGE and _HAS_PARAGRAPHS.search(text) is not None


def _read_json(file: SourceFile) -> Iterator[Bookmark]:
    base = file.url

    def items() -> Iterator[Any]:
        nonlocal base
        for name, value in JsonText(file.chunks()).members("items"):
            if name in ("items", ""):
                yield value
            elif name in ("feed_url", "home_page_url"):
                base = base or text_of(value)

    return bookmarks_of(items(), lambda row: _json_item(row, base, _shortest_article(file)))


def _json_item(row: Row, base: str, shortest: int) -> Bookmark:
    external_url = row.text("externalurl")
    article = text_of(row.peek("contenthtml"))
    is_long = len(article) >= shortest and has_article(article)
    if is_long:
        row.drop("contenthtml")
    identifier = text_of(row.peek("id"))
    address = external_url or row.text("url")
    if not address:
        named = identifier if _SCHEME.match(identifier) else ""
        address = named or _attachment(row.peek("attachments")) or identifier
    if address == identifier:
        row.drop("id")
    return row.bookmark(
        _absolute(address, base),
        title=row.text("title"),
        note=row.text("summary"),
        added_at=row.moment("datepublished", "datemodified"),
        tags=row.names("tags"),
        page=article if is_long else "",
    )


def _attachment(attachments: Any) -> str:
    """Return the URL of the first attachment."""
    return first_text(text_of(each.get("url")) for each in objects_of(attachments))


def _absolute(address: str, base: str) -> str:
    """Resolve an address against the feed's URL; return it unchanged if that is unknown."""
    is_relative = address and base and not _SCHEME.match(address)
    try:
        return urljoin(base, address) if is_relative else address
    except ValueError:
        return address


def _is_json_feed(file: SourceFile) -> bool:
    if {"version", "items"} <= file.json_paths and "jsonfeed.org" in file.text[:1000]:
        return True
    # The members may come in any order, so the version may come after the items.
    is_feed = {"items", "items[].id"} <= file.json_paths
    return is_feed and not _JSON_CONTENTS.isdisjoint(file.json_paths)


def _is_feed(file: SourceFile) -> bool:
    if is_xml_file(file, "rdf") and file.root:
        return _RSS_NAMESPACE.search(file.root.attributes) is not None
    return is_xml_file(file, "rss", "feed")


FEED = Importer(
    marked("RSS or Atom"),
    _is_feed,
    _read,
    ("rss", "atom", "xml"),
    marked("any feed; each item becomes a link"),
    has_other_addresses=True,
)
JSON_FEED = Importer(
    "JSON Feed",
    _is_json_feed,
    _read_json,
    ("json",),
    marked("any JSON Feed; each item becomes a link"),
    has_other_addresses=True,
)

FORMS = frozenset({FEED.name, JSON_FEED.name})
"""Names of the feed formats."""


def feed_title(content: bytes) -> str:
    """Return a feed's title; empty if it has none.

    Args:
        content: the content of the feed; only its head is read.
    """
    head = decode_head(content[:HEAD_BYTES])
    if head.lstrip("\ufeff \t\r\n").startswith("{"):
        match = _JSON_TITLE.search(head)
        return _unescaped(match[1]).strip() if match else ""
    match = _XML_TITLE.search(head)
    return " ".join(unescape(match[1]).split())[:_MAX_FIELD] if match else ""


def _unescaped(string: str) -> str:
    """Return the value of a JSON string; empty for an invalid escape."""
    try:
        text: str = json.loads(string, strict=False)
    except ValueError:
        return ""
    return text


_ATOM = "http://www.w3.org/2005/Atom"


@dataclass(frozen=True, slots=True)
class Feed:
    """List served as a feed.

    Attributes:
        title: the title of the list.
        origin: ``http(s)://host[:port]`` of the service.
        path: the path of the feed with its query.
        home: the path of the list's page.
        items: newest first.
    """

    title: str
    origin: str
    path: str
    home: str
    items: Sequence[Entry]


class _AtomList:
    """Writer of a whole list as an Atom file.

    The file is not served, so it links to the original pages instead of the archived ones.
    """

    def __init__(self, heading: Heading) -> None:
        self._heading = heading

    def opening(self) -> str:
        updated = write_iso(self._heading.begun_at)
        title = escape(for_xml(self._heading.title))
        return (
            f'<?xml version="1.0" encoding="utf-8"?>\n<feed xmlns="{_ATOM}"><title>{title}</title>'
            f"<id>urn:archiver:export:{updated}</id><updated>{updated}</updated>"
            "<author><name>archiver</name></author>\n"
        )

    def item(self, exported: ExportedEntry, _: str) -> str:
        node = Element("entry")
        _add_entry(node, exported.entry, origin=None)
        text: str = tostring(node, encoding="unicode")
        return f"{text}\n"

    def closing(self) -> str:
        return "</feed>\n"


ATOM = ListForm(_AtomList)


def write_atom(feed: Feed) -> bytes:
    """Return the feed as an Atom document."""
    root = Element("feed", {"xmlns": _ATOM})
    _add_text(root, "title", feed.title)
    _add_text(root, "id", feed.origin + feed.home)
    newest = max((each.changed_at for each in feed.items), default=datetime.fromtimestamp(0, UTC))
    _add_text(root, "updated", write_iso(newest))
    _add_text(SubElement(root, "author"), "name", "archiver")
    SubElement(root, "link", {"rel": "self", "href": feed.origin + feed.path})
    SubElement(root, "link", {"rel": "alternate", "href": feed.origin + feed.home})
    for entry in feed.items:
        _add_entry(SubElement(root, "entry"), entry, feed.origin)
    written: bytes = tostring(root, encoding="utf-8", xml_declaration=True)
    return written


def write_json_feed(feed: Feed) -> bytes:
    """Return the feed as a JSON Feed document."""
    document = {
        "version": "https://jsonfeed.org/version/1.1",
        "title": feed.title,
        "home_page_url": feed.origin + feed.home,
        "feed_url": feed.origin + feed.path,
        "items": [_feed_item(each, feed.origin) for each in feed.items],
    }
    return json.dumps(document, ensure_ascii=False).encode("utf-8", "replace")


def _add_entry(node: Element, entry: Entry, origin: str | None) -> None:
    _add_text(node, "title", entry.title or entry.url)
    _add_text(node, "id", _id(entry))
    _add_text(node, "published", write_iso(entry.annotation.saved_at))
    _add_text(node, "updated", write_iso(entry.changed_at))
    if origin is None:
        SubElement(node, "link", {"rel": "alternate", "href": entry.url})
    else:
        SubElement(node, "link", {"rel": "alternate", "href": _page(entry, origin)})
        SubElement(node, "link", {"rel": "via", "href": entry.url})
    for tag in entry.annotation.tags:
        SubElement(node, "category", {"term": for_xml(tag)})
    if entry.annotation.note:
        _add_text(node, "summary", entry.annotation.note)


def _feed_item(entry: Entry, origin: str) -> dict[str, Any]:
    return {
        "id": _id(entry),
        "url": _page(entry, origin),
        "external_url": entry.url,
        "title": entry.title or entry.url,
        "content_text": entry.annotation.note,
        "date_published": write_iso(entry.annotation.saved_at),
        "date_modified": write_iso(entry.changed_at),
        "tags": [*entry.annotation.tags],
    }


def _id(entry: Entry) -> str:
    return f"urn:archiver:{entry.hash_url}"


def _page(entry: Entry, origin: str) -> str:
    return f"{origin}/{entry.hash_url}/"


def _add_text(parent: Element, name: str, text: str) -> None:
    SubElement(parent, name).text = for_xml(text)
