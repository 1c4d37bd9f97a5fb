"""Lists of feeds as OPML 2.0: what feed readers export and import, and what we keep."""

from collections.abc import Iterable, Iterator
from email.utils import format_datetime
from functools import partial
from io import BytesIO
from typing import BinaryIO
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from archiver.errors import InvalidUrl, UnreadableFile
from archiver.formats.given_file import GivenFile
from archiver.formats.opml import outlines
from archiver.formats.seeds import bounded_tags
from archiver.formats.xml_events import is_xml
from archiver.model.subscription import Subscription
from archiver.urls.parse import parse_url
from archiver.wire.text import for_xml

MOST_BYTES = 4 << 20
MOST_FEEDS = 5000
MOST_TITLE = 500


def read_subscriptions(content: bytes, name: str) -> list[Subscription]:
    """The feeds of an outline, each once, in order; what names none is passed over.

    Raises:
        UnreadableFile: it is no OPML, names too many, or is packed and too large.
    """
    file = GivenFile(
        BytesIO(content),
        name,
        spool=partial(_bounded, name=name, most=max(MOST_BYTES, len(content))),
    )
    if not is_xml(file, "opml"):
        raise UnreadableFile(
            "{name} is no OPML. Feed readers export it as a list of feeds.", name=name
        )
    file.seekable()
    found: dict[str, Subscription] = {}
    for each in _feeds(file):
        found.setdefault(each.url, each)
        if len(found) > MOST_FEEDS:
            raise UnreadableFile("{name} names more than {most} feeds.", name=name, most=MOST_FEEDS)
    return [*found.values()]


def _bounded(stream: BinaryIO, name: str, most: int) -> BinaryIO:
    content = stream.read(most + 1)
    if len(content) > most:
        raise UnreadableFile("{name} is larger than {most} bytes.", name=name, most=most)
    return BytesIO(content)


def _feeds(file: GivenFile) -> Iterator[Subscription]:
    for row, title, around in outlines(file):
        given = row.text("xmlurl")
        try:
            url = parse_url(given)
        except InvalidUrl:
            continue
        own = row.names("category", "categories")
        tags = dict.fromkeys((*own, *(each[:MOST_TITLE] for each in around if each)))
        yield Subscription(
            url=url,
            title="" if title in (given, url) else title[:MOST_TITLE],
            home=_address(row.text("htmlurl")),
            tags=bounded_tags(tuple(tags)),
            since=row.moment("created", "createdat"),
        )


def _address(given: str) -> str:
    """An address that may be led to; empty for any other, such as a script's."""
    try:
        return parse_url(given)
    except InvalidUrl:
        return ""


def write_subscriptions(subscriptions: Iterable[Subscription]) -> bytes:
    """The feeds as an OPML 2.0 document that any feed reader takes."""
    root = Element("opml", {"version": "2.0"})
    SubElement(SubElement(root, "head"), "title").text = "Feeds that are archived"
    body = SubElement(root, "body")
    for each in subscriptions:
        title = _line(each.title) or each.url
        attributes = {
            "type": "rss",
            "text": title,
            "title": title,
            "xmlUrl": each.url,
            "htmlUrl": _line(each.home),
            "category": ",".join(filter(None, map(_line, each.tags))),
            "created": format_datetime(each.since, usegmt=True) if each.since else "",
        }
        SubElement(body, "outline", {name: value for name, value in attributes.items() if value})
    indent(root)
    written: bytes = tostring(root, encoding="utf-8", xml_declaration=True)
    return written


def _line(text: str) -> str:
    """Text as an attribute holds it: on one line."""
    return " ".join(for_xml(text).split())
