"""Deletions, as deletion records and tombstones describe them."""

from dataclasses import dataclass
from datetime import UTC, datetime

from archiver.model.capture import HashUrl, RecordId, Timestamp


@dataclass(frozen=True, slots=True)
class DeletedSnapshot:
    """Deleted snapshot of an entry.

    Attributes:
        timestamp: of the snapshot.
        page: record id of its page, which distinguishes it from a snapshot of the same second that
            is added later.
    """

    timestamp: Timestamp
    page: RecordId


@dataclass(frozen=True, slots=True)
class RemainingArticle:
    """Article of a remaining snapshot whose records refer to that of a deleted snapshot.

    Attributes:
        timestamp: of the remaining snapshot.
        article: record id of its own conversion record; empty if it has none.
    """

    timestamp: Timestamp
    article: RecordId


@dataclass(frozen=True, slots=True)
class DeletedEntry:
    """Deleted parts of one entry.

    Attributes:
        hash_url: of the entry; its URL is not stored.
        generation: how often the entry was deleted before, if it is deleted; None if only some of
            its snapshots are. A later generation of the entry is not affected.
        snapshots: deleted snapshots.
        articles: articles of remaining snapshots.
    """

    hash_url: HashUrl
    generation: int | None
    snapshots: tuple[DeletedSnapshot, ...] = ()
    articles: tuple[RemainingArticle, ...] = ()


@dataclass(frozen=True, slots=True)
class Deletion:
    """Content of a deletion record: deleted items, or the restoration of earlier deletions.

    Attributes:
        id: random number of 62 bits, by which restorations refer to it.
        at: when it happened (aware, UTC).
        gone: deleted entries and snapshots.
        captures: record ids of captures that no other snapshot needs.
        restores: ids of the deletions that are undone.
    """

    id: int
    at: datetime
    gone: tuple[DeletedEntry, ...] = ()
    captures: tuple[RecordId, ...] = ()
    restores: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class BinnedItem:
    """A deleted entry or snapshot that can be restored.

    Attributes:
        deletion: number of the deletion (a time in milliseconds).
        hash_url, url, title: of the entry.
        timestamp: of the snapshot; empty for an entry with all its snapshots.
        snapshots: number of deleted snapshots.
    """

    deletion: int
    hash_url: HashUrl
    url: str
    title: str
    timestamp: str
    snapshots: int

    @property
    def deleted_at(self) -> datetime:
        """The time of the deletion (UTC)."""
        return datetime.fromtimestamp(self.deletion / 1000, UTC)
