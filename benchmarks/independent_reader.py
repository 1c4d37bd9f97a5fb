"""Reads archive files with the field's own libraries: warcio, and fastwarc for Zstandard."""

import hashlib
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from fastwarc.stream_io import ZstdReader
from warcio.archiveiterator import ArchiveIterator
from warcio.bufferedreaders import ChunkedDataReader

SUFFIXES = (".warc", ".warc.gz", ".warc.zst", ".arc", ".arc.gz", ".wacz")
_HTTP = re.compile("https?://", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Theirs:
    """A capture as another reader sees it.

    Attributes:
        url: as it is written.
        timestamp: 14 digits.
        digest: of its payload, content codings left on; empty for a revisit.
    """

    url: str
    timestamp: str
    digest: str


def read_captures(path: Path) -> Iterator[Theirs]:
    """Every capture of a file, as far as the reader gets."""
    try:
        with path.open("rb") as file:
            if path.name.lower().endswith(".wacz"):
                yield from _package(file)
            elif path.name.lower().endswith(".zst"):
                yield from _records(ZstdReader(file))
            else:
                yield from _records(file)
    except Exception as error:  # noqa: BLE001 - whatever stops it, what it read counts
        print(f"the other reader stops at {path.name}: {error!r}")


def _package(file: IO[bytes]) -> Iterator[Theirs]:
    with zipfile.ZipFile(file) as package:
        for name in package.namelist():
            if name.endswith(".wacz"):
                with package.open(name) as inner:
                    yield from _package(inner)
            elif name.endswith((".warc", ".warc.gz")):
                with package.open(name) as inner:
                    yield from _records(inner)


def _records(file: Any) -> Iterator[Theirs]:
    for record in ArchiveIterator(file, arc2warc=True):
        headers = record.rec_headers
        url = headers.get_header("WARC-Target-URI") or ""
        if record.rec_type not in ("response", "revisit", "resource") or not _HTTP.match(url):
            continue
        digits = "".join(filter(str.isdigit, headers.get_header("WARC-Date") or ""))[:14]
        digest = "" if record.rec_type == "revisit" else _digest(record)
        yield Theirs(url, digits, digest)


def _digest(record: Any) -> str:
    stream = record.raw_stream
    coding = record.http_headers and record.http_headers.get_header("transfer-encoding")
    if coding and "chunked" in coding.lower():
        stream = ChunkedDataReader(stream)
    digest = hashlib.sha256()
    while piece := stream.read(1 << 16):
        digest.update(piece)
    return f"sha256:{digest.hexdigest()}"
