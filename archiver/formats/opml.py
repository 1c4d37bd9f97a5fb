"""OPML: outlines of feeds and pages, nested; the page of a feed counts before the feed itself."""

from collections.abc import Iterator, Sequence

from archiver.formats.given_file import GivenFile
from archiver.formats.importer import Importer
from archiver.formats.rows import Row
from archiver.formats.xml_events import elements, is_xml
from archiver.model.bookmark import Bookmark
from archiver.model.folder_path import folder_path
from archiver.model.message import marked


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
