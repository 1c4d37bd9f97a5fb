"""MHTML (RFC 2557): one page as a browser saved it, with its address, title and day."""

from collections.abc import Iterator
from email import policy
from email.errors import MessageError
from email.parser import HeaderParser

from archiver.formats.dates import parse_date
from archiver.formats.document_kind import is_mhtml
from archiver.formats.given_file import GivenFile
from archiver.formats.importer import Importer
from archiver.formats.rows import Row, first_of
from archiver.model.bookmark import Bookmark, unreadable

_NAMES = ("Snapshot-Content-Location", "Content-Location", "X-Snapshot-Content-Location")


def _read(file: GivenFile) -> Iterator[Bookmark]:
    """The page that it is."""
    try:
        header = HeaderParser(policy=policy.default).parsestr(file.text.lstrip(), headersonly=True)
        row = Row({name: str(value) for name, value in header.items()})
    except (MessageError, ValueError, LookupError, TypeError, AttributeError, IndexError):
        yield unreadable(file.name, "The head of this saved page can't be read.")
        return
    url = first_of(row.text(name.lower().replace("-", "")) for name in _NAMES)
    if not url:
        yield unreadable(file.name, "This saved page does not say where it was.")
        return
    row.drop("from", "contenttype", "mimeversion", "contenttransferencoding")
    title, date = row.text("subject"), row.text("date")
    yield row.bookmark(url, title=" ".join(title.split()), added_at=parse_date(date))


MHTML = Importer(
    "MHTML",
    lambda file: file.is_text and is_mhtml(file.text),
    _read,
    ("mhtml", "mht"),
    "a page that Chrome, Edge or Outlook saved as one file",
)
