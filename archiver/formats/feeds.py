"""Lists as feeds: Atom (RFC 4287) and JSON Feed 1.1."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from xml.etree.ElementTree import Element, SubElement, tostring
from xml.sax.saxutils import escape

from archiver.formats.list_writer import Heading, ListForm
from archiver.model.entry import Entry
from archiver.model.exported import Exported
from archiver.wire.moments import write_iso
from archiver.wire.text import for_xml

_ATOM = "http://www.w3.org/2005/Atom"


@dataclass(frozen=True, slots=True)
class FeedItem:
    """An entry, and when it was captured last, or saved if it was never captured (UTC)."""

    entry: Entry
    changed_at: datetime


@dataclass(frozen=True, slots=True)
class Feed:
    """A list to be followed.

    Attributes:
        title: of the list.
        origin: ``http(s)://host[:port]`` of the service.
        path: of the feed itself, with its query.
        home: the path of the list as a page.
        items: newest first.
    """

    title: str
    origin: str
    path: str
    home: str
    items: Sequence[FeedItem]


class _AtomList:
    """A whole list as one Atom document, which nobody serves: it leads to the pages themselves."""

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

    def item(self, exported: Exported, _: str) -> str:
        node, entry = Element("entry"), exported.entry
        _add_entry(node, FeedItem(entry, entry.changed_at), origin=None)
        text: str = tostring(node, encoding="unicode")
        return f"{text}\n"

    def closing(self) -> str:
        return "</feed>\n"


ATOM = ListForm(_AtomList)


def write_atom(feed: Feed) -> bytes:
    """The feed as an Atom document."""
    root = Element("feed", {"xmlns": _ATOM})
    _add(root, "title", feed.title)
    _add(root, "id", feed.origin + feed.home)
    newest = max((each.changed_at for each in feed.items), default=datetime.fromtimestamp(0, UTC))
    _add(root, "updated", write_iso(newest))
    _add(SubElement(root, "author"), "name", "archiver")
    SubElement(root, "link", {"rel": "self", "href": feed.origin + feed.path})
    SubElement(root, "link", {"rel": "alternate", "href": feed.origin + feed.home})
    for item in feed.items:
        _add_entry(SubElement(root, "entry"), item, feed.origin)
    written: bytes = tostring(root, encoding="utf-8", xml_declaration=True)
    return written


def write_json_feed(feed: Feed) -> bytes:
    """The feed as a JSON Feed document."""
    document = {
        "version": "https://jsonfeed.org/version/1.1",
        "title": feed.title,
        "home_page_url": feed.origin + feed.home,
        "feed_url": feed.origin + feed.path,
        "items": [_item(each, feed.origin) for each in feed.items],
    }
    return json.dumps(document, ensure_ascii=False).encode("utf-8", "replace")


def _add_entry(node: Element, item: FeedItem, origin: str | None) -> None:
    entry = item.entry
    _add(node, "title", entry.title or entry.url)
    _add(node, "id", _id(entry))
    _add(node, "published", write_iso(entry.annotation.saved_at))
    _add(node, "updated", write_iso(item.changed_at))
    if origin is None:
        SubElement(node, "link", {"rel": "alternate", "href": entry.url})
    else:
        SubElement(node, "link", {"rel": "alternate", "href": _page(entry, origin)})
        SubElement(node, "link", {"rel": "via", "href": entry.url})
    for tag in entry.annotation.tags:
        SubElement(node, "category", {"term": for_xml(tag)})
    if entry.annotation.note:
        _add(node, "summary", entry.annotation.note)


def _item(item: FeedItem, origin: str) -> dict[str, Any]:
    entry = item.entry
    return {
        "id": _id(entry),
        "url": _page(entry, origin),
        "external_url": entry.url,
        "title": entry.title or entry.url,
        "content_text": entry.annotation.note,
        "date_published": write_iso(entry.annotation.saved_at),
        "date_modified": write_iso(item.changed_at),
        "tags": [*entry.annotation.tags],
    }


def _id(entry: Entry) -> str:
    return f"urn:archiver:{entry.hash_url}"


def _page(entry: Entry, origin: str) -> str:
    return f"{origin}/{entry.hash_url}/"


def _add(parent: Element, name: str, text: str) -> None:
    SubElement(parent, name).text = for_xml(text)
