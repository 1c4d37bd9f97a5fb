"""An entry as an export tells of it."""

from archiver.model.entry import Entry, Snapshot
from archiver.values import frozen


@frozen
class Exported:
    """One entry, and its snapshots, newest first."""

    entry: Entry
    snapshots: tuple[Snapshot, ...] = ()
