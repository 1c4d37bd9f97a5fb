"""Payloads, articles and snapshot records read from segments."""

from collections.abc import Callable
from dataclasses import dataclass

from archiver.db import captures
from archiver.db.engine import AsyncConnection
from archiver.errors import ArchiverError, StoreError
from archiver.http.content_coding import decode
from archiver.http.media_types import declared_media_type, sniff
from archiver.model.capture import Capture, Location, Timestamp
from archiver.pages.article_text import read_article_document, to_text
from archiver.warc.metadata_records import SnapshotRecord, read_entry_record
from archiver.warc.reader import StoredRecord, open_payload
from archiver.warc.segments import SegmentStore


def article_text(read: Callable[[Location], StoredRecord], article: Location) -> str:
    """The text of an article that is stored; blocking.

    Args:
        read: gives the record at a place, as ``SegmentStore.read`` does.
        article: the place of the article's record.

    Raises:
        StoreError: its record can't be read.
    """
    return to_text(article_html(read, article))


def article_html(read: Callable[[Location], StoredRecord], article: Location) -> str:
    """The article itself, likewise."""
    return read_article_document(read(article).block.read())[1]


OK = 200
MOST_HOPS = 5


@dataclass(frozen=True, slots=True)
class Payload:
    """A payload, decoded, and what it is to be treated as."""

    media_type: str
    content: bytes


async def holder_at(conn: AsyncConnection, url: str, moment: Timestamp) -> Capture | None:
    """The record that has what a URL showed about a moment; None where that was no 200."""
    return await holder_from(conn, await captures.nearest(conn, url, moment), moment)


async def holder_from(
    conn: AsyncConnection, found: Capture | None, moment: Timestamp
) -> Capture | None:
    """The same, from the capture that is nearest to that moment."""
    for _ in range(MOST_HOPS):
        if found is None or not found.redirect_to:
            break
        found = await captures.nearest(conn, found.redirect_to, moment)
    if found is None or found.status != OK:
        return None
    return await captures.holder_of(conn, found.payload_digest) if found.is_revisit else found


def read_payload(store: SegmentStore, holder: Capture, most: int) -> Payload | None:
    """The payload of a record; None where it is longer than ``most`` bytes, or can't be read."""
    if holder.payload_length > most:
        return None
    try:
        head, pieces = open_payload(store.read(holder.location))
        content = b"".join(decode(pieces, head.combined("content-encoding"), limit=most))
    except ArchiverError:
        return None
    return Payload(sniff(declared_media_type(head.headers), content[:1024]), content)


def read_snapshot_record(store: SegmentStore, place: Location) -> SnapshotRecord:
    """What a snapshot's record says; blocking.

    Raises:
        StoreError: it can't be read, or is another.
    """
    entry_record = read_entry_record(store.read(place).block.read())
    if entry_record is None or entry_record.snapshot is None:
        raise StoreError("The record of a snapshot is not what it must be. Run `archiver verify`.")
    return entry_record.snapshot
