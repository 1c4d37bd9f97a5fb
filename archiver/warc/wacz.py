"""WACZ packages: page lists, CDXJ indexes and unpacking.

A package is a zip file. Every problem is raised as UnreadableFile, because ``zipfile`` raises many
exception types. Sizes are limited here, because ``zipfile`` trusts the sizes that a file declares.
"""

import hashlib
import io
import json
import lzma
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import IO, TYPE_CHECKING, BinaryIO

from isal import igzip

from archiver.errors import UnreadableFile
from archiver.http.surt import surt
from archiver.http.text_decoders import well_formed
from archiver.http.timestamps import to_datetime, write_iso
from archiver.model.capture import Capture
from archiver.model.entry import Snapshot
from archiver.warc.request_queries import RequestQuery

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

LINES_PER_BLOCK = 1024
INDEX = "index.cdx.gz"
META = '!meta 0 {"format": "cdxj-gzip-1.0", "filename": "' + INDEX + '"}\n'
REVISIT = "warc/revisit"


def cdxj_line(
    capture: Capture, *, filename: str, offset: int, query: RequestQuery | None = None
) -> str:
    """Return the CDXJ line of a capture.

    Args:
        capture: the response.
        filename: name of the WARC file.
        offset: offset of the capture's record in the WARC file, in bytes.
        query: method and body of the request; None if the method was GET.
    """
    fields = {
        "url": capture.url,
        "mime": REVISIT if capture.is_revisit else capture.media_type or "unk",
        "status": str(capture.status),
        "digest": capture.payload_digest,
        "length": str(capture.location.length),
        "offset": str(offset),
        "filename": filename,
    }
    url = capture.url
    if query:
        fields |= {"method": query.method, "requestBody": query.text}
        url = query.added_to(url)
    return f"{surt(url)} {capture.timestamp} {json.dumps(fields)}\n"


@dataclass(frozen=True, slots=True)
class IndexBlock:
    """Gzip member of sorted CDXJ lines, and the line of ``index.idx`` that points to it."""

    packed: bytes
    pointer: str


def index_blocks(lines: Iterable[bytes]) -> Iterator[IndexBlock]:
    """Compress sorted lines in blocks of ``LINES_PER_BLOCK``."""
    remaining, offset = iter(lines), 0
    while block_lines := list(islice(remaining, LINES_PER_BLOCK)):
        packed = igzip.compress(b"".join(block_lines), mtime=0)
        block = {
            "offset": offset,
            "length": len(packed),
            "digest": f"sha256:{hashlib.sha256(packed).hexdigest()}",
            "filename": INDEX,
        }
        key = " ".join(block_lines[0].decode().split(" ", 2)[:2])
        yield IndexBlock(packed, f"{key} {json.dumps(block)}\n")
        offset += len(packed)


WACZ_VERSION = "1.1.1"
DATA = "archive/data.warc.gz"
BLOCKS = "indexes/index.cdx.gz"
POINTERS = "indexes/index.idx"
PAGES = "pages/pages.jsonl"
PACKAGE = "datapackage.json"
DIGEST = "datapackage-digest.json"
PAGES_HEAD = json.dumps(
    {"format": "json-pages-1.0", "id": "pages", "title": "Pages", "hasText": False}
)


@dataclass(frozen=True, slots=True)
class Resource:
    """File of the package: its path, its size in bytes, and its sha256 in hex."""

    path: str
    size: int
    sha256: str


def page_line(snapshot: Snapshot) -> str:
    """Return the line of a snapshot in ``pages.jsonl`` (WACZ 1.1.1 §5.2.2)."""
    line = {
        "id": f"{snapshot.hash_url}-{snapshot.timestamp}",
        "url": snapshot.url,
        "ts": write_iso(to_datetime(snapshot.timestamp)),
        "title": snapshot.title,
    }
    return json.dumps(line, ensure_ascii=False) + "\n"


def data_package(
    resources: Sequence[Resource],
    *,
    title: str,
    software: str,
    created: datetime,
    main_page: Snapshot | None,
    description: str = "",
) -> bytes:
    """Return ``datapackage.json`` (WACZ 1.1.1 §5.2.4)."""
    document: dict[str, object] = {
        "profile": "data-package",
        "wacz_version": WACZ_VERSION,
        "title": title,
        "software": software,
        "created": write_iso(created),
        "modified": write_iso(created),
        "resources": [
            {
                "name": each.path.rpartition("/")[2],
                "path": each.path,
                "hash": f"sha256:{each.sha256}",
                "bytes": each.size,
            }
            for each in resources
        ],
    }
    if description:
        document["description"] = description
    if main_page:
        document["mainPageUrl"] = main_page.url
        document["mainPageDate"] = write_iso(to_datetime(main_page.timestamp))
    return json.dumps(document, ensure_ascii=False, indent=2).encode()


def package_digest(package: bytes) -> bytes:
    """Return ``datapackage-digest.json`` (WACZ 1.1.1 §5.2.5)."""
    digest = hashlib.sha256(package).hexdigest()
    return json.dumps({"path": PACKAGE, "hash": f"sha256:{digest}"}, indent=2).encode()


class FileWindow(io.RawIOBase):
    """Part of a file as a file object."""

    def __init__(self, file: BinaryIO, start: int, size: int) -> None:
        super().__init__()
        self._file, self._start, self._size, self._pos = file, start, size, 0

    def readable(self) -> bool:
        """Return True."""
        return True

    def seekable(self) -> bool:
        """Return True."""
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        """Set the position within the part."""
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._pos, io.SEEK_END: self._size}[whence]
        if base + offset < 0:
            raise OSError("the position is negative")
        self._pos = base + offset
        return self._pos

    def readinto(self, buffer: "WriteableBuffer", /) -> int:
        """Read the next bytes into ``buffer``."""
        target = memoryview(buffer)
        self._file.seek(self._start + self._pos)
        data = self._file.read(max(min(len(target), self._size - self._pos), 0))
        target[: len(data)] = data
        self._pos += len(data)
        return len(data)


MAX_LINE = 1 << 20
MAX_CONTENTS_BYTES = 16 << 20
"""Maximum bytes of the central directory at the end of a zip file: about 200,000 file names."""
MAX_RATIO = 250
BASE_ALLOWANCE = 1 << 30
SUFFIXES = (".warc", ".warc.gz", ".warc.zst", ".arc", ".arc.gz")
PACKAGE_SUFFIX = ".wacz"
_END = struct.Struct("<4s4H2LH")
_LOCATOR_64 = struct.Struct("<4sLQL")
_END_64 = struct.Struct("<4sQ2H2L4Q")
_MAX_COMMENT = 0xFFFF
_LOCAL_HEAD = struct.Struct("<4s22xHH")
_DAMAGED = (
    zipfile.BadZipFile,
    zipfile.LargeZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    EOFError,
    OSError,
    RuntimeError,
    ArithmeticError,
    ValueError,
)
"""Exceptions of ``zipfile`` for unreadable files.

RuntimeError includes NotImplementedError, which is raised for unsupported features.
"""


@dataclass(frozen=True, slots=True)
class ListedPage:
    """Line of ``pages.jsonl``: a URL, its capture time as ISO 8601, and its title."""

    url: str
    ts: str
    title: str


class Package:
    """WACZ file, or a zip file that contains several WACZ files (Multi-WACZ).

    Attributes:
        records: names of the WARC and ARC files in the package.
        packages: names of the nested packages.

    Raises:
        UnreadableFile: the file is damaged, or contains neither WARC nor WACZ files.
    """

    def __init__(self, file: BinaryIO, name: str) -> None:
        self._file = file
        self._name = name
        try:
            if central_directory_bytes(file) > MAX_CONTENTS_BYTES:
                raise UnreadableFile("{name} contains too many files.", name=name)
            self._zip = zipfile.ZipFile(file)
        except _DAMAGED as error:
            raise UnreadableFile(
                "{name} is a damaged zip file: {reason}.", name=name, reason=_reason(error)
            ) from error
        names = list(dict.fromkeys(self._zip.namelist()))
        self.records = [each for each in names if each.lower().endswith(SUFFIXES)]
        self.packages = [each for each in names if each.lower().endswith(PACKAGE_SUFFIX)]
        if not self.records and not self.packages:
            raise UnreadableFile(
                "{name} is a zip file without WARC files, so it is not a WACZ file.", name=name
            )
        self._pages = [
            each for each in names if each.startswith("pages/") and each.endswith(".jsonl")
        ]

    def open(self, name: str) -> "Entry":
        """Open a file of the package for reading forward.

        Raises:
            UnreadableFile: the file can't be opened.
        """
        info = self._zip.getinfo(name)
        if info.flag_bits & 1:
            raise UnreadableFile(
                "{name} is encrypted. Unpack {name2} with its password, and pack it again "
                "without one.",
                name=name,
                name2=self._name,
            )
        try:
            return Entry(self._zip.open(info), name, info.compress_size)
        except _DAMAGED as error:
            raise UnreadableFile(
                "Cannot read {name}: {reason}.", name=name, reason=_reason(error)
            ) from error

    def window(self, name: str) -> FileWindow | None:
        """Return a file of the package as a range of the zip file.

        The result is None if the file is compressed, encrypted or damaged.
        """
        info = self._zip.getinfo(name)
        if info.compress_type != zipfile.ZIP_STORED or info.flag_bits & 1:
            return None
        self._file.seek(info.header_offset)
        head = self._file.read(_LOCAL_HEAD.size)
        if len(head) < _LOCAL_HEAD.size:
            return None
        magic, name_bytes, extra_bytes = _LOCAL_HEAD.unpack(head)
        if magic != b"PK\x03\x04":
            return None
        start = info.header_offset + _LOCAL_HEAD.size + name_bytes + extra_bytes
        return FileWindow(self._file, start, info.compress_size)

    def pages(self) -> Iterator[ListedPage]:
        """Iterate over the listed pages; invalid lines are skipped.

        Raises:
            UnreadableFile: a list can't be read.
        """
        for name in self._pages:
            with self.open(name) as lines:
                while line := lines.readline(MAX_LINE):
                    page = _page(line)
                    if page:
                        yield page


class Entry(ExitStack):
    """File of a package, read forward.

    The decompressed size is limited relative to ``packed_bytes``, the size of the file in the zip.
    """

    def __init__(self, file: IO[bytes], name: str, packed_bytes: int) -> None:
        super().__init__()
        self._file = self.enter_context(file)
        self._name = name
        self._remaining = BASE_ALLOWANCE + MAX_RATIO * packed_bytes

    def read(self, size: int = -1, /) -> bytes:
        """Read up to ``size`` bytes; empty at the end.

        Raises:
            UnreadableFile: the file is damaged or its decompressed size is over the limit.
        """
        return self._read_counted(self._file.read, size)

    def readline(self, size: int, /) -> bytes:
        """Read up to and including the next newline, or ``size`` bytes; raises like ``read``."""
        return self._read_counted(self._file.readline, size)

    def _read_counted(self, read: Callable[[int], bytes], size: int) -> bytes:
        try:
            data = read(size)
        except _DAMAGED as error:
            raise UnreadableFile(
                "{name} is damaged: {reason}.", name=self._name, reason=_reason(error)
            ) from error
        self._remaining -= len(data)
        if self._remaining < 0:
            raise UnreadableFile(
                "{name} decompresses to more than {most} times its size.",
                name=self._name,
                most=MAX_RATIO,
            )
        return data


def central_directory_bytes(file: BinaryIO) -> int:
    """Return the declared size of a zip file's central directory; 0 if there is no directory.

    The size is checked because ``zipfile`` reads the whole directory into memory. The directory is
    found in the same way as by ``zipfile``: with the last complete end record, and the Zip64 record
    immediately before the end record (APPNOTE 4.3.14 to 4.3.16).
    """
    length = file.seek(0, io.SEEK_END)
    file.seek(max(0, length - _MAX_COMMENT - _END.size - _LOCATOR_64.size - _END_64.size))
    tail = file.read()
    pos = tail.rfind(b"PK\x05\x06", 0, max(0, len(tail) - _END.size + len(b"PK\x05\x06")))
    if pos < 0:
        return 0
    place = pos - _LOCATOR_64.size
    if place >= _END_64.size and tail.startswith(b"PK\x06\x07", place):
        signature, *_, length_64, _ = _END_64.unpack_from(tail, place - _END_64.size)
        if signature == b"PK\x06\x06":
            return int(length_64)
    return int(_END.unpack_from(tail, pos)[5])


def _reason(error: Exception) -> str:
    return str(error).rstrip(".")[:200] or type(error).__name__


def _page(line: bytes) -> ListedPage | None:
    try:
        listed = json.loads(line)
        return ListedPage(
            str(listed["url"]), str(listed["ts"]), well_formed(str(listed.get("title") or ""))
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
