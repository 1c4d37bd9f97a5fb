"""HTTP inside records: the head and the payload of a response's block."""

from collections.abc import Iterator

from archiver.errors import InvalidRecord
from archiver.warc.reader import StoredRecord
from archiver.wire.chunked import dechunk
from archiver.wire.head import ResponseHead, is_end_of_head, parse_head
from archiver.wire.response_reader import MOST_HEAD_BYTES


def open_payload(record: StoredRecord) -> tuple[ResponseHead, Iterator[bytes]]:
    """The head of a response or revisit record, and the pieces of its payload.

    The transfer coding is removed, content codings are left on; a revisit's is empty.

    Raises:
        InvalidRecord: the block is not an HTTP response.
    """
    head = parse_head(read_head(record))
    pieces = record.block.pieces()
    return head, dechunk(pieces) if head.is_chunked else pieces


def read_head(record: StoredRecord) -> bytes:
    """The head of a record's block, with the empty line that closes it.

    Raises:
        InvalidRecord: it does not end.
    """
    head = bytearray()
    while True:
        line = record.block.line(MOST_HEAD_BYTES)
        head += line
        if is_end_of_head(line):
            return bytes(head)
        if len(head) >= MOST_HEAD_BYTES:
            raise InvalidRecord(
                f"The HTTP head of the record at byte {record.offset:,} does not end."
            )
