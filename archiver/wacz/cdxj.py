"""The index of a package: CDXJ lines in compressed blocks, and the index of the blocks (ZipNum)."""

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from isal import igzip

from archiver.model.capture import Capture
from archiver.urls.surt import surt

LINES_A_BLOCK = 1024
INDEX = "index.cdx.gz"
META = '!meta 0 {"format": "cdxj-gzip-1.0", "filename": "' + INDEX + '"}\n'
REVISIT = "warc/revisit"


def cdxj_line(capture: Capture, *, filename: str, offset: int) -> str:
    """The line of a capture whose record stands at a byte of a file of the package."""
    fields = {
        "url": capture.url,
        "mime": REVISIT if capture.is_revisit else capture.media_type or "unk",
        "status": str(capture.status),
        "digest": capture.payload_digest,
        "length": str(capture.location.length),
        "offset": str(offset),
        "filename": filename,
    }
    return f"{surt(capture.url)} {capture.timestamp} {json.dumps(fields)}\n"


@dataclass(frozen=True, slots=True)
class IndexBlock:
    """A gzip member of sorted lines, and the line that leads to it."""

    packed: bytes
    pointer: str


def index_blocks(lines: Iterable[bytes]) -> Iterator[IndexBlock]:
    """Compress sorted lines, so many at a time."""
    rest, offset = iter(lines), 0
    while some := list(islice(rest, LINES_A_BLOCK)):
        packed = igzip.compress(b"".join(some), mtime=0)
        block = {
            "offset": offset,
            "length": len(packed),
            "digest": f"sha256:{hashlib.sha256(packed).hexdigest()}",
            "filename": INDEX,
        }
        key = " ".join(some[0].decode().split(" ", 2)[:2])
        yield IndexBlock(packed, f"{key} {json.dumps(block)}\n")
        offset += len(packed)
