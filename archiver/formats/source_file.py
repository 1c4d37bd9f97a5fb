"""Files to import: structure of their head, character encoding and content.

A byte order mark decides, else what the markup declares as a page would, else UTF-8. Where bytes
that should be UTF-8 are not, they are read as windows-1252: old exports mix the two, and a title
with a wrong letter is better than a file that is refused. Nothing here ever raises on bad bytes.
"""

import codecs
import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, BinaryIO

from archiver.errors import UnreadableFile
from archiver.formats.archive_members import Members, TarMembers, is_tar, is_zip
from archiver.formats.compressed_files import is_packed, unpacked
from archiver.formats.rows import URL_COLUMNS, plain
from archiver.formats.seeds import tidy_tag
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
from archiver.model.entry_list import MOST_LISTS, MOST_PATHS, EntryList, folder_names, folder_path
from archiver.model.imports import ColumnRole, FormatEvidence

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_LOG = get_log(__name__)

HEAD_BYTES = 1 << 16
"""How much of a file is looked at to tell what it is."""
_CHUNK_BYTES = 1 << 16
_MARKS = (
    (codecs.BOM_UTF8, UTF_8),
    (codecs.BOM_UTF16_LE, UTF_16LE),
    (codecs.BOM_UTF16_BE, UTF_16BE),
)
_CONTROLS = bytes(set(range(0x20)) - set(b"\t\n\v\f\r\x1b"))
_MOST_CONTROLS = 0.02
"""Share of control characters beyond which bytes are no text; a stray NUL is forgiven."""
_UTF16_SHARE = 0.4
"""Share of NULs in every second byte that gives UTF-16 without a mark away."""


def read_text(source: BinaryIO) -> Iterator[str]:
    """Read a stream as text, in pieces of at most 64 Ki characters, without NULs."""
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
    """Decide the charset from the head of a file."""
    for mark, charset in _MARKS:
        if head.startswith(mark):
            return charset
    if unmarked := _unmarked_utf16(head):
        return unmarked
    declared = declared_in_markup(head)
    return declared[1] if declared and declared[1] != REPLACEMENT else UTF_8


def is_text(head: bytes) -> bool:
    """Whether the head of a file looks like text in any charset."""
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) or _unmarked_utf16(head):
        return True
    controls = len(head) - len(head.translate(None, _CONTROLS))
    return controls <= len(head) * _MOST_CONTROLS


def _unmarked_utf16(head: bytes) -> Encoding | None:
    """Tell UTF-16 without a byte order mark by where its NULs are."""
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
    """UTF-8, and windows-1252 for each line that is not; says once that it had to.

    Lines, because a line has one writer; and a chunk of them costs as much as it is long, however
    many are wrong.
    """

    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet
        self._held = b""

    def decode(self, data: bytes, final: bool = False) -> str:
        held = self._held + data
        try:
            text, usable = codecs.utf_8_decode(held, "strict", final)
        except UnicodeDecodeError as error:
            self._note(error)
            usable = _complete(held, final=final)
            text = "".join(map(_decode_line, held[:usable].splitlines(keepends=True)))
        self._held = held[usable:]
        return text

    def _note(self, error: UnicodeDecodeError) -> None:
        if not self._quiet:
            self._quiet = True
            _LOG.warning("not UTF-8; read as windows-1252 where it is not", why=str(error))


def _complete(data: bytes, *, final: bool) -> int:
    """Count the bytes that do not end inside a line, or inside a character of a long one."""
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


# What a document says that it is: XML by its root element, a web archive by its MIME header.
#
# Their contents may be pages in CDATA sections, escaped or as they are, so nothing is searched for:
# only what must stand at the start is read.

_PROLOGUE = re.compile(
    r"""(?: [\s\ufeff]++
          | <\?(?> [^?]++ | \?(?!>) )*+ \?>
          | <!-- (?> [^-]++ | -(?!->) )*+ -->
          | <!doctype (?> [^\[\]<>"']++ | "[^"]*+" | '[^']*+'
                        | \[ (?> [^\]<"']++ | "[^"]*+" | '[^']*+' | <!--(?> [^-]++ | -(?!->) )*+-->
                               | <(?!!--) )*+ \] )*+ > )*+""",
    re.VERBOSE | re.IGNORECASE,
)
"""What may stand before the root element (XML §2.8), as tolerant as readers of feeds are."""
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
    """The root element of a document.

    Attributes:
        name: lower case, without a prefix.
        attributes: what stands behind the name, as it does.
    """

    name: str
    attributes: str


def xml_root(head: str) -> XmlRoot | None:
    """The root of a text that is XML; None for HTML, bookmark files, and what is neither."""
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
    """Where the root element begins, or would."""
    before = _PROLOGUE.match(head)
    return before.end() if before else 0


def is_mhtml(head: str) -> bool:
    """Whether it is a saved page (RFC 2557); a letter that is no page is text.

    It has its parts, or none and says where it was.
    """
    header = _MIME_HEADER.match(head.lstrip())
    if header is None:
        return False
    is_page_alone = _ALONE.search(header[0]) and _PLACE.search(header[0])
    return _RELATED.search(header[0]) is not None or is_page_alone is not None


# What is in JSON, and where, told from its first bytes: nothing is parsed that may be cut.

_BEGINS = re.compile(
    r"""\s*+(?: \{ \s*+ (?: \} | "[^"]*+" \s*+ : )
          | \[ \s*+ (?: \{ | \] \s*+ \Z | \[ \s*+ ["{\[]
                      | "[^"]*+" \s*+ (?: , | \] \s*+ \Z ) ) )""",
    re.VERBOSE,
)
_TOKEN = re.compile(r'"((?:[^"\\]++|\\.)*+)"(\s*+:)?|([\[\]{}])', re.DOTALL)
_MOST_NAMES = 5000
_DEEPEST = 100
_MOST_DEPTH = 8
TOP = "."


def json_paths(head: str) -> frozenset[str]:
    """The names that the head of a JSON text holds, by their place; empty if it is none.

    ``[]`` stands for what an array holds: ``[].href``, ``bookmarks[].content.url``. The top itself
    is ``.``, so that it is never empty for JSON, and ``[]`` or ``{}`` says what that is.

    >>> sorted(json_paths('{"a": [{"b": 1}'))
    ['.', 'a', 'a[].b', '{}']
    """
    begin = _BEGINS.match(head)
    if begin is None:
        return frozenset()
    found = {TOP, "[]" if head.lstrip().startswith("[") else "{}"}
    stack: list[str] = []
    here = slot = ""
    for token in _TOKEN.finditer(head):
        bracket = token[3]
        if bracket is None:
            if token[2] and len(stack) <= _MOST_DEPTH:
                slot = f"{here}.{token[1]}".removeprefix(".")
                found.add(slot)
            continue
        if bracket in "{[":
            stack.append(here)
            here = f"{slot}[]" if bracket == "[" else slot
        else:
            here = stack.pop() if stack else ""
        slot = here
        if len(found) > _MOST_NAMES or len(stack) > _DEEPEST:
            break
    return frozenset(found)


# The header of a table (CSV, TSV): what it is separated by, and what its columns are called.

DELIMITERS = (",", ";", "\t", "|")
_HINT = "sep="
_SUFFIXES = ("csv", "tsv", "tab")


@dataclass(frozen=True, slots=True)
class TableHead:
    """What a table looks like.

    Attributes:
        delimiter: between its cells.
        header: the cells of its first line, as it spells them; empty if that is a row already.
        columns: the same, as ``rows.plain`` spells them.
    """

    delimiter: str
    header: tuple[str, ...]
    columns: frozenset[str]


def table_head(head: str, suffix: str) -> TableHead | None:
    """What a text looks like as a table; None if it seems to be none."""
    text = head.lstrip("\ufeff \r\n")
    if text[: len(_HINT)].lower() == _HINT:
        text = text.partition("\n")[2]
    found = [(delimiter, _first_cells(text, delimiter)) for delimiter in DELIMITERS]
    for delimiter, cells in found:
        columns = frozenset(map(plain, cells))
        if len(cells) > 1 and columns & URL_COLUMNS and not _has_address(cells):
            return TableHead(delimiter, tuple(cells), columns)
    if suffix not in _SUFFIXES:
        return None
    delimiter, cells = max(found, key=lambda each: len(each[1]))
    if len(cells) < 2:
        return None
    if _has_address(cells):
        return TableHead(delimiter, (), frozenset())
    return TableHead(delimiter, tuple(cells), frozenset(map(plain, cells)))


def _first_cells(text: str, delimiter: str) -> list[str]:
    try:
        return next(csv.reader(text[: 1 << 14].splitlines(keepends=True), delimiter=delimiter), [])
    except csv.Error:
        return []


def _has_address(cells: list[str]) -> bool:
    return any("://" in cell for cell in cells)


_MOST_SHOWN = 8
_PACKED_NAME = re.compile(r"\.(?:g?z(?:ip)?|bz2|xz|zst)\Z", re.IGNORECASE)
Spool = Callable[[BinaryIO], BinaryIO]


def in_memory(stream: BinaryIO) -> BinaryIO:
    """A stream's content where it can be sought in: memory, for what is known to be small."""
    return io.BytesIO(stream.read())


class GivenFile:
    """A file of links; one that is packed, be it with gzip or else, is what is packed there.

    Args:
        source: read from where it stands, once; it need not be seekable.
        name: as the person knows it; a hint, and part of messages.
        spool: makes a stream seekable, for kinds whose table of contents is at the end.
        columns_as: what columns of a table say, where a person has said so.
        url: where it was fetched from, against which relative links are resolved; empty for others.

    Attributes:
        lists: which a reader has met beside bookmarks, where its kind tells of them.
        lists_left_out: how many more it has met, of which there are too many.
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
            packed = io.BufferedReader(_Rejoined(self.head, source), HEAD_BYTES)
            source = unpacked(packed, self.head)
            # What is damaged at once stays as it came, and is refused as that.
            self.head = _read_head(source) or self.head
            name = _PACKED_NAME.sub("", name)
        self.suffix = name.rpartition(".")[2].lower() if "." in name else ""
        self.lists: list[EntryList] = []
        self.lists_left_out = 0
        self._source = source
        self._spool = spool
        self._spooled: BinaryIO | None = None

    @cached_property
    def is_text(self) -> bool:
        """Whether it looks like text, in any charset."""
        return is_text(self.head)

    @cached_property
    def text(self) -> str:
        """The head as text."""
        return decode_head(self.head)

    @property
    def encoding(self) -> str:
        """What its text is read as; empty if it is none."""
        return find_charset(self.head) if self.is_text else ""

    @cached_property
    def json_paths(self) -> frozenset[str]:
        """Where its JSON holds what, as far as the head goes: ``[].href``; empty if it is none."""
        return json_paths(self.text) if self.is_text else frozenset()

    @cached_property
    def table(self) -> TableHead | None:
        """The header of its table (CSV or TSV), if it seems to be one."""
        if not self.is_text or self.json_paths or self.root:
            return None
        return table_head(self.text, self.suffix)

    @property
    def columns(self) -> frozenset[str]:
        """The columns of its table, as ``rows.plain`` spells them."""
        return self.table.columns if self.table else frozenset()

    @cached_property
    def root(self) -> XmlRoot | None:
        """The root element, if it is XML and no HTML."""
        return xml_root(self.text) if self.is_text else None

    @cached_property
    def zip(self) -> Members | None:
        """What it holds, if it is a zip archive."""
        return Members(self.seekable()) if is_zip(self.head) else None

    @cached_property
    def tar(self) -> TarMembers | None:
        """What it holds, if it is a tar archive."""
        return TarMembers(self.seekable()) if is_tar(self.head) else None

    @property
    def members(self) -> tuple[str, ...]:
        """The names of what a zip archive holds."""
        return self.zip.names if self.zip else ()

    @property
    def told_by(self) -> tuple[FormatEvidence, str]:
        """What of it is looked at to tell what it is, and the names that are seen there."""
        if inside := self.members or (self.tar.names if self.tar else ()):
            return FormatEvidence.FILES, _some(inside)
        if self.table and self.table.header:
            return FormatEvidence.COLUMNS, _some(self.table.header)
        if self.json_paths:
            return FormatEvidence.FIELDS, _some(sorted(self.json_paths - {TOP, "[]", "{}"}))
        return (
            (FormatEvidence.ROOT, self.root.name) if self.root else (FormatEvidence.BEGINNING, "")
        )

    def inner(self, stream: BinaryIO, name: str) -> "GivenFile":
        """A file in this one, made seekable where this one is."""
        return GivenFile(stream, name, spool=self._spool)

    def stream(self) -> BinaryIO:
        """The whole content, to be read once."""
        if self._spooled:
            self._spooled.seek(0)
            return self._spooled
        return io.BufferedReader(_Rejoined(self.head, self._source), HEAD_BYTES)

    def chunks(self) -> Iterator[str]:
        """The whole content as text, in pieces, to be read once."""
        return read_text(self.stream())

    def seekable(self) -> BinaryIO:
        """The whole content where it can be sought in, at its start."""
        if self._spooled is None:
            self._spooled = self._spool(self.stream())
        self._spooled.seek(0)
        return self._spooled


def joined(pieces: Iterable[str], name: str, most: int) -> str:
    """Join the text of a file, for parsers that hold all of it.

    Raises:
        UnreadableFile: it has more than so many characters.
    """
    found: list[str] = []
    room = most
    for piece in pieces:
        room -= len(piece)
        if room < 0:
            raise UnreadableFile(
                "{name} is larger than {most} MB. Split it into several files.",
                name=name,
                most=most >> 20,
            )
        found.append(piece)
    return "".join(found)


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(name[:60] for name in names[:_MOST_SHOWN])
    return f"{shown}, …" if len(names) > _MOST_SHOWN else shown


def _read_head(source: BinaryIO) -> bytes:
    """Read as much as is looked at; a pipe may give it in small pieces."""
    head = bytearray()
    while len(head) < HEAD_BYTES:
        piece = source.read(HEAD_BYTES - len(head))
        if not piece:
            break
        head += piece
    return bytes(head)


class _Rejoined(io.RawIOBase):
    """A stream whose head was read already, as one again."""

    def __init__(self, head: bytes, rest: BinaryIO) -> None:
        self._head = memoryview(head)
        self._rest = rest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "WriteableBuffer", /) -> int:
        target = memoryview(buffer)
        piece = self._head[: len(target)] or self._rest.read(len(target))
        self._head = self._head[len(piece) :]
        target[: len(piece)] = piece
        return len(piece)


_MOST_QUERY = 2_000


class FileLists:
    """Takes lists for a file, and counts those that are too many."""

    def __init__(self, file: GivenFile) -> None:
        self._file = file
        self._most, self._room = MOST_LISTS, MOST_PATHS

    def take(self, given: str, query: str) -> None:
        """Take a list, by its path; what has no name is passed over."""
        path = folder_path(map(tidy_tag, folder_names(given)))
        query = well_formed(query)
        if not path:
            return
        if len(query) > _MOST_QUERY or not self._most or len(path) > self._room:
            self._file.lists_left_out += 1
            return
        self._most, self._room = self._most - 1, self._room - len(path)
        self._file.lists.append(EntryList(path, query))
