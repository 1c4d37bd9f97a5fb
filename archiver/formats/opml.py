"""OPML: outlines of feeds and pages, nested; the page of a feed counts before the feed itself."""

from collections.abc import Iterator

from archiver.formats.given_file import GivenFile
from archiver.formats.importer import Importer
from archiver.formats.rows import Row
from archiver.formats.xml_events import elements, is_xml
from archiver.model.bookmark import Bookmark
from archiver.model.folder_path import folder_path


def _read(file: GivenFile) -> Iterator[Bookmark]:
    folders: list[str] = []
    for element in elements(file):
        if element.name != "outline":
            continue
        if element.is_end:
            folders.pop()
            continue
        row = Row(element.attributes)
        url = row.text("htmlurl", "url", "xmlurl", "href")
        path = folder_path(folders)
        title = row.text("title", "text")
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
        folders.append(title)


OPML = Importer(
    "OPML",
    lambda file: is_xml(file, "opml"),
    _read,
    ("opml",),
    "the subscriptions of any feed reader, and outliners",
)
