"""Files to import: head, character encoding and content.

The encoding is determined by the byte order mark, by NUL bytes as in UTF-16, or by a declaration in
the markup; otherwise it is UTF-8. Lines that are not valid UTF-8 are read as windows-1252: old
exports mix both encodings, and a wrong letter in a title is better than a rejected file. Invalid
bytes never raise an error.
"""

import codecs
import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, BinaryIO

from archiver.errors import UnreadableFile
from archiver.formats.archive_members import (
    Members,
    TarMembers,
    is_packed,
    is_tar,
    is_zip,
    rejoined,
    unpacked,
)
from archiver.formats.rows import URL_COLUMNS, plain_name
from archiver.formats.seeds import tidy_folder
from archiver.http.encoding_prescan import declared_in_markup
from archiver.http.text_decoders import (
    REPLACEMENT,
    UTF_8,
    UTF_16BE,
    UTF_16LE,
    WINDOWS_1252,
    Decoder,
    Encoding,
    decode_part,
    decoder,
    well_formed,
)
from archiver.logs import get_log
from archiver.model.entry_list import (
    MAX_LISTS,
    MAX_PATHS,
    EntryList,
    ListColour,
)
from archiver.model.imports import ColumnRole

if TYPE_CHECKING:
    from archiver.formats.unread_addresses import AddressCheck

_LOG = get_log(__name__)

HEAD_BYTES = 1 << 16
"""Bytes of a file that are read to detect its format."""
_CHUNK_BYTES = 1 << 16
_MARKS = (
    (codecs.BOM_UTF8, UTF_8),
    (codecs.BOM_UTF16_LE, UTF_16LE),
    (codecs.BOM_UTF16_BE, UTF_16BE),
)
_CONTROLS = bytes(set(range(0x20)) - set(b"\t\n\v\f\r\x1b"))
_MAX_CONTROLS = 0.02
"""Maximum share of control characters in text, so that a few stray NULs are tolerated."""
_UTF16_SHARE = 0.4
"""Share of NULs in every second byte that indicates UTF-16 without a byte order mark."""


def read_text(source: BinaryIO) -> Iterator[str]:
    """Yield a stream as text, in pieces of at most 128 Ki characters, without NULs."""
    chunk = source.read(HEAD_BYTES)
    charset = find_charset(chunk)
    decoder = _decoder(charset)
    first = True
    while chunk:
        text = decoder.decode(chunk)
        if first:
            text = text.removeprefix("\ufeff")
            first = False
        if text := text.replace("\0", ""):
            yield text
        chunk = source.read(_CHUNK_BYTES)
    if text := decoder.decode(b"", True).replace("\0", ""):
        yield text


def decode_head(head: bytes) -> str:
    """Decode the head of a file as ``read_text`` would."""
    decoder = _decoder(find_charset(head), quiet=True)
    return decoder.decode(head).removeprefix("\ufeff").replace("\0", "")


def find_charset(head: bytes) -> Encoding:
    """Choose the encoding from the head of a file."""
    for mark, charset in _MARKS:
        if head.startswith(mark):
            return charset
    if unmarked := _unmarked_utf16(head):
        return unmarked
    declared = declared_in_markup(head)
    return declared[1] if declared and declared[1] != REPLACEMENT else UTF_8


def looks_like_text(head: bytes) -> bool:
    """Return whether the head of a file looks like text in any encoding."""
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) or _unmarked_utf16(head):
        return True
    controls = len(head) - len(head.translate(None, _CONTROLS))
    return controls <= len(head) * _MAX_CONTROLS


def _unmarked_utf16(head: bytes) -> Encoding | None:
    """Detect UTF-16 without a byte order mark by the position of its NULs."""
    sample = head[:1024]
    half = len(sample) // 2
    if not half:
        return None
    even, odd = sample[::2].count(0), sample[1::2].count(0)
    if odd > half * _UTF16_SHARE and even < odd // 8 + 1:
        return UTF_16LE
    if even > half * _UTF16_SHARE and odd < even // 8 + 1:
        return UTF_16BE
    return None


def _decoder(charset: Encoding, *, quiet: bool = False) -> Decoder:
    return _LenientUtf8(quiet=quiet) if charset == UTF_8 else decoder(charset)


class _LenientUtf8:
    """Decoder that reads invalid lines of UTF-8 as windows-1252, and logs this once.

    A whole line is decoded as windows-1252, because a line usually has a single encoding.
    """

    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet
        self._rest = b""

    def decode(self, data: bytes, final: bool = False) -> str:
        data = self._rest + data
        try:
            text, usable = codecs.utf_8_decode(data, "strict", final)
        except UnicodeDecodeError as error:
            self._note(error)
            usable = _complete(data, final=final)
            text = "".join(map(_decode_line, data[:usable].splitlines(keepends=True)))
        self._rest = data[usable:]
        return text

    def _note(self, error: UnicodeDecodeError) -> None:
        if not self._quiet:
            self._quiet = True
            _LOG.warning("not UTF-8; invalid lines read as windows-1252", why=str(error))


def _complete(data: bytes, *, final: bool) -> int:
    """Return how many bytes of ``data`` to decode now: its complete lines.

    If ``data`` has no line end, up to three bytes are kept for the next call, because they can be
    the start of a character.
    """
    if final:
        return len(data)
    newline = data.rfind(b"\n") + 1
    if newline:
        return newline
    return len(data) - min(3, len(data) - 1)


def _decode_line(line: bytes) -> str:
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError:
        return decode_part(line, WINDOWS_1252)


# Type of a document: XML by its root element, MHTML by its MIME header. Only the start of a
# document is parsed. The rest is not searched for markup, because it can contain other pages,
# escaped or in CDATA sections.

_PROLOGUE = re.compile(
    r"""(?: [\s\ufeff]++
          | <\?(?> [^?]++ | \?(?!>) )*+ \?>
          | <!-- (?> [^-]++ | -(?!->) )*+ -->
          | <!doctype (?> [^\[\]<>"']++ | "[^"]*+" | '[^']*+'
                        | \[ (?> [^\]<"']++ | "[^"]*+" | '[^']*+' | <!--(?> [^-]++ | -(?!->) )*+-->
                               | <(?!!--) )*+ \] )*+ > )*+""",
    re.VERBOSE | re.IGNORECASE,
)
"""What may precede the root element (XML §2.8), as tolerant as feed readers."""
_DECLARATION = re.compile(r"[\s\ufeff]*+<\?xml[\s?]", re.IGNORECASE)
_NETSCAPE = re.compile(r"<!doctype\s++netscape-bookmark", re.IGNORECASE)
_ROOT = re.compile(r"<(?:[\w.-]++:)?+([\w.-]++)([^<>]*+)")
_KNOWN_ROOTS = frozenset("rss feed opml xbel plist en-export rdf posts bookmarks_export".split())
_HTML = frozenset(
    "a base blockquote body br center dd div dl dt font h1 h2 h3 h4 h5 h6 head hr html li link "
    "meta ol p script span style table title ul".split()
)
_MIME_HEADER = re.compile(r"(?:[!-9;-~]++:[^\r\n]*+(?:\r?\n[\t ][^\r\n]*+)*+\r?\n)++")
_RELATED = re.compile(r"^content-type:\s*+multipart/related\b", re.IGNORECASE | re.MULTILINE)
_ALONE = re.compile(r"^content-type:\s*+text/html\b", re.IGNORECASE | re.MULTILINE)
_PLACE = re.compile(
    r"^(?:[\w-]{0,20}-)?content-location:\s*+https?://", re.IGNORECASE | re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class XmlRoot:
    """Root element of a document.

    Attributes:
        name: name in lower case, without a namespace prefix.
        attributes: source text of the start tag after the name.
    """

    name: str
    attributes: str


def xml_root(head: str) -> XmlRoot | None:
    """Return the root element of XML; None for HTML, bookmark files and other text.

    If a document has an XML declaration but no root element in its head, the fields of the result
    are empty.
    """
    is_declared = _DECLARATION.match(head) is not None
    end = end_of_prologue(head)
    if _NETSCAPE.search(head, 0, end):
        return None
    root = _ROOT.match(head, end)
    if root is None:
        return XmlRoot("", "") if is_declared else None
    name = root[1].lower()
    if name in _KNOWN_ROOTS or (is_declared and name not in _HTML):
        return XmlRoot(name, root[2])
    return None


def end_of_prologue(head: str) -> int:
    """Return the offset at which the root element begins or would begin."""
    before = _PROLOGUE.match(head)
    return before.end() if before else 0


def is_mhtml(head: str) -> bool:
    """Return whether the head of a file is that of an MHTML page (RFC 2557).

    Such a page is ``multipart/related``, or ``text/html`` with a web address as its
    ``Content-Location``. Other e-mail is treated as text.
    """
    header = _MIME_HEADER.match(head.lstrip())
    if header is None:
        return False
    is_page_alone = _ALONE.search(header[0]) and _PLACE.search(header[0])
    return _RELATED.search(header[0]) is not None or is_page_alone is not None


# Structure of JSON. The head of a file is usually truncated, so a JSON parser would reject it.

_BEGINS = re.compile(
    r"""\s*+(?: \{ \s*+ (?: \} | "[^"]*+" \s*+ : )
          | \[ \s*+ (?: \{ | \] \s*+ \Z | \[ \s*+ ["{\[]
                      | "[^"]*+" \s*+ (?: , | \] \s*+ \Z ) ) )""",
    re.VERBOSE,
)
_TOKEN = re.compile(r'"((?:[^"\\]++|\\.)*+)"(\s*+:)?|([\[\]{}])', re.DOTALL)
_MAX_NAMES = 5000
_MAX_DEPTH = 100
_MAX_PATH_DEPTH = 8
TOP = "."


def json_paths(head: str) -> frozenset[str]:
    """Return the member paths in the head of a JSON text; empty if it is not JSON.

    ``[]`` stands for the items of an array: ``[].href``, ``bookmarks[].content.url``. For JSON, the
    result also contains ``.``, so that it is never empty, and the type of the text: ``[]`` for an
    array or ``{}`` for an object.

    >>> sorted(json_paths('{"a": [{"b": 1}'))
    ['.', 'a', 'a[].b', '{}']
    """
    begin = _BEGINS.match(head)
    if begin is None:
        return frozenset()
    paths = {TOP, "[]" if head.lstrip().startswith("[") else "{}"}
    stack: list[str] = []
    path = slot = ""
    for token in _TOKEN.finditer(head):
        bracket = token[3]
        if bracket is None:
            if token[2] and len(stack) <= _MAX_PATH_DEPTH:
                slot = f"{path}.{token[1]}".removeprefix(".")
                paths.add(slot)
            continue
        if bracket in "{[":
            stack.append(path)
            path = f"{slot}[]" if bracket == "[" else slot
        else:
            path = stack.pop() if stack else ""
        slot = path
        if len(paths) > _MAX_NAMES or len(stack) > _MAX_DEPTH:
            break
    return frozenset(paths)


# Header of a table (CSV, TSV): its delimiter and column names.

DELIMITERS = (",", ";", "\t", "|")
_HINT = "sep="
_SUFFIXES = ("csv", "tsv", "tab")


@dataclass(frozen=True, slots=True)
class TableHead:
    """Structure of a table.

    Attributes:
        delimiter: the delimiter of the cells.
        header: the cells of the header line; empty if the first line is a data row.
        columns: the cells of the header, normalised by ``rows.plain_name``.
    """

    delimiter: str
    header: tuple[str, ...]
    columns: frozenset[str]


def table_head(head: str, suffix: str) -> TableHead | None:
    """Return the structure of a table; None if a text does not look like a table."""
    text = head.lstrip("\ufeff \r\n")
    if text[: len(_HINT)].lower() == _HINT:
        text = text.partition("\n")[2]
    heads = [(delimiter, _first_cells(text, delimiter)) for delimiter in DELIMITERS]
    for delimiter, cells in heads:
        columns = frozenset(map(plain_name, cells))
        if len(cells) > 1 and columns & URL_COLUMNS and not _has_address(cells):
            return TableHead(delimiter, tuple(cells), columns)
    if suffix not in _SUFFIXES:
        return None
    delimiter, cells = max(heads, key=lambda each: len(each[1]))
    if len(cells) < 2:
        return None
    if _has_address(cells):
        return TableHead(delimiter, (), frozenset())
    return TableHead(delimiter, tuple(cells), frozenset(map(plain_name, cells)))


def _first_cells(text: str, delimiter: str) -> list[str]:
    try:
        return next(csv.reader(text[: 1 << 14].splitlines(keepends=True), delimiter=delimiter), [])
    except csv.Error:
        return []


def _has_address(cells: list[str]) -> bool:
    return any("://" in cell for cell in cells)


_PACKED_NAME = re.compile(r"\.(?:g?z(?:ip)?|bz2|xz|zst)\Z", re.IGNORECASE)
Spool = Callable[[BinaryIO], BinaryIO]


def in_memory(stream: BinaryIO) -> BinaryIO:
    """Copy a stream to memory to make it seekable; only for content that is known to be small."""
    return io.BytesIO(stream.read())


class SourceFile:
    """File to import; a compressed file is decompressed.

    Args:
        source: stream that is read once from its current position; it need not be seekable.
        name: file name from the user. The suffix is a hint for the format, and messages contain
            the name.
        spool: function that makes a stream seekable, for archives with a directory at the end.
        columns_as: roles that the user chose for columns of a table.
        url: URL that the file was fetched from, to resolve relative links; empty if the file was
            not fetched.

    Attributes:
        lists: lists that the importer found, for formats that have lists.
        lists_left_out: number of lists that exceed the limits.
        check: comparison of the addresses in the text with those in the bookmarks; None for formats
            whose text also contains other addresses.
    """

    def __init__(
        self,
        source: BinaryIO,
        name: str,
        *,
        spool: Spool = in_memory,
        columns_as: Mapping[str, ColumnRole] | None = None,
        url: str = "",
    ) -> None:
        self.name = name
        self.url = url
        self.columns_as = columns_as or {}
        self.head = _read_head(source)
        if is_packed(self.head):
            source = unpacked(rejoined(self.head, source.read), self.head)
            # If the file is damaged at its start, keep the compressed head, so that the error
            # names the compression.
            self.head = _read_head(source) or self.head
            name = _PACKED_NAME.sub("", name)
        self.suffix = name.rpartition(".")[2].lower() if "." in name else ""
        self.lists: list[EntryList] = []
        self.lists_left_out = 0
        self.check: AddressCheck | None = None
        self._source = source
        self._spool = spool
        self._spooled: BinaryIO | None = None

    @cached_property
    def is_text(self) -> bool:
        """Return whether it looks like text in any encoding."""
        return looks_like_text(self.head)

    @cached_property
    def text(self) -> str:
        """Return the head as text."""
        return decode_head(self.head)

    @property
    def encoding(self) -> str:
        """Return the encoding of its text; empty if it is not text."""
        return find_charset(self.head) if self.is_text else ""

    @cached_property
    def json_paths(self) -> frozenset[str]:
        """Return the member paths in the head of its JSON; empty if it is not JSON."""
        return json_paths(self.text) if self.is_text else frozenset()

    @cached_property
    def table(self) -> TableHead | None:
        """Return the header of its table (CSV or TSV), if it looks like one."""
        if not self.is_text or self.json_paths or self.root:
            return None
        return table_head(self.text, self.suffix)

    @property
    def columns(self) -> frozenset[str]:
        """Return the columns of its table, normalised by ``rows.plain_name``."""
        return self.table.columns if self.table else frozenset()

    @cached_property
    def root(self) -> XmlRoot | None:
        """Return the root element, if it is XML other than HTML."""
        return xml_root(self.text) if self.is_text else None

    @cached_property
    def zip(self) -> Members | None:
        """Return its members, if it is a zip archive."""
        return Members(self.seekable()) if is_zip(self.head) else None

    @cached_property
    def tar(self) -> TarMembers | None:
        """Return its members, if it is a tar archive."""
        return TarMembers(self.seekable()) if is_tar(self.head) else None

    @property
    def members(self) -> tuple[str, ...]:
        """Return the names of the members of a zip archive."""
        return self.zip.names if self.zip else ()

    def inner(self, stream: BinaryIO, name: str) -> "SourceFile":
        """Return a file inside this one, such as a member of a zip archive."""
        inner = SourceFile(stream, name, spool=self._spool)
        inner.check = self.check
        return inner

    def stream(self) -> BinaryIO:
        """Return a stream of the whole content.

        This can be called again only after a call of ``seekable``.
        """
        if self._spooled:
            self._spooled.seek(0)
            return self._spooled
        return rejoined(self.head, self._source.read)

    def chunks(self) -> Iterator[str]:
        """Yield the content as text, in pieces.

        This can be called again only after a call of ``seekable``.
        """
        for chunk in read_text(self.stream()):
            if self.check:
                self.check.add_text(chunk)
            yield chunk

    def lines(self, most: int) -> Iterator[str]:
        """Yield the lines without their line ends.

        A line of more than ``most`` characters is split. This can be called again only after a
        call of ``seekable``.
        """
        newlines, incomplete = io.IncrementalNewlineDecoder(None, translate=True), ""
        for chunk in self.chunks():
            *lines, incomplete = (incomplete + newlines.decode(chunk)).split("\n")
            yield from lines
            if len(incomplete) > most:
                yield incomplete
                incomplete = ""
        yield incomplete

    def seekable(self) -> BinaryIO:
        """Return the whole content as a seekable stream at its start."""
        if self._spooled is None:
            self._spooled = self._spool(self.stream())
        self._spooled.seek(0)
        return self._spooled


def joined(pieces: Iterable[str], name: str, most: int) -> str:
    """Join the text of a file, for parsers that need all of it.

    Raises:
        UnreadableFile: it has more than ``most`` characters.
    """
    lines: list[str] = []
    room = most
    for piece in pieces:
        room -= len(piece)
        if room < 0:
            raise UnreadableFile(
                "{name} is larger than {most} MB. Split it into several files.",
                name=name,
                most=most >> 20,
            )
        lines.append(piece)
    return "".join(lines)


def _read_head(source: BinaryIO) -> bytes:
    """Read the head; a pipe may return it in small pieces."""
    head = bytearray()
    while len(head) < HEAD_BYTES:
        piece = source.read(HEAD_BYTES - len(head))
        if not piece:
            break
        head += piece
    return bytes(head)


_MAX_QUERY = 2_000


class FileLists:
    """Collector of the lists in a file; it counts the lists that exceed the limits."""

    def __init__(self, file: SourceFile) -> None:
        self._file = file
        self._lists_left, self._characters_left = MAX_LISTS, MAX_PATHS

    def add(self, path: str, query: str, colour: ListColour = ListColour.NONE) -> None:
        """Add a list with its path and saved search; skip a list whose path is empty."""
        path = tidy_folder(path)
        query = well_formed(query)
        if not path:
            return
        if len(query) > _MAX_QUERY or not self._lists_left or len(path) > self._characters_left:
            self._file.lists_left_out += 1
            return
        self._lists_left -= 1
        self._characters_left -= len(path)
        self._file.lists.append(EntryList(path, query, colour=colour))
