"""A page that SingleFile saved: HTML whose first comment says where it was, and when.

One that unpacks itself is HTML with a zip archive behind, which holds the page and its files.
"""

import re
from collections.abc import Iterator
from datetime import UTC, datetime

from archiver.formats.dates import sensible
from archiver.formats.given_file import GivenFile
from archiver.formats.html_items import plain_text
from archiver.formats.importer import Importer
from archiver.formats.kept_pages import MOST_PAGE, page_with_files
from archiver.formats.refusal import is_binary
from archiver.formats.rows import Row
from archiver.formats.zip_members import Members
from archiver.model.bookmark import Bookmark
from archiver.model.kept_page import KeptPage
from archiver.model.message import marked

_MARK = re.compile(
    r"<!--\s{0,99}Page saved with SingleFile\s(.{0,10000}?)-->", re.DOTALL | re.IGNORECASE
)
_URL = re.compile(r"^\s*url:\s*(\S+)", re.MULTILINE | re.IGNORECASE)
_DATE = re.compile(r"^\s*saved date:\s*(.+?)\s*$", re.MULTILINE | re.IGNORECASE)
_DAY = re.compile(r"\w{3} (\w{3} \d\d? \d{4} \d\d:\d\d:\d\d) GMT([+-]\d{4})")
_UNPACKS_ITSELF = re.compile(r"<html[^<>]{0,500}?\sdata-sfz\b", re.IGNORECASE)
_MOST_OPENING = 4_000
_PAGE = "index.html"
_TITLE = re.compile(r"<title[^>]*>([^<]{0,4000})", re.IGNORECASE)


def _read(file: GivenFile) -> Iterator[Bookmark]:
    mark = _MARK.search(file.text)
    url = _URL.search(mark[1]) if mark else None
    if mark is None or url is None:
        return
    date = _DATE.search(mark[1])
    title = _TITLE.search(file.text)
    page = _unpacked(file) if _unpacks_itself(file) else "".join(file.chunks())
    yield Row({}).bookmark(
        url[1],
        title=plain_text(title[1]) if title else "",
        added_at=_moment(date[1]) if date else None,
        page=page,
    )


def _moment(text: str) -> datetime | None:
    """A day as JavaScript's ``Date`` writes it."""
    found = _DAY.match(text)
    if found is None:
        return None
    try:
        moment = datetime.strptime(f"{found[1]} {found[2]}", "%b %d %Y %H:%M:%S %z")
    except ValueError:
        return None
    return sensible(moment.astimezone(UTC))


def _unpacked(file: GivenFile) -> KeptPage | str:
    """The page in the archive; nothing where that is damaged, as all else only unpacks it."""
    packed = Members(file.seekable())
    content = packed.read(_PAGE, MOST_PAGE)
    files = {each: each for each in packed.names if each != _PAGE}
    return page_with_files(content, packed, files) if content else ""


def _unpacks_itself(file: GivenFile) -> bool:
    return _UNPACKS_ITSELF.search(file.text, 0, _MOST_OPENING) is not None


def _fits(file: GivenFile) -> bool:
    mark = None
    if _unpacks_itself(file) or not is_binary(file):
        mark = _MARK.search(file.text)
    return mark is not None and _URL.search(mark[1]) is not None


SINGLE_FILE = Importer(
    "SingleFile HTML", _fits, _read, ("html",), marked("the extension SingleFile: a page it saved")
)
