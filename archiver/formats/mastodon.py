"""Mastodon's bookmarks and likes: a collection of ActivityPub, mostly of addresses alone."""

from collections.abc import Iterator

from archiver.formats.given_file import GivenFile
from archiver.formats.importer import Importer
from archiver.formats.json_values import JsonText
from archiver.formats.row_importers import bookmarks_of
from archiver.formats.rows import Row, text_of
from archiver.model.annotation import Annotation
from archiver.model.bookmark import Bookmark
from archiver.model.message import marked


def _read(file: GivenFile) -> Iterator[Bookmark]:
    for name, value in JsonText(file.chunks()).members("orderedItems"):
        if isinstance(value, Bookmark):
            yield value
        elif name == "orderedItems" and isinstance(value, str):
            yield Bookmark(Annotation(value))
        elif name == "orderedItems":
            yield from bookmarks_of(iter([value]), _activity)


def _activity(row: Row) -> Bookmark:
    within = row.peek("object")
    inner = within if isinstance(within, dict) else {}
    url = text_of(within) or text_of(inner.get("url")) or text_of(inner.get("id"))
    return row.bookmark(url or row.text("url", "id"), added_at=row.moment("published"))


MASTODON = Importer(
    "Mastodon JSON",
    lambda file: "orderedItems" in file.json_paths,
    _read,
    ("json",),
    marked("Mastodon: the bookmarks and likes of an archive; its bookmarks.csv is plain text"),
)
