"""Outlines: OPML, XBEL and subscription lists."""

from collections.abc import Iterable, Iterator, Sequence
from email.utils import format_datetime
from functools import partial
from io import BytesIO
from typing import BinaryIO
from xml.etree.ElementTree import Element, SubElement, indent, tostring
from xml.sax.saxutils import escape, quoteattr

from archiver.config import show_size
from archiver.errors import InvalidUrl, UnreadableFile
from archiver.formats.importer import Importer, bookmarks_of
from archiver.formats.list_writer import Heading, ListForm, Order
from archiver.formats.other_programs import PINBOARD_FIELDS
from archiver.formats.rows import Row
from archiver.formats.seeds import bounded_tags
from archiver.formats.source_file import SourceFile
from archiver.formats.xml_events import elements, is_xml_file
from archiver.http.text_decoders import for_xml
from archiver.http.urls import parse_url
from archiver.model.entry import ExportedEntry
from archiver.model.feed import Subscription
from archiver.model.message import marked
from archiver.model.seed import Bookmark

# OPML: nested outlines of feeds and pages. For a feed, the URL of its website is imported, or the
# URL of the feed if the file does not contain that of the website.


def outlines(file: SourceFile) -> Iterator[tuple[Row, str, Sequence[str]]]:
    """Yield (attributes, title, titles of the parents) of each outline in an OPML file."""
    enclosing: list[str] = []
    for element in elements(file):
        if element.name != "outline":
            continue
        if element.is_end:
            enclosing.pop()
            continue
        row = Row(element.attributes)
        title = row.text("title", "text")
        yield row, title, enclosing
        enclosing.append(title)


def _read(file: SourceFile) -> Iterator[Bookmark]:
    for row, title, enclosing in outlines(file):
        url = row.text("htmlurl", "url", "xmlurl", "href")
        if url:
            row.drop("type")
            yield row.bookmark(
                url,
                title=title,
                note=row.text("description"),
                added_at=row.moment("created", "createdat"),
                tags=row.names("category", "categories"),
                folder=enclosing,
            )


OPML = Importer(
    "OPML",
    lambda file: is_xml_file(file, "opml"),
    _read,
    ("opml",),
    marked("subscriptions from any feed reader, and outlines"),
)


# Export of the hosts of entries as OPML 2.0 (http://opml.org/spec2.opml), for feed readers.


class _Hosts:
    def __init__(self, heading: Heading) -> None:
        self._heading = heading

    def opening(self) -> str:
        title = escape(for_xml(self._heading.title))
        created = format_datetime(self._heading.begun_at, usegmt=True)
        return (
            '<?xml version="1.0" encoding="utf-8"?>\n<opml version="2.0">\n'
            f"<head><title>{title}</title><dateCreated>{created}</dateCreated></head>\n"
            "<body>\n"
        )

    def item(self, exported: ExportedEntry, place: str) -> str:
        name = quoteattr(place)
        scheme = exported.entry.url.partition(":")[0]
        url = quoteattr(f"{scheme}://{place}/")
        return f'<outline type="link" text={name} url={url} htmlUrl={url}/>\n'

    def closing(self) -> str:
        return "</body>\n</opml>\n"


OPML_HOSTS = ListForm(_Hosts, Order.HOSTS)

MAX_BYTES = 4 << 20
MAX_FEEDS = 5000
MAX_TITLE = 500


def read_subscriptions(content: bytes, name: str) -> list[Subscription]:
    """Return the feeds in an OPML file in order, without duplicates; skip other outlines.

    Raises:
        UnreadableFile: the file is not OPML, has too many feeds, or is too large.
    """
    file = SourceFile(
        BytesIO(content),
        name,
        spool=partial(_bounded, name=name, most=max(MAX_BYTES, len(content))),
    )
    if not is_xml_file(file, "opml"):
        raise UnreadableFile(
            "{name} is not an OPML file. Export the list of feeds from your feed reader as OPML.",
            name=name,
        )
    file.seekable()
    subscriptions: dict[str, Subscription] = {}
    for each in _feeds(file):
        subscriptions.setdefault(each.url, each)
        if len(subscriptions) > MAX_FEEDS:
            raise UnreadableFile(
                "{name} contains more than {most} feeds. Split it into several files.",
                name=name,
                most=MAX_FEEDS,
            )
    return [*subscriptions.values()]


def _bounded(stream: BinaryIO, name: str, most: int) -> BinaryIO:
    content = stream.read(most + 1)
    if len(content) > most:
        raise UnreadableFile("{name} is larger than {most}.", name=name, most=show_size(most))
    return BytesIO(content)


def _feeds(file: SourceFile) -> Iterator[Subscription]:
    for row, title, enclosing in outlines(file):
        address = row.text("xmlurl")
        try:
            url = parse_url(address)
        except InvalidUrl:
            continue
        categories = row.names("category", "categories")
        tags = dict.fromkeys((*categories, *(each[:MAX_TITLE] for each in enclosing if each)))
        yield Subscription(
            url=url,
            title="" if title in (address, url) else title[:MAX_TITLE],
            home=_http_url(row.text("htmlurl")),
            tags=bounded_tags(tuple(tags)),
            since=row.moment("created", "createdat"),
        )


def _http_url(text: str) -> str:
    """Return an address if it is safe to link to; empty for ``javascript:`` and the like."""
    try:
        return parse_url(text)
    except InvalidUrl:
        return ""


def write_subscriptions(subscriptions: Iterable[Subscription]) -> bytes:
    """Return the feeds as an OPML 2.0 document."""
    root = Element("opml", {"version": "2.0"})
    SubElement(SubElement(root, "head"), "title").text = "Feeds that are archived"
    body = SubElement(root, "body")
    for each in subscriptions:
        title = _one_line(each.title) or each.url
        attributes = {
            "type": "rss",
            "text": title,
            "title": title,
            "xmlUrl": each.url,
            "htmlUrl": _one_line(each.home),
            "category": ",".join(filter(None, map(_one_line, each.tags))),
            "created": format_datetime(each.since, usegmt=True) if each.since else "",
        }
        SubElement(body, "outline", {name: value for name, value in attributes.items() if value})
    indent(root)
    written: bytes = tostring(root, encoding="utf-8", xml_declaration=True)
    return written


def _one_line(text: str) -> str:
    """Return text as an XML attribute value on one line."""
    return " ".join(for_xml(text).split())


def _read_xbel(file: SourceFile) -> Iterator[Bookmark]:
    folders: list[str] = []
    row: Row | None = None
    title = note = ""
    for element in elements(file):
        if element.name == "folder":
            folders = folders[:-1] if element.is_end else [*folders, ""]
        elif element.name == "bookmark" and not element.is_end:
            row, title, note = Row(element.attributes), "", ""
        elif element.name == "bookmark" and row is not None:
            yield _bookmark(row, title, note, folders)
            row = None
        elif element.is_end and element.name == "title":
            if row is not None:
                title = element.text
            elif folders:
                folders[-1] = element.text
        elif element.is_end and element.name == "desc" and row is not None:
            note = element.text.strip()


def _bookmark(row: Row, title: str, note: str, folders: list[str]) -> Bookmark:
    return row.bookmark(
        row.text("href"),
        title=title,
        note=note,
        added_at=row.moment("added"),
        tags=row.names("tags"),
        folder=folders,
    )


XBEL = Importer(
    "XBEL",
    lambda file: is_xml_file(file, "xbel"),
    _read_xbel,
    ("xbel", "xml"),
    marked("Konqueror, Falkon, qutebrowser tools, Floccus, buku"),
)


# XML of the former service Delicious, which Pinboard and others write: ``<posts><post href="…"/>``.


def _read_posts(file: SourceFile) -> Iterator[Bookmark]:
    posts = (each for each in elements(file) if each.name == "post" and not each.is_end)
    return bookmarks_of((dict(each.attributes) for each in posts), PINBOARD_FIELDS.bookmark)


DELICIOUS_XML = Importer(
    marked("Pinboard or Delicious XML"),
    lambda file: is_xml_file(file, "posts"),
    _read_posts,
    ("xml",),
    marked("Pinboard: Settings, Backup, XML; also Delicious and compatible services"),
)
