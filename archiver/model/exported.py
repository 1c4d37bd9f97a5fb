"""An entry as an export tells of it."""

from dataclasses import dataclass

from archiver.model.entry import Entry, Snapshot


@dataclass(frozen=True, slots=True)
class Exported:
    """One entry, and its snapshots, newest first."""

    entry: Entry
    snapshots: tuple[Snapshot, ...] = ()
