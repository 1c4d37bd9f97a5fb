"""Reader of pages saved to files: MHTML and SingleFile.

A self-extracting SingleFile page is HTML followed by a zip archive with the page and its files.
"""

import email
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email import policy
from email.errors import MessageError
from email.message import Message
from email.parser import HeaderParser
from itertools import islice

from archiver.formats.archive_members import Members
from archiver.formats.html_items import plain_text
from archiver.formats.importer import Importer
from archiver.formats.refusal import is_binary
from archiver.formats.rows import Row, first_text, parse_date, sensible
from archiver.formats.source_file import SourceFile, is_mhtml
from archiver.http.urls import join
from archiver.model.message import marked
from archiver.model.seed import ArchivedPage, ArchivedPart, Bookmark, part_url, unreadable

MAX_MIME_PARTS = 1000
_HTML = ("text/html", "application/xhtml+xml")
_WITH_REFERENCES = ("text/html", "application/xhtml+xml", "text/css", "image/svg+xml")
_CID = re.compile(rb"cid:([^\"'\s)>&\\]{1,300})")
_PARSE_ERRORS = (
    MessageError,
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    RecursionError,
)
"""Exceptions of the standard library for damaged headers and bodies."""


@dataclass(frozen=True, slots=True)
class MimePart:
    """Decoded part of a MIME message.

    Attributes:
        media_type: its Content-Type, with parameters.
        location: its Content-Location.
        content_id: its Content-ID, without brackets.
        content: its bytes.
    """

    media_type: str
    location: str
    content_id: str
    content: bytes

    @property
    def essence(self) -> str:
        """Return its media type without parameters."""
        return self.media_type.partition(";")[0].strip().lower()


def read_message_head(text: str) -> Mapping[str, str]:
    """Return the header fields of a message by lower-case name; empty if they are damaged."""
    try:
        return _fields(HeaderParser(policy=policy.default).parsestr(text, headersonly=True))
    except _PARSE_ERRORS:
        return {}


def mime_parts(data: bytes) -> list[MimePart]:
    """Return the parts of a message, up to ``MAX_MIME_PARTS``, without damaged parts."""
    try:
        # ``policy.default`` parses each header in quadratic time.
        message = email.message_from_bytes(data.lstrip(), policy=policy.compat32)
        parts = [*islice(message.walk(), MAX_MIME_PARTS)]
    except _PARSE_ERRORS:
        return []
    return [page for part in parts if not part.is_multipart() and (page := _part(part))]


def mhtml_page(parts: list[MimePart], url: str) -> ArchivedPage | None:
    """Return the HTML part whose location is ``url``, with all other parts of the message.

    Without such a part, the first HTML part is used. Return None if there is no HTML part.
    """
    pages = [each for each in parts if each.essence in _HTML]
    root = next((each for each in pages if each.location == url), None) or next(iter(pages), None)
    if root is None:
        return None
    places = {each.content_id: _part_address(each, url) for each in parts if each.content_id}
    resources = tuple(
        ArchivedPart(_part_address(each, url), each.media_type, _resolved(each, places))
        for each in parts
        if each is not root
    )
    return ArchivedPage(_resolved(root, places), root.media_type, resources)


def _fields(message: Message) -> dict[str, str]:
    return {name.lower(): str(value) for name, value in message.items()}


def _part(message: Message) -> MimePart | None:
    try:
        head = _fields(message)
        content = message.get_payload(decode=True)
    except _PARSE_ERRORS:
        return None
    if not isinstance(content, bytes):
        return None
    return MimePart(
        media_type=head.get("content-type", "application/octet-stream"),
        location=head.get("content-location", "").strip(),
        content_id=head.get("content-id", "").strip().strip("<>"),
        content=content,
    )


def _part_address(part: MimePart, url: str) -> str:
    """Return the URL of a part; its Content-Location may be relative to the page (RFC 2557 §5)."""
    place = join(url, part.location) if part.location else None
    return place or part_url(part.content)


def _resolved(part: MimePart, places: Mapping[str, str]) -> bytes:
    """Return the content of a part, with references by Content-ID replaced by URLs."""
    if part.essence not in _WITH_REFERENCES or not places:
        return part.content

    def resolve(match: re.Match[bytes]) -> bytes:
        place = places.get(match[1].decode("utf-8", "replace"))
        return place.encode() if place else match[0]

    return _CID.sub(resolve, part.content)


MAX_BYTES = 64 << 20
"""Maximum size of an MHTML file. A larger file is imported as a link without the page."""
_NAMES = ("Snapshot-Content-Location", "Content-Location", "X-Snapshot-Content-Location")
_NO_HEAD = marked("The header of this saved page cannot be read.")
_NO_PLACE = marked(
    "This saved page does not contain its URL. Upload it separately, and enter the URL there."
)


def _read(file: SourceFile) -> Iterator[Bookmark]:
    """Yield the page in an MHTML file, or the reason why it is unreadable."""
    head = read_message_head(file.text.lstrip())
    if not head:
        yield unreadable(file.name, _NO_HEAD)
        return
    row = Row({**head})
    parts = _parts(file)
    names = (row.text(name.lower().replace("-", "")) for name in _NAMES)
    url = first_text((*names, _place_of_page(parts)))
    if not url:
        yield unreadable(file.name, _NO_PLACE)
        return
    row.drop("from", "contenttype", "mimeversion", "contenttransferencoding")
    title, date = row.text("subject"), row.text("date")
    page = mhtml_page(parts, url) or ""
    yield row.bookmark(url, title=" ".join(title.split()), added_at=parse_date(date), page=page)


def _parts(file: SourceFile) -> list[MimePart]:
    data = file.stream().read(MAX_BYTES + 1)
    return mime_parts(data) if len(data) <= MAX_BYTES else []


def _place_of_page(parts: list[MimePart]) -> str:
    """Return the URL of the first HTML part; files of Internet Explorer state no other."""
    pages = (each.location for each in parts if each.essence in _HTML)
    return next((each for each in pages if each.startswith(("http://", "https://"))), "")


MHTML = Importer(
    "MHTML",
    lambda file: file.is_text and is_mhtml(file.text),
    _read,
    ("mhtml", "mht"),
    marked("a page saved as a single file by Chrome, Edge or Outlook"),
    has_other_addresses=True,
)

MAX_PAGE = 16 << 20
MAX_FILE = 64 << 20
"""Maximum size of a PDF or of a whole page in one file."""
MAX_PARTS_BYTES = 64 << 20
MAX_PARTS = 500
_MAX_SEARCHED = 1000
"""Maximum number of file names that are searched in a page; each search reads the whole page."""
HTML = "text/html"
_KINDS = {
    **dict.fromkeys(("jpg", "jpeg"), "image/jpeg"),
    **{each: f"image/{each}" for each in ("png", "gif", "webp", "avif", "bmp")},
    **{each: f"font/{each}" for each in ("woff", "woff2", "ttf", "otf")},
    "svg": "image/svg+xml",
    "ico": "image/vnd.microsoft.icon",
    "css": "text/css",
    "pdf": "application/pdf",
    "html": HTML,
    "htm": HTML,
    "mp4": "video/mp4",
    "mp3": "audio/mpeg",
}


def media_type_of_name(name: str) -> str:
    """Return the media type for a file name."""
    return _KINDS.get(name.rpartition(".")[2].lower(), "application/octet-stream")


def page_with_files(
    content: bytes, packed: Members, files: Mapping[str, str], media_type: str = HTML
) -> ArchivedPage:
    """Return an HTML page with the files that it refers to.

    Args:
        content: the content of the page.
        packed: the archive that contains the files.
        files: names of files in the archive, by the reference to them in the page.
        media_type: the media type of the page.
    """
    candidates = islice(files.items(), _MAX_SEARCHED)
    named = [each for each in candidates if each[0].encode() in content][:MAX_PARTS]
    parts = (
        (reference, media_type_of_name(name), packed.read(name, MAX_PARTS_BYTES))
        for reference, name in named
    )
    return page_with_parts(content, parts, media_type)


def page_with_parts(
    content: bytes, parts: Iterable[tuple[str, str, bytes]], media_type: str = HTML
) -> ArchivedPage:
    """Return an HTML page whose references point to its parts.

    Args:
        content: the content of the page.
        parts: (reference in the page, media type, bytes). Parts beyond ``MAX_PARTS`` or
            ``MAX_PARTS_BYTES`` in total are left out.
        media_type: the media type of the page.
    """
    parts_kept: list[ArchivedPart] = []
    places: dict[bytes, bytes] = {}
    room = MAX_PARTS_BYTES
    for reference, kind, data in parts:
        room -= len(data)
        if not data or room < 0 or len(parts_kept) >= MAX_PARTS:
            continue
        parts_kept.append(ArchivedPart(part_url(data), kind, data))
        places[reference.encode()] = part_url(data).encode()
    return ArchivedPage(_rewrite_references(content, places), media_type, tuple(parts_kept))


def _rewrite_references(content: bytes, places: Mapping[bytes, bytes]) -> bytes:
    if not places:
        return content
    longest_first = sorted(places, key=len, reverse=True)
    any_of_them = re.compile(b"|".join(map(re.escape, longest_first)))
    return any_of_them.sub(lambda match: places[match[0]], content)


_MARK = re.compile(
    r"<!--\s{0,99}Page saved with SingleFile\s(.{0,10000}?)-->", re.DOTALL | re.IGNORECASE
)
_URL = re.compile(r"^\s*url:\s*(\S+)", re.MULTILINE | re.IGNORECASE)
_DATE = re.compile(r"^\s*saved date:\s*(.+?)\s*$", re.MULTILINE | re.IGNORECASE)
_DAY = re.compile(r"\w{3} (\w{3} \d\d? \d{4} \d\d:\d\d:\d\d) GMT([+-]\d{4})")
_SELF_EXTRACTING = re.compile(r"<html[^<>]{0,500}?\sdata-sfz\b", re.IGNORECASE)
_MAX_OPENING = 4_000
_PAGE = "index.html"
_TITLE = re.compile(r"<title[^>]*>([^<]{0,4000})", re.IGNORECASE)


def _read_single_file(file: SourceFile) -> Iterator[Bookmark]:
    mark = _MARK.search(file.text)
    url = _URL.search(mark[1]) if mark else None
    if mark is None or url is None:
        return
    date = _DATE.search(mark[1])
    title = _TITLE.search(file.text)
    page = _extract_page(file) if _is_self_extracting(file) else "".join(file.chunks())
    yield Row({}).bookmark(
        url[1],
        title=plain_text(title[1]) if title else "",
        added_at=_moment(date[1]) if date else None,
        page=page,
    )


def _moment(text: str) -> datetime | None:
    """Parse a date in the format of JavaScript's ``Date``."""
    match = _DAY.match(text)
    if match is None:
        return None
    try:
        moment = datetime.strptime(f"{match[1]} {match[2]}", "%b %d %Y %H:%M:%S %z")
    except ValueError:
        return None
    return sensible(moment.astimezone(UTC))


def _extract_page(file: SourceFile) -> ArchivedPage | str:
    """Return the page in the zip archive of a file; empty if the page cannot be read.

    The HTML before the archive is not used, because it only contains the extractor.
    """
    packed = Members(file.seekable())
    content = packed.read(_PAGE, MAX_PAGE)
    files = {each: each for each in packed.names if each != _PAGE}
    return page_with_files(content, packed, files) if content else ""


def _is_self_extracting(file: SourceFile) -> bool:
    return _SELF_EXTRACTING.search(file.text, 0, _MAX_OPENING) is not None


def _fits(file: SourceFile) -> bool:
    mark = None
    if _is_self_extracting(file) or not is_binary(file):
        mark = _MARK.search(file.text)
    return mark is not None and _URL.search(mark[1]) is not None


SINGLE_FILE = Importer(
    "SingleFile HTML",
    _fits,
    _read_single_file,
    ("html",),
    marked("a page saved with the SingleFile extension"),
    has_other_addresses=True,
)
