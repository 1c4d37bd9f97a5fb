"""Writes records, each a gzip member of its own (ISO 28500 Annex D)."""

import hashlib
from collections.abc import Iterator
from typing import Protocol

from isal import igzip_lib, isal_zlib

from archiver.warc.build import iso_date
from archiver.warc.digest import label
from archiver.warc.record import Record


class Sink(Protocol):
    """Whatever bytes can be written to."""

    def write(self, data: bytes, /) -> int:
        """Write all of ``data``; return how many bytes that were."""


PIECE = 1 << 20
LEVEL = 2
_GZIP = 31
_END = b"\r\n\r\n"


def write_record(record: Record, sink: Sink) -> int:
    """Write one record; return the bytes it takes, compressed. Reads ``record.body`` twice."""
    digest, length = hashlib.sha256(record.prefix), len(record.prefix)
    for piece in _body(record):
        digest.update(piece)
        length += len(piece)
    head = _head(record, label(digest), length)
    if length <= PIECE:
        return sink.write(_small(head, record))
    return _write_large(head, record, sink)


def _small(head: bytes, record: Record) -> bytes:
    whole = b"".join((head, record.prefix, *_body(record), _END))
    return igzip_lib.compress(whole, LEVEL, igzip_lib.COMP_GZIP)


def _write_large(head: bytes, record: Record, sink: Sink) -> int:
    packer = isal_zlib.compressobj(level=LEVEL, wbits=_GZIP)
    written = sink.write(packer.compress(head + record.prefix))
    for piece in _body(record):
        written += sink.write(packer.compress(piece))
    return written + sink.write(packer.compress(_END) + packer.flush())


def _body(record: Record) -> Iterator[bytes]:
    if record.body is None:
        return
    record.body.seek(0)
    while piece := record.body.read(PIECE):
        yield piece


def _head(record: Record, block_digest: str, length: int) -> bytes:
    fields = [
        ("WARC-Type", record.type.value),
        ("WARC-Record-ID", f"<{record.id}>"),
        ("WARC-Date", iso_date(record.date)),
    ]
    if record.target_uri:
        fields.append(("WARC-Target-URI", record.target_uri))
    fields += [
        *record.fields,
        ("WARC-Block-Digest", block_digest),
        ("Content-Type", record.content_type),
        ("Content-Length", str(length)),
    ]
    lines = "".join([f"{name}: {value}\r\n" for name, value in fields if value])
    return f"WARC/1.1\r\n{lines}\r\n".encode()
