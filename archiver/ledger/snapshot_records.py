"""Reads back what the record that closes a snapshot says."""

from archiver.errors import StoreError
from archiver.model.capture import Location
from archiver.store.segments import SegmentStore
from archiver.warc.entry_record import SnapshotRecord, read_entry_record


def read_snapshot_record(store: SegmentStore, place: Location) -> SnapshotRecord:
    """What a snapshot's record says; blocking.

    Raises:
        StoreError: it can't be read, or is another.
    """
    entry_record = read_entry_record(store.read(place).block.read())
    if entry_record is None or entry_record.snapshot is None:
        raise StoreError("The record of a snapshot is not what it must be. Run `archiver verify`.")
    return entry_record.snapshot
