"""What a capture shows: its payload, wherever in the segments that lies, redirects followed."""

from dataclasses import dataclass

from archiver.errors import ArchiverError
from archiver.index import captures, originals
from archiver.index.database import AsyncConnection
from archiver.model.capture import Capture, Timestamp
from archiver.store.segments import SegmentStore
from archiver.warc.http_block import open_payload
from archiver.wire.coding import decode
from archiver.wire.media_type import declared_media_type
from archiver.wire.sniff import sniff

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
    return await originals.holder_of(conn, found.payload_digest) if found.is_revisit else found


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
