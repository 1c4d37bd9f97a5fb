"""Reading of payloads, articles and snapshot records from segments."""

from collections.abc import Callable
from dataclasses import dataclass

from archiver.db import captures
from archiver.db.engine import AsyncConnection
from archiver.db.snapshots import SnapshotRow
from archiver.errors import ArchiverError, InvalidRecord, StoreError, StoreUnavailable
from archiver.http.content_coding import decode
from archiver.http.media_types import declared_media_type, sniff
from archiver.model.capture import Capture, Location, Timestamp
from archiver.model.entry import Snapshot
from archiver.model.page import UNREAD
from archiver.model.rendering import QualitySignals
from archiver.pages.article_text import read_article_document, to_text
from archiver.warc.metadata_records import SnapshotRecord, read_entry_record
from archiver.warc.reader import StoredRecord, open_payload
from archiver.warc.segments import SegmentStore


def article_text(read: Callable[[Location], StoredRecord], article: Location) -> str:
    """Return the text of a stored article.

    Blocking.

    Args:
        read: function that returns the record at a location, such as ``SegmentStore.read``.
        article: location of the article's record.

    Raises:
        StoreError: the article's record can't be read.
    """
    return to_text(article_html(read, article))


def article_html(read: Callable[[Location], StoredRecord], article: Location) -> str:
    """Return the HTML of a stored article; see ``article_text``."""
    return read_article_document(read(article).block.read())[1]


OK = 200
MAX_HOPS = 5


@dataclass(frozen=True, slots=True)
class Payload:
    """Decoded payload and its effective media type."""

    media_type: str
    content: bytes


async def holder_at(conn: AsyncConnection, url: str, moment: Timestamp) -> Capture | None:
    """Return the capture that stores the payload of a URL at a time.

    Redirects are followed, and a revisit is resolved to the original capture. Returns None unless
    the status is 200.
    """
    return await holder_from(conn, await captures.nearest(conn, url, moment), moment)


async def holder_from(
    conn: AsyncConnection, capture: Capture | None, moment: Timestamp
) -> Capture | None:
    """Return the capture that stores the payload of ``capture``, resolved as in ``holder_at``."""
    for _ in range(MAX_HOPS):
        if capture is None or not capture.redirect_to:
            break
        capture = await captures.nearest(conn, capture.redirect_to, moment)
    if capture is None or capture.status != OK:
        return None
    return (
        await captures.original_or_deleted(conn, capture.payload_digest)
        if capture.is_revisit
        else capture
    )


def read_payload(store: SegmentStore, holder: Capture, most: int) -> Payload | None:
    """Read a payload; None if it is longer than ``most`` bytes or unreadable."""
    if holder.payload_length > most:
        return None
    try:
        head, pieces = open_payload(store.read(holder.location))
        content = b"".join(decode(pieces, head.combined("content-encoding"), limit=most))
    except ArchiverError:
        return None
    return Payload(sniff(declared_media_type(head.headers), content), content)


def record_from_index(snapshot: Snapshot) -> SnapshotRecord:
    """Return a snapshot record built from the index, to replace an unreadable record.

    The new record has no article, so that the article is extracted again.
    """
    return SnapshotRecord(
        timestamp=snapshot.timestamp,
        capture_url=snapshot.final_url,
        capture_timestamp=snapshot.capture.timestamp,
        capture_record=snapshot.capture.record_id,
        article=None,
        article_of=None,
        extractor=UNREAD,
        metadata=snapshot.metadata,
        requisites=(),
        rendering=snapshot.rendering,
        appearance=QualitySignals(limits=snapshot.limits),
    )


def snapshot_record_of(store: SegmentStore, row: SnapshotRow) -> tuple[SnapshotRecord, bool]:
    """Return a snapshot's record, or one built from the index if the record can't be read.

    Blocking.

    Returns:
        The record, and whether the stored record is damaged.

    Raises:
        StoreUnavailable: the object store can't be read now.
    """
    try:
        return read_snapshot_record(store, row.record), False
    except StoreUnavailable:
        raise
    except StoreError as error:
        return record_from_index(row.snapshot), isinstance(error, InvalidRecord)


def read_snapshot_record(store: SegmentStore, place: Location) -> SnapshotRecord:
    """Read a snapshot's record.

    Blocking.

    Raises:
        StoreError: the record can't be read, or is not a snapshot record.
    """
    entry_record = read_entry_record(store.read(place).block.read())
    if entry_record is None or entry_record.snapshot is None:
        raise StoreError("The record of a snapshot is damaged. Run `archiver verify`.")
    return entry_record.snapshot
