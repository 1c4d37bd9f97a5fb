"""OPML in and out: outlines of feeds and pages, and the hosts of entries."""

from collections.abc import Iterator, Sequence
from email.utils import format_datetime
from xml.sax.saxutils import escape, quoteattr

from archiver.formats.given_file import GivenFile
from archiver.formats.importer import Importer
from archiver.formats.list_writer import Heading, ListForm, Order
from archiver.formats.rows import Row
from archiver.formats.xml_events import elements, is_xml
from archiver.model.bookmark import Bookmark
from archiver.model.exported import Exported
from archiver.model.folder_path import folder_path
from archiver.model.message import marked
from archiver.wire.text import for_xml

# OPML: outlines of feeds and pages, nested; the page of a feed counts before the feed itself.


def outlines(file: GivenFile) -> Iterator[tuple[Row, str, Sequence[str]]]:
    """Each outline of an OPML file: its attributes, its title, and the titles it lies under."""
    around: list[str] = []
    for element in elements(file):
        if element.name != "outline":
            continue
        if element.is_end:
            around.pop()
            continue
        row = Row(element.attributes)
        title = row.text("title", "text")
        yield row, title, around
        around.append(title)


def _read(file: GivenFile) -> Iterator[Bookmark]:
    for row, title, around in outlines(file):
        url = row.text("htmlurl", "url", "xmlurl", "href")
        path = folder_path(around)
        if url:
            row.drop("type")
            yield row.bookmark(
                url,
                title=title,
                note=row.text("description"),
                added_at=row.moment("created", "createdat"),
                tags=row.names("category", "categories"),
                folders=(path,) if path else (),
            )


OPML = Importer(
    "OPML",
    lambda file: is_xml(file, "opml"),
    _read,
    ("opml",),
    marked("the subscriptions of any feed reader, and outliners"),
)


# The hosts of entries as OPML 2.0 (http://opml.org/spec2.opml), for what follows sites.


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

    def item(self, exported: Exported, place: str) -> str:
        name = quoteattr(place)
        scheme = exported.entry.url.partition(":")[0]
        url = quoteattr(f"{scheme}://{place}/")
        return f'<outline type="link" text={name} url={url} htmlUrl={url}/>\n'

    def closing(self) -> str:
        return "</body>\n</opml>\n"


OPML_HOSTS = ListForm(_Hosts, Order.HOSTS)
