"""Readers of archive files with warcio and fastwarc, up to the first error of each."""

import gzip
import hashlib
import re
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import IO, Any

from fastwarc.stream_io import ZstdReader
from fastwarc.warc import ArchiveIterator as FastIterator
from fastwarc.warc import WarcRecordType
from warcio.archiveiterator import ArchiveIterator
from warcio.bufferedreaders import ChunkedDataReader

SUFFIXES = (".warc", ".warc.gz", ".warc.zst", ".arc", ".arc.gz", ".wacz")
_HEAD_END = re.compile(rb"\r?\n\r?\n")
_CHUNKED = re.compile(rb"(?im)^transfer-encoding:.*chunked")
_HTTP = re.compile("https?://", re.IGNORECASE)
_CAPTURES = ("response", "revisit", "resource")
_FAST_TYPES = WarcRecordType.response | WarcRecordType.revisit | WarcRecordType.resource


@dataclass(slots=True)
class Theirs:
    """A capture as other readers see it.

    Attributes:
        url: URL as written in the record.
        timestamp: 14 digits.
        digests: digests of its payload, including content codings; empty for a revisit.
    """

    url: str
    timestamp: str
    digests: set[str] = field(default_factory=set)


def read_captures(path: Path) -> list[Theirs]:
    """Return every capture of a file that either reader finds, in the order of the first."""
    captures: dict[tuple[str, str, int], Theirs] = {}
    for read in (_with_warcio, _with_fastwarc):
        counts: dict[tuple[str, str], int] = {}
        try:
            with path.open("rb") as file:
                for each in _captures(file, path.name.lower(), read):
                    key = each.url, each.timestamp
                    counts[key] = counts.get(key, 0) + 1
                    captures.setdefault((*key, counts[key]), each).digests.update(each.digests)
        except Exception as error:  # noqa: BLE001 - records before any error count
            print(f"{read.__name__} stops at {path.name}: {str(error).strip()[:80]!r}")
    return [*captures.values()]


def _captures(
    file: IO[bytes], name: str, read: Callable[[Any], Iterator[Theirs]]
) -> Iterator[Theirs]:
    if name.endswith(".wacz"):
        with zipfile.ZipFile(file) as package:
            for member in package.namelist():
                if member.endswith(SUFFIXES):
                    with package.open(member) as inner:
                        yield from _captures(inner, member.lower(), read)
    elif name.endswith(".zst"):
        yield from read(ZstdReader(file))
    else:
        yield from read(file)


def _with_warcio(file: Any) -> Iterator[Theirs]:
    for record in ArchiveIterator(file, arc2warc=True, no_record_parse=True):
        headers = record.rec_headers
        url = headers.get_header("WARC-Target-URI") or ""
        if record.rec_type not in _CAPTURES or not _HTTP.match(url):
            continue
        theirs = Theirs(url, _digits(headers.get_header("WARC-Date") or ""))
        if record.rec_type != "revisit":
            theirs.digests.add(_payload_digest(record.raw_stream.read()))
        yield theirs


def _with_fastwarc(file: Any) -> Iterator[Theirs]:
    data = file.read()
    if data.startswith(b"\x1f\x8b"):
        data = gzip.decompress(data)
    if not data.startswith(b"WARC/"):
        return
    for record in FastIterator(BytesIO(data), record_types=_FAST_TYPES, parse_http=False):
        url = record.headers.get("WARC-Target-URI", "").strip("<>")
        if not _HTTP.match(url):
            continue
        theirs = Theirs(url, _digits(record.headers.get("WARC-Date", "")))
        if record.record_type != WarcRecordType.revisit:
            theirs.digests.add(_payload_digest(record.reader.read()))
        yield theirs


def _digits(date: str) -> str:
    """Return 14 digits; a date of less precision becomes its first second."""
    digits = "".join(filter(str.isdigit, date))[:14]
    return digits + "00000101000000"[len(digits) :]


def _payload_digest(block: bytes) -> str:
    if not block.startswith(b"HTTP/"):
        return _sha256(block)
    end = _HEAD_END.search(block)
    if not end:
        return _sha256(b"")
    body = block[end.end() :]
    if not _CHUNKED.search(block[: end.start()]):
        return _sha256(body)
    return _sha256(ChunkedDataReader(BytesIO(body)).read())


def _sha256(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"
