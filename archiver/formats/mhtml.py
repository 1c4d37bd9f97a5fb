"""MHTML (RFC 2557): one page as a browser saved it, with its address, title, day and parts."""

from collections.abc import Iterator

from archiver.formats.dates import parse_date
from archiver.formats.file_head import is_mhtml
from archiver.formats.given_file import GivenFile
from archiver.formats.importer import Importer
from archiver.formats.mime_parts import mime_parts, page_of, read_head
from archiver.formats.rows import Row, first_of
from archiver.model.bookmark import Bookmark, unreadable
from archiver.model.kept_page import KeptPage
from archiver.model.message import marked

MOST_BYTES = 64 << 20
"""A larger file is a link and no page."""
_NAMES = ("Snapshot-Content-Location", "Content-Location", "X-Snapshot-Content-Location")
_NO_HEAD = marked("The head of this saved page can't be read.")
_NO_PLACE = marked("This saved page does not say where it was.")


def _read(file: GivenFile) -> Iterator[Bookmark]:
    """The page that it is."""
    head = read_head(file.text.lstrip())
    if not head:
        yield unreadable(file.name, _NO_HEAD)
        return
    row = Row({**head})
    url = first_of(row.text(name.lower().replace("-", "")) for name in _NAMES)
    if not url:
        yield unreadable(file.name, _NO_PLACE)
        return
    row.drop("from", "contenttype", "mimeversion", "contenttransferencoding")
    title, date = row.text("subject"), row.text("date")
    page = _page(file, url) or ""
    yield row.bookmark(url, title=" ".join(title.split()), added_at=parse_date(date), page=page)


def _page(file: GivenFile, url: str) -> KeptPage | None:
    data = file.stream().read(MOST_BYTES + 1)
    return page_of(mime_parts(data), url) if len(data) <= MOST_BYTES else None


MHTML = Importer(
    "MHTML",
    lambda file: file.is_text and is_mhtml(file.text),
    _read,
    ("mhtml", "mht"),
    marked("a page that Chrome, Edge or Outlook saved as one file"),
)
