"""The XML of Delicious, which Pinboard and others still write: ``<posts><post href="…"/>``."""

from collections.abc import Iterator

from archiver.formats.given_file import GivenFile
from archiver.formats.importer import Importer
from archiver.formats.pinboard import post
from archiver.formats.row_importers import bookmarks_of
from archiver.formats.xml_events import elements, is_xml
from archiver.model.bookmark import Bookmark
from archiver.model.message import marked


def _read(file: GivenFile) -> Iterator[Bookmark]:
    for element in elements(file):
        if element.name == "post" and not element.is_end:
            yield from bookmarks_of(iter([dict(element.attributes)]), post)


DELICIOUS_XML = Importer(
    marked("Pinboard or Delicious XML"),
    lambda file: is_xml(file, "posts"),
    _read,
    ("xml",),
    marked("Pinboard: Settings, Backup, XML; Delicious, and what speaks its API"),
)
